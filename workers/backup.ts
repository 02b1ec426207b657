/** The thread that reads what a backup asks for. It is there once somebody makes one. */
import { workerData } from 'node:worker_threads'
import { withoutSecrets } from '../src/catalog/without-secrets.ts'
import { releaseWhenIdle } from '../src/executor/thread/idle-memory.ts'
import type { BackupAnswer, BackupTask } from '../src/storage/backup/backup-task.ts'
import { filledRows } from '../src/storage/backup/lent-cuts.ts'
import { readCatalog } from '../src/storage/backup/read-catalog.ts'
import { entryPiece, idRunPiece, idsKept } from '../src/storage/backup/read-kept.ts'
import { BackupReader } from '../src/storage/backup/read-rows.ts'
import { openRecords } from '../src/storage/environment.ts'
import { giveWay } from '../src/storage/give-way.ts'
import { readEvictedMark } from '../src/storage/read/evicted-mark.ts'
import { LentRows } from '../src/storage/row/lent-rows.ts'
import { storageError } from '../src/storage/storage-error.ts'
import { openWhenAble } from './open-when-able.ts'
import { lowerThreadPriority, niceness } from './thread-priority.ts'

const { directory, runningTasks } = workerData as {
  readonly directory: string
  readonly runningTasks: Int32Array
}
const opened = openWhenAble(() => {
  const records = openRecords(directory, { readOnly: true })
  return { records, reader: new BackupReader(records) }
})
lowerThreadPriority(niceness.copies)
giveWay(runningTasks)

export default function read(task: BackupTask): BackupAnswer {
  try {
    const { records, reader } = opened()
    switch (task.kind) {
      case 'rows':
        return { rows: reader.rows(task.range, task.from, task.bytes, task.lent) }
      case 'fill':
        return { list: filledRows(Buffer.from(task.list), LentRows.of(task.lent)) }
      case 'log':
        return { log: reader.log(task.range, task.bytes) }
      case 'state':
        return { state: reader.logState(task.transaction) }
      case 'digest':
        return { digest: reader.logDigest(task.range) }
      case 'evicted':
        records.root.resetReadTxn()
        return { evicted: readEvictedMark(records.progress) }
      case 'ids':
        return { ids: idsKept(records) }
      case 'id runs':
        return { kept: idRunPiece(records, task.runs, task.after, task.bytes) }
      case 'entries':
        return { kept: entryPiece(records, task.of, task.after, task.bytes) }
      case 'catalog': {
        const { bytes, hasSecrets } = task
        const known = new Set(task.known)
        const shown = hasSecrets ? (_: string, value: Buffer) => value : withoutSecrets
        return { catalog: readCatalog(records, { known, bytes, shown }) }
      }
    }
  } catch (thrown) {
    return { error: storageError('the records', thrown, directory).toWire() }
  } finally {
    releaseWhenIdle()
  }
}
