/** Read transactions that nobody has ended, which keep LMDB from using pages again that are free. */
import { setTimeout as wait } from 'node:timers/promises'
import { closeSegments, openRecords, openSegments } from '../../src/storage/environment.ts'
import { hasReaderBefore } from '../../src/storage/maintenance/trim-files.ts'

const patienceMs = 2000
const lookAgainMs = 5

/** Throws if something is still read of a data directory that is open, though nobody asks anything. */
export async function expectNoReads(directory: string): Promise<void> {
  const records = openRecords(directory, { readOnly: true })
  const segments = openSegments(directory, { readOnly: true })
  const roots = [records.root, segments.root, segments.columnsRoot]
  try {
    const until = performance.now() + patienceMs
    for (const root of roots) {
      root.resetReadTxn()
      // A thread ends its reads when it comes to its event loop.
      while (hasReaderBefore(Number.POSITIVE_INFINITY, root)) {
        if (performance.now() > until) throw new Error(`reads were not ended: ${root.readerList()}`)
        await wait(lookAgainMs)
      }
    }
  } finally {
    await records.root.close()
    await closeSegments(segments)
  }
}
