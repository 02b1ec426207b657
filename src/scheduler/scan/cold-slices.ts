/**
 * Rows of the cluster by their age, a slice after the other: the first rows leave before the last ones are read, and no more
 * keys are held than those of a slice.
 */
import { compileKeySample } from '../../clickhouse/read/compile-scan.ts'
import type { ColdSlice } from '../../clickhouse/read/compiled-scan.ts'
import type { OrderBound } from '../../executor/order/order-bound.ts'
import { prefixedTexts } from '../../json/prefixed-texts.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { faultsTold } from '../cold/cold-view.ts'
import { boundsOf, type ColdRun, compileCold } from './cold-scan.ts'

/** Rows of the first slice, about; each has twice as many as the one before, and none has more than most. */
const [firstRows, mostRows] = [1000, 65_536]

/** Newest first; no slices where all rows are asked for at once, which need not be all that there are. */
export async function coldSlices(run: ColdRun): Promise<readonly ColdSlice[]> {
  const { plan, snapshot, pool } = run
  const { cold, transaction } = snapshot
  const whole: ColdSlice = { after: plan.after, from: undefined }
  const isByAge = plan.sort.length === 0 && compileCold(run)?.result.limit === undefined
  if (!cold || !isByAge) return [whole]
  const sample = compileKeySample(plan, boundsOf(plan, cold, transaction))
  await pool.admitted()
  for await (const part of faultsTold(cold.reader.texts(sample, pool.ending))) {
    for (const text of prefixedTexts(Buffer.from(part))) {
      const [[count], keys] = JSON.parse(text) as readonly [[string], readonly string[]]
      return slicesOf(Number(count), keys, plan.after)
    }
  }
  return [whole]
}

/** @param keys of some rows, the newest first */
function slicesOf(count: number, keys: readonly string[], newest: RowKey | undefined): ColdSlice[] {
  const slices: ColdSlice[] = []
  let after = newest
  const rowsOfKey = count / Math.max(1, keys.length)
  let rows = firstRows
  for (let at = rows / rowsOfKey; at < keys.length; at += rows / rowsOfKey) {
    const from = rowKeyOf(BigInt(keys[Math.floor(at)]!))
    // Versions of a record have one key.
    if (!after || compareRowKeys(from, after) < 0) slices.push({ after, from })
    after = from
    rows = Math.min(mostRows, 2 * rows)
  }
  return [...slices, { after, from: undefined }]
}

/** What no row of later slices comes before; undefined where there are none. */
export function boundAfter({ from }: ColdSlice): OrderBound | undefined {
  if (!from) return undefined
  return { kind: 'age', newest: rowKeyOf(numberOf(from) - 1n) }
}

/** What is before none of what two bounds are of. */
export function earlierBound(
  one: OrderBound | undefined,
  other: OrderBound | undefined,
): OrderBound | undefined {
  if (!one || !other) return one ?? other
  if (one.kind !== 'age' || other.kind !== 'age') return { kind: 'any' }
  return compareRowKeys(one.newest, other.newest) > 0 ? one : other
}

function numberOf({ transaction, index }: RowKey): bigint {
  return BigInt(transaction) * 65_536n + BigInt(index)
}

function rowKeyOf(key: bigint): RowKey {
  return { transaction: Number(key >> 16n), index: Number(key & 0xffffn) }
}
