/**
 * Parses and checks the bodies of write requests, and makes columns of rows that were written in small
 * ones: the work of inserts that is too long for the main thread.
 */
import { workerData } from 'node:worker_threads'
import { toAssayError } from '../src/error.ts'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import { ByteWriter } from '../src/json/byte-writer.ts'
import { openRecords } from '../src/storage/environment.ts'
import { giveWay } from '../src/storage/give-way.ts'
import { sealRows } from '../src/storage/maintenance/seal-rows.ts'
import { findMasked } from '../src/storage/prepare/find-masked.ts'
import { namedObjects } from '../src/storage/prepare/mask-body.ts'
import { MemtableBuilder } from '../src/storage/prepare/memtable.ts'
import {
  type IngestOutcome,
  type IngestTask,
  maskBytes,
  type PreparedRequests,
  type PrepareTask,
  prepareTogether,
  type SealedRows,
  type SealTask,
  type UnpreparedRequest,
  workForMasker,
} from '../src/storage/prepare/prepare.ts'
import { SharedRoom } from '../src/storage/shared-room.ts'
import { openWhenAble } from './open-when-able.ts'
import { lowerThreadPriority, niceness } from './thread-priority.ts'

const { directory, runningTasks } = workerData as {
  readonly directory: string
  readonly runningTasks: Int32Array
}
const records = openWhenAble(() => openRecords(directory, { readOnly: true }))
const memtables = new MemtableBuilder()
/** Most bodies have about as many bytes: new memory for each would cost as much as filling it. */
let out = new ByteWriter(0)
let blocks = new ByteWriter(0)
const keptBytes = 32 * 2 ** 20
lowerThreadPriority(niceness.inserts)
giveWay(runningTasks)

export default function ingest(task: IngestTask): IngestOutcome {
  try {
    if (task.kind === 'find masked') {
      return findMasked(task.body, task.object, task.masking, task.mostExamples)
    }
    if (task.kind === 'mask') return { bytes: maskBytes(task) }
    if (task.kind === 'objects') return { objects: namedObjects(task.body) }
    if (task.kind === 'seal') return seal(task)
    return task.kind === 'prepare' ? prepare(task) : workForMasker(task)
  } catch (thrown) {
    return { error: toAssayError(thrown).toWire() }
  } finally {
    releaseWhenIdle()
  }
}

function seal(task: SealTask): SealedRows {
  const memory = sealRows(records(), task)
  return { memory, isGiven: memory !== undefined && memory === task.memory }
}

/** The rows are in shared memory, which the writer then reads in place. */
function prepare({ requests, memory }: PrepareTask): PreparedRequests {
  try {
    const { rows, errors, attachments } = prepareTogether(requests, out, blocks)
    const room = roomBehind(requests)
    return {
      rows: { ...rows, bytes: room.copy(rows.bytes), blockBytes: room.copy(rows.blockBytes) },
      memtables: memtables.make(rows, memory),
      errors,
      attachments,
    }
  } finally {
    if (out.bytes.length > keptBytes) out = new ByteWriter(0)
    if (blocks.bytes.length > keptBytes) blocks = new ByteWriter(0)
  }
}

/** Where the body of one request lies in shared memory, what is behind it is for its rows. */
function roomBehind(requests: readonly UnpreparedRequest[]): SharedRoom {
  const { buffer, byteOffset, length } = requests[0]!.body
  const isRoom = requests.length === 1 && buffer instanceof SharedArrayBuffer
  return isRoom ? new SharedRoom(buffer, byteOffset + length) : new SharedRoom()
}
