/** `assay clickhouse restore`: a data directory from what was exported. */
import type { ClickHouseCluster } from '../../clickhouse/cluster.ts'
import { restoreExport } from '../../clickhouse/restore.ts'
import { ServiceTable } from '../../clickhouse/service-table.ts'
import type { ConfigFlags } from '../../config.ts'
import { AssayError } from '../../error.ts'
import type { RestoredCounts } from '../../storage/backup/restore-records.ts'
import { writeFormat } from '../../storage/directory/data-format.ts'
import { emptyFolder, requireEmpty } from '../../storage/directory/empty-folder.ts'
import { lockDirectory } from '../../storage/directory-lock.ts'
import { makeFolder } from '../../storage/durable-file.ts'
import { openRecords } from '../../storage/environment.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { counted } from '../counted.ts'
import { readTarget, say, withCluster } from './open-cluster.ts'

export type ClickHouseRestoreFlags = ConfigFlags

export async function runRestoreExport(flags: ClickHouseRestoreFlags): Promise<void> {
  const { settings, directory } = readTarget(flags)
  requireEmpty(directory, 'name a folder that is empty or not there with --data-dir')
  await withCluster(settings, async (cluster) => {
    const owner = await new ServiceTable(cluster, '', '').owner()
    const through = owner ? await new ServiceTable(cluster, owner, '').exported() : 0
    if (through === 0) {
      throw new AssayError(
        'COMMAND_INVALID',
        `${settings.database} has no export that has come to an end: nothing can be restored from it`,
      )
    }
    const lock = await lockDirectory(directory)
    try {
      await makeFolder(directory)
      const { rows, objects, transactions } = await restoreInto(directory, cluster, through)
      say(
        `${directory} has what ${settings.database} had up to transaction ${formatTransaction(through)}: ` +
          `${counted(rows, 'row version')} of ${counted(objects, 'object')} in ${counted(transactions, 'transaction')}.\n` +
          'Keys, passwords, secrets and attachments are not exported: start the service with ASSAY_BOOTSTRAP_KEY, ' +
          'and let it export to another database, or drop this one first.',
      )
    } catch (thrown) {
      await emptyFolder(directory)
      throw thrown
    } finally {
      await lock.release()
    }
  })
}

/** The folder is named with its format last: until then no service takes it for a data directory. */
async function restoreInto(
  directory: string,
  cluster: ClickHouseCluster,
  through: number,
): Promise<RestoredCounts> {
  const records = openRecords(directory, { readOnly: false })
  try {
    const restored = await restoreExport(cluster, records, through, progressTeller())
    if (restored.missing.length > 0) {
      throw new AssayError(
        'STORAGE_CORRUPT',
        `${cluster.settings.database} changed while it was read`,
        { hint: 'stop the service that exports to it, and try again' },
      )
    }
    writeFormat(directory)
    return restored
  } finally {
    await records.root.close()
  }
}

/** Says how far it is, every few seconds. */
function progressTeller(): (done: number, total: number) => void {
  const everyMs = 5000
  let last = performance.now()
  return (done, total) => {
    const now = performance.now()
    if (now - last < everyMs) return
    last = now
    process.stderr.write(`${done.toLocaleString('en')} of ${total.toLocaleString('en')} rows\n`)
  }
}
