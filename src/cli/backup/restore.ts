/** `assay restore`: a data directory from a backup. */
import { resolve } from 'node:path'
import { SingleBar } from 'cli-progress'
import { parseMoment } from '../../backup/moment.ts'
import { restoreBackup } from '../../backup/restore-backup.ts'
import { AssayError } from '../../error.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { counted } from '../counted.ts'
import { openStore } from './open-store.ts'
import { say } from './take.ts'

export interface RestoreFlags {
  readonly dataDir?: string
  readonly to?: string
}

export async function runRestore(place: string, { dataDir, to }: RestoreFlags): Promise<void> {
  if (dataDir === undefined) {
    throw new AssayError('COMMAND_INVALID', 'no folder to restore to; give one with --data-dir')
  }
  const moment = to === undefined ? 'last' : parseMoment(to)
  const store = await openStore(place, 'read')
  const directory = resolve(dataDir)
  let bar: SingleBar | undefined
  const onProgress = (done: number, total: number) => {
    if (!process.stderr.isTTY) return
    bar ??= startBar(total)
    bar.update(done)
  }
  const restored = await restoreBackup(store, { directory, moment, onProgress }).finally(() => {
    bar?.stop()
  })
  const { from, rows, objects, transactions, transaction, files, missing, hasSecrets } = restored
  say(
    `${directory} has what ${from.path} of ${store.name} tells up to transaction ` +
      `${formatTransaction(transaction)}: ${counted(rows, 'row version')} of ${counted(objects, 'object')} ` +
      `in ${counted(transactions, 'transaction')}, and ${counted(files, 'attachment')}.\n` +
      'Each row was read and checked. The service makes segments of them when it runs.',
  )
  if (!hasSecrets) {
    say(
      'The backup has no secrets: start the service with ASSAY_BOOTSTRAP_KEY, make keys and passwords ' +
        'anew, and write secrets of users again.',
    )
  }
  if (missing.length === 0) return
  process.exitCode = 1
  say(
    `${counted(missing.length, 'object has', 'objects have')} fewer row versions than the log tells of:`,
  )
  for (const { object, logged, found } of missing.slice(0, 20)) {
    say(
      `  the object with the number ${object} has ${found.toLocaleString('en')} of ${counted(logged, 'row version')}`,
    )
  }
}

function startBar(total: number): SingleBar {
  const format = 'rows {bar} {percentage}% | {eta_formatted} left'
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true })
  bar.start(Math.max(1, total), 0)
  return bar
}
