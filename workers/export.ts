/** The thread that exports to ClickHouse: one per data directory, and it stands back behind all others. */
import { availableParallelism } from 'node:os'
import { workerData } from 'node:worker_threads'
import { EncodeThreads } from '../src/clickhouse/encode-threads.ts'
import type { ExportStatus, ExportStep } from '../src/clickhouse/export-step.ts'
import { Exporter } from '../src/clickhouse/exporter.ts'
import type { ClickHouseSettings } from '../src/clickhouse/settings.ts'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import { openRecords } from '../src/storage/environment.ts'
import { openWhenAble } from './open-when-able.ts'
import { lowerThreadPriority, niceness } from './thread-priority.ts'

const { directory, settings, isClosing } = workerData as {
  readonly directory: string
  readonly settings: ClickHouseSettings
  /** One number in shared memory, which is 1 once whatever is under way is to end. */
  readonly isClosing: Int32Array
}
/** That encode what is much: more than nodes take as fast. */
const mostThreads = 2
const control = new AbortController()
const opened = openWhenAble(() => {
  const records = openRecords(directory, { readOnly: true })
  const threads = new EncodeThreads(directory, Math.min(mostThreads, availableParallelism()))
  return new Exporter(records, settings, threads, control.signal)
})
const closingEveryMs = 50
setInterval(() => {
  if (Atomics.load(isClosing, 0) === 1) control.abort()
}, closingEveryMs).unref()
lowerThreadPriority(niceness.copies)

export default async function runExport(step: ExportStep): Promise<ExportStatus> {
  try {
    return await opened().step(step)
  } finally {
    releaseWhenIdle()
  }
}

/** To be called before the thread ends: threads of its own must not be in the middle of something then. */
export async function close(): Promise<void> {
  await opened().close()
}
