/** `assay clickhouse verify`: whether ClickHouse has just what the data directory has. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ClickHouseCluster } from '../../clickhouse/cluster.ts'
import { readExportState, targetOf, writeExportState } from '../../clickhouse/export-state.ts'
import { prepareTables } from '../../clickhouse/schema.ts'
import { ServiceTable } from '../../clickhouse/service-table.ts'
import { type VerifiedDifference, verifyExport } from '../../clickhouse/verify.ts'
import type { ConfigFlags } from '../../config.ts'
import { AssayError, toAssayError } from '../../error.ts'
import { lockDirectory } from '../../storage/directory-lock.ts'
import { openRecords } from '../../storage/environment.ts'
import { formatTransaction } from '../../type/transaction.ts'
import { counted } from '../counted.ts'
import { type ExportTarget, readTarget, say, withCluster } from './open-cluster.ts'

export interface VerifyFlags extends ConfigFlags {
  readonly repair?: true
  readonly takeOver?: true
}

const exitCodes = { same: 0, different: 1, uncompared: 2 } as const

export async function runVerifyExport(flags: VerifyFlags): Promise<void> {
  process.exitCode = exitCodes.uncompared
  const target = readTarget(flags)
  const { directory, settings } = target
  if (!existsSync(join(directory, 'records', 'data.mdb'))) {
    throw new AssayError('COMMAND_INVALID', `there are no records in ${directory}`, {
      hint: 'name the data directory of a service with --data-dir',
    })
  }
  const lock = flags.repair && (await lockOf(directory))
  try {
    const isSame = await withCluster(settings, (cluster) => verify(cluster, target, flags))
    process.exitCode = isSame ? exitCodes.same : exitCodes.different
  } finally {
    await lock?.release()
  }
}

function lockOf(directory: string) {
  return lockDirectory(directory).catch((thrown: unknown) => {
    throw new AssayError('COMMAND_INVALID', toAssayError(thrown).message, {
      hint: 'stop the service first; without --repair it may run',
      cause: thrown,
    })
  })
}

/** Whether all is the same at the end. */
async function verify(
  cluster: ClickHouseCluster,
  target: ExportTarget,
  { repair, takeOver }: VerifyFlags,
): Promise<boolean> {
  if (repair) await prepareTables(cluster, {}, () => undefined)
  const through = await knownThrough(cluster, target, repair === true && takeOver === true)
  const records = openRecords(target.directory, { readOnly: true })
  try {
    const options = { through, isRepairing: repair === true, onRange: tellRange }
    const { rows, ranges, differences } = await verifyExport(records, cluster, options)
    const all = `${counted(rows, 'row version')} up to transaction ${formatTransaction(through)} in ${counted(ranges, 'range')}`
    if (differences === 0) {
      say(`${all}: ClickHouse has just these.`)
      return true
    }
    say(`${all}: ${counted(differences, 'difference')}.`)
    if (!repair) {
      say('"assay clickhouse verify --repair" sends what differs again.')
      return false
    }
    const again = await verifyExport(records, cluster, { ...options, isRepairing: false })
    say(again.differences === 0 ? 'All is repaired.' : 'Some of it still differs.')
    return again.differences === 0
  } finally {
    await records.root.close()
  }
}

/** Up to where all should have arrived. */
async function knownThrough(
  cluster: ClickHouseCluster,
  { directory, settings }: ExportTarget,
  isTakingOver: boolean,
): Promise<number> {
  const target = targetOf(settings)
  const known = readExportState(directory, target)
  const owner = await new ServiceTable(cluster, '', '').owner()
  if (known && (owner === undefined || owner === known.service)) {
    if (known.isEmptied) return known.through
    throw new AssayError(
      'COMMAND_INVALID',
      `all is being sent anew to ${settings.database}: let the service finish that first`,
    )
  }
  if (owner !== undefined && !known) {
    const through = await new ServiceTable(cluster, owner, '').exported()
    if (isTakingOver) writeExportState(directory, target, { service: owner, through })
    if (isTakingOver) return through
  }
  throw new AssayError(
    'COMMAND_INVALID',
    known
      ? `the database ${settings.database} belongs to another service (${owner})`
      : `nothing was exported from ${directory} to ${settings.database}, as far as its clickhouse.json tells`,
    { hint: 'if that file was lost, --repair --take-over goes on with the database' },
  )
}

function tellRange(through: number, found: readonly VerifiedDifference[]): void {
  for (const { object, from, here, there, areReplicasEqual, isEvicted, repaired } of found) {
    const range = `transactions after ${formatTransaction(from)} up to ${formatTransaction(through)}`
    const what =
      here.rows === there.rows
        ? `${counted(here.rows, 'row version')} not the same`
        : `${counted(here.rows, 'row version')} here, ${count(there.rows)} in ClickHouse`
    const replicas = areReplicasEqual ? '' : '; replicas differ'
    const done = repaired
      ? `; ${count(repaired.deleted)} deleted and ${count(repaired.sent)} sent`
      : ''
    const alone = isEvicted ? '; ClickHouse alone has the bodies, so they cannot be sent again' : ''
    say(`object ${object}, ${range}: ${what}${replicas}${done}${alone}`)
  }
}

function count(number: number): string {
  return number.toLocaleString('en')
}
