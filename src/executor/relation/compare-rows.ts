/** Pairs the rows of a first object with those of others that have the same key. */
import { type BoundExpression, hiddenField } from '../../binder/bound.ts'
import { assert } from '../../error.ts'
import type { RelationStage } from '../../planner/physical-plan.ts'
import { isObject, type Value } from '../../type/value.ts'
import { grown } from '../column/grown.ts'
import { ColumnBuilder, columnReader, gatherOrNull } from '../column/relation-column.ts'
import { noRow } from '../column/row-choice.ts'
import { gatherRows, type RowList } from '../column/row-list.ts'
import { ValueCodes } from '../column/value-codes.ts'
import type { WireValues } from '../column/wire-values.ts'
import { compile } from '../expression/compile.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit, maximumComparedRows } from '../thread/memory-limit.ts'
import type { Relation } from './relation.ts'
import type { StageContext } from './relation-stage.ts'

type CompareStage = Extract<RelationStage, { kind: 'compare' }>

/** Places of rows in the input, pair by pair; -1 where there is none. */
interface Pairs {
  readonly first: Int32Array
  readonly other: Int32Array
}

/** The columns are those that `RelationStage` describes; rows come in the order of the input. */
export function compareRows(
  relation: Relation,
  { objects, key, scores, metrics }: CompareStage,
  { evaluation, read }: StageContext,
): Relation {
  const { rows, rowCount } = relation
  assert(rows, 'only stored rows are compared')
  checkLimit(rowCount, maximumComparedRows, 'traces to compare', 'filter the traces')
  const reader = read(relation)
  const keys = new ValueCodes()
  const codes = new Int32Array(rowCount)
  const keyOf = compile(key, evaluation)
  for (const { from, batch } of reader.batches()) {
    keys.encode(keyOf(batch, undefined), batch.rowCount, undefined, codes.subarray(from))
  }
  const { first, other } = pairRows(rows.object, codes, keys, objects)
  const shown = first.map((row, i) => (row < 0 ? other[i]! : row))

  const ids = first.some((row) => row >= 0) ? [reader.objectOf(objects[0]!).id] : []
  const sidesOf = (expression: BoundExpression) => {
    const column = reader.evaluate(compile(expression, evaluation))
    return {
      first: gatherOrNull(column, first),
      other: gatherOrNull(column, other),
      differences: differences(column, first, other),
    }
  }
  const [scored, measured] = [sidesOf(scores), sidesOf(metrics)]
  const fields: Readonly<Record<string, WireValues>> = {
    comparison_key: keys.toWire(shown.map((row) => codes[row]!)),
    experiment_id: {
      kind: 'coded',
      codes: first.map((row) => (row < 0 ? -1 : 0)),
      values: { kind: 'plain', values: ids },
    },
    scores: scored.first,
    metrics: measured.first,
    [hiddenField.comparedScores]: scored.other,
    [hiddenField.comparedMetrics]: measured.other,
    score_differences: scored.differences,
    metric_differences: measured.differences,
  }
  return {
    rowCount: shown.length,
    rows: gatherRows(rows, shown),
    compared: partnersOf(rows, other),
    groupColumns: [],
    fields: Object.entries(fields).map(([name, values]) => ({ name, values })),
  }
}

/**
 * Rows come newest first. Of the rows of one key, the oldest of one object goes with the oldest of another, and so on.
 * A null is the key of no other row.
 */
function pairRows(
  objectOf: Int32Array,
  codes: Int32Array,
  { count: codeCount, nullCode }: ValueCodes,
  [firstObject, ...others]: readonly number[],
): Pairs {
  const rowCount = codes.length
  const isPaired = new Uint8Array(rowCount)
  const partners = others.map((object) => {
    const queues = queueRows(objectOf, codes, object, codeCount)
    const partnerOf = new Int32Array(rowCount).fill(-1)
    // The first of a key is its oldest, so that later ones change no pairs.
    for (let row = rowCount - 1; row >= 0; row--) {
      checkAtTimes()
      const code = codes[row]!
      if (objectOf[row] !== firstObject || code === nullCode) continue
      const partner = queues.heads[code]!
      if (partner < 0) continue
      queues.heads[code] = queues.next[partner]!
      partnerOf[row] = partner
      isPaired[partner] = 1
    }
    return partnerOf
  })
  let [first, other] = [new Int32Array(rowCount), new Int32Array(rowCount)]
  let count = 0
  const add = (row: number, partner: number) => {
    first = grown(first, count + 1, 0)
    other = grown(other, count + 1, 0)
    first[count] = row
    other[count++] = partner
  }
  for (let row = 0; row < rowCount; row++) {
    checkAtTimes()
    if (objectOf[row] !== firstObject) {
      if (isPaired[row] === 0) add(-1, row)
      continue
    }
    const before = count
    for (const partnerOf of partners) if (partnerOf[row]! >= 0) add(row, partnerOf[row]!)
    if (count === before) add(row, -1)
  }
  return { first: first.slice(0, count), other: other.slice(0, count) }
}

/** By code, the oldest row of the object, and by row the next one of its code; -1 where there is none. */
function queueRows(objectOf: Int32Array, codes: Int32Array, object: number, codeCount: number) {
  const heads = new Int32Array(codeCount).fill(-1)
  const next = new Int32Array(codes.length).fill(-1)
  for (let row = 0; row < codes.length; row++) {
    checkAtTimes()
    if (objectOf[row] !== object) continue
    next[row] = heads[codes[row]!]!
    heads[codes[row]!] = row
  }
  return { heads, next }
}

function partnersOf(rows: RowList, other: Int32Array): RowList {
  const partners = gatherRows(
    rows,
    other.map((row) => Math.max(0, row)),
  )
  return {
    ...partners,
    object: partners.object.map((object, i) => (other[i]! < 0 ? noRow : object)),
  }
}

/** By name, the other one's less the first one's; null where one of the two is missing. */
function differences(column: WireValues, first: Int32Array, other: Int32Array): WireValues {
  const read = columnReader(column)
  const builder = new ColumnBuilder(first.length)
  for (let pair = 0; pair < first.length; pair++) {
    checkAtTimes()
    const [base, compared] = [first[pair]!, other[pair]!]
    builder.push(base < 0 || compared < 0 ? null : difference(read(base), read(compared)))
  }
  return builder.finish()
}

function difference(base: Value, compared: Value): Value {
  const found: Record<string, Value> = Object.create(null)
  if (!isObject(base) || !isObject(compared)) return found
  for (const name of Object.keys(base).sort()) {
    const before = base[name]
    const after = Object.hasOwn(compared, name) ? compared[name] : undefined
    if (isNumber(before) && isNumber(after)) found[name] = Number(after) - Number(before)
  }
  return found
}

function isNumber(value: Value | undefined): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
