/** Pairs the rows of a first object with those of others that have the same key. */
import { type BoundExpression, hiddenField } from '../../binder/bound.ts'
import { assert } from '../../error.ts'
import type { RelationStage } from '../../planner/physical-plan.ts'
import { isObject, type Value } from '../../type/value.ts'
import { valueReader } from '../../vector/vector.ts'
import { gatherRows } from '../column/gather-vector.ts'
import { columnOf } from '../column/relation-column.ts'
import { noRow } from '../column/row-choice.ts'
import { ValueCodes } from '../column/value-codes.ts'
import { vectorOf } from '../column/wire-values.ts'
import { compile } from '../expression/compile.ts'
import type { RowList } from '../order/row-list.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { checkLimit, maximumComparedRows } from '../thread/memory-limit.ts'
import type { Relation, RelationField } from './relation.ts'
import type { StageContext } from './relation-stage.ts'

type CompareStage = Extract<RelationStage, { kind: 'compare' }>

/** Places of rows in the input; -1 where there is none. */
interface Pair {
  readonly first: number
  readonly other: number
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
  const readerOf = (expression: BoundExpression) =>
    valueReader(vectorOf(reader.evaluate(compile(expression, evaluation))))
  const [keyAt, scoresAt, metricsAt] = [readerOf(key), readerOf(scores), readerOf(metrics)]
  const keys = Array.from({ length: rowCount }, (_, row) => keyAt(row))
  const pairs = pairRows(rows, keys, objects)

  const of = (side: keyof Pair, value: (row: number) => Value) => (pair: Pair) =>
    pair[side] < 0 ? null : value(pair[side])
  const field = (name: string, value: (pair: Pair) => Value): RelationField => {
    checkCancelled()
    return { name, values: columnOf(pairs.map(value)) }
  }
  const shown = (pair: Pair) => (pair.first < 0 ? pair.other : pair.first)
  return {
    rowCount: pairs.length,
    rows: gatherRows(rows, Int32Array.from(pairs, shown)),
    compared: partnersOf(rows, pairs),
    groupColumns: [],
    fields: [
      field('comparison_key', (pair) => keys[shown(pair)]!),
      field(
        'experiment_id',
        of('first', (row) => reader.objectOf(rows.object[row]!).id),
      ),
      field('scores', of('first', scoresAt)),
      field('metrics', of('first', metricsAt)),
      field(hiddenField.comparedScores, of('other', scoresAt)),
      field(hiddenField.comparedMetrics, of('other', metricsAt)),
      field('score_differences', (pair) => differences(pair, scoresAt)),
      field('metric_differences', (pair) => differences(pair, metricsAt)),
    ],
  }
}

/** Rows come newest first. A null is the key of no other row. */
function pairRows(rows: RowList, keys: readonly Value[], objects: readonly number[]): Pair[] {
  const codes = new ValueCodes()
  const codeOf = keys.map((key) => (key === null ? -1 : codes.codeOf(key)))
  /** By object, by code: the rows from the oldest on. */
  const lists = new Map(objects.map((object) => [object, new Map<number, number[]>()]))
  const ranks = new Int32Array(codeOf.length).fill(-1)
  // The first row of a key is its oldest, so that later ones change no pairs.
  for (let row = codeOf.length - 1; row >= 0; row--) {
    const byCode = lists.get(rows.object[row]!)
    const code = codeOf[row]!
    if (code < 0 || !byCode) continue
    const list = byCode.get(code) ?? []
    byCode.set(code, list)
    ranks[row] = list.push(row) - 1
  }
  const [first, ...others] = objects
  const pairs: Pair[] = []
  for (const [row, rank] of ranks.entries()) {
    const code = codeOf[row]!
    if (rows.object[row] !== first) {
      const isPaired = rank >= 0 && lists.get(first!)!.get(code)?.[rank] !== undefined
      if (!isPaired) pairs.push({ first: -1, other: row })
      continue
    }
    const partners = others.flatMap((object) => lists.get(object)!.get(code)?.[rank] ?? [])
    if (partners.length === 0) pairs.push({ first: row, other: -1 })
    for (const other of partners) pairs.push({ first: row, other })
  }
  return pairs
}

function partnersOf(rows: RowList, pairs: readonly Pair[]): RowList {
  const partners = gatherRows(
    rows,
    Int32Array.from(pairs, ({ other }) => Math.max(0, other)),
  )
  return {
    ...partners,
    object: partners.object.map((object, i) => (pairs[i]!.other < 0 ? noRow : object)),
  }
}

/** By name, the other one's less the first one's. */
function differences({ first, other }: Pair, at: (row: number) => Value): Value {
  if (first < 0 || other < 0) return null
  const [base, compared] = [at(first), at(other)]
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
