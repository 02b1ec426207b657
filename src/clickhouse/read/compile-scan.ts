/** Compiles what of a plan's scan the nodes do: for now, which versions of which objects are seen. */
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { CompiledScan, CompileScan, ScanParameters } from './compiled-scan.ts'

/** What comes back of a row version, as `cold-rows.ts` reads it. */
export const coldColumns =
  'object, pagination_key, version, transaction, flags, previous, toUnixTimestamp64Micro(created), body'

export const compileScan: CompileScan = (plan, bounds): CompiledScan => {
  const { database, exportedThrough, transaction, after } = bounds
  const [current, past] = objectsOf(plan)
  const parameters: Record<string, ScanParameters[string]> = { exportedThrough }
  const seen: string[] = []
  if (current.length > 0) {
    parameters.objects = current
    parameters.seenAt = transaction
    seen.push('object IN {objects:Array(UInt32)} AND by > {seenAt:UInt64} AND NOT deleted')
  }
  if (past.length > 0) {
    parameters.histories = past
    seen.push('object IN {histories:Array(UInt32)}')
  }
  const conditions = [
    `(${seen.map((each) => `(${each})`).join(' OR ')})`,
    // A row's key may have an earlier transaction than the row shows.
    'version < ({exportedThrough:UInt64} + 1) * 65536',
  ]
  if (after) {
    parameters.after = keyNumber(after)
    conditions.push('pagination_key < {after:UInt64}')
  }
  const sql = `SELECT ${coldColumns} FROM ${database}.records WHERE ${conditions.join(' AND ')}`
  return { sql, parameters, level: 'none', result: { kind: 'rows', limit: undefined } }
}

/** Of which the version that is seen is read, and of which all are. */
function objectsOf({ objects }: PhysicalPlan): [current: number[], past: number[]] {
  const [current, past]: [number[], number[]] = [[], []]
  for (const { number, isHistory } of objects) (isHistory ? past : current).push(number)
  return [current, past]
}

/** As the columns have it; a text, as a number has no room for it. */
function keyNumber({ transaction, index }: RowKey): string {
  return String(BigInt(transaction) * 65_536n + BigInt(index))
}
