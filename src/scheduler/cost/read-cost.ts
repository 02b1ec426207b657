/** What a row costs a plan by how its values are stored, and how many groups rows make at most, without reading them. */
import { type BoundExpression, type BoundObject, fieldsOf } from '../../binder/bound.ts'
import { nullTest } from '../../executor/expression/null-test.ts'
import { leastBucket } from '../../executor/expression/time-operators.ts'
import { objectField } from '../../executor/field/derived-field.ts'
import type { TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { isStoredField } from '../../type/record.ts'
import type { Path } from '../../type/value.ts'
import type { ColumnSet, TextColumn } from '../../vector/column.ts'
import { storedRows } from '../../vector/read-column.ts'

/** What a value costs in values of one column; texts of rows, JSON and what is in no column may be of any length. */
const valueCost = { column: 1, key: 20, anyLength: Number.POSITIVE_INFINITY }

export type ColumnsInput = Extract<TaskInput, { kind: 'segment' | 'memtable' }>

/** Those that are evaluated for each row. */
export function expressionsOf({ predicates, stage, sort }: PhysicalPlan): BoundExpression[] {
  const expressions = predicates.slice()
  if (stage.kind === 'rows') {
    for (const { expression } of sort) expressions.push(expression)
    return expressions
  }
  expressions.push(...stage.keys)
  for (const { arguments: given, filter } of stage.aggregates) {
    expressions.push(...given)
    if (filter) expressions.push(filter)
  }
  return expressions
}

export interface PlanPaths {
  /** Of fields whose values are read. */
  readonly read: readonly Path[]
  /** Of those that are only asked whether they are null, which bitmaps tell whatever the values are. */
  readonly tested: readonly Path[]
}

export function pathsOf(plan: PhysicalPlan): PlanPaths {
  const tested = new Map<BoundExpression, Path>()
  for (const predicate of plan.predicates) {
    const test = nullTest(predicate)
    if (test) tested.set(predicate, test.path)
  }
  const read = fieldsOf(expressionsOf(plan).filter((expression) => !tested.has(expression)))
  return { read, tested: [...tested.values()] }
}

/** By the paths of plans, which share them where they differ in constants only. */
const costsOfSets = new WeakMap<ColumnSet, WeakMap<Path, number>>()

/** In values of one column. */
export function rowCost(set: ColumnSet, { read, tested }: PlanPaths, object: BoundObject): number {
  const cost = read.reduce((sum, path) => sum + fieldCost(set, path, object), 1)
  return tested.reduce((sum, path) => sum + testCost(set, path), cost)
}

function testCost(set: ColumnSet, path: Path): number {
  const isInColumns = isStoredField(String(path[0])) && namesInColumns(set, path) !== undefined
  return isInColumns ? valueCost.column : valueCost.anyLength
}

/** The path, if columns alone have all that is there. */
function namesInColumns(set: ColumnSet, path: Path): readonly string[] | undefined {
  if (path.some((part) => typeof part === 'number')) return undefined
  const names = path as readonly string[]
  return set.residualMayBe(names) || storedRows(set, names).length > 0 ? undefined : names
}

function fieldCost(set: ColumnSet, path: Path, object: BoundObject): number {
  if (objectField(String(path[0]), object) !== undefined) return 0
  const known = costsOfSets.get(set) ?? new WeakMap<Path, number>()
  costsOfSets.set(set, known)
  const cost = known.get(path) ?? columnCost(set, path)
  known.set(path, cost)
  return cost
}

function columnCost(set: ColumnSet, path: Path): number {
  const name = String(path[0])
  if (!isStoredField(name)) return valueCost.key
  const names = namesInColumns(set, path)
  if (!names) return valueCost.anyLength
  const { number, timestamp, boolean, text, json, objects } = set.columns(names) ?? {}
  const held = [number, timestamp, boolean, text, json, objects].filter((column) => column)
  if (held.length > 1) return valueCost.anyLength
  if (objects || json || (text && !isCoded(text))) return valueCost.anyLength
  return valueCost.column
}

function isCoded(column: TextColumn): boolean {
  return column.encoding === 'dictionary'
}

/** What is known of the rows of an input without reading them. */
export interface KnownInput {
  readonly set: ColumnSet
  readonly reads: Pick<TaskReads, 'segmentMetadata'>
}

/** How many groups the rows make at most, as far as that is known without reading them. */
export function groupsOf(
  keys: readonly BoundExpression[],
  input: ColumnsInput,
  known: KnownInput,
): number {
  return keys.reduce((most, key) => most * valuesOf(key, input, known), 1)
}

function valuesOf(key: BoundExpression, input: ColumnsInput, { set, reads }: KnownInput): number {
  if (key.type === 'boolean') return 3
  const bucket = bucketOf(key)
  if (bucket !== undefined) return timeSpan(input, set, reads) / bucket + 2
  if (key.kind !== 'field') return Number.POSITIVE_INFINITY
  const columns = set.columns(key.path as readonly string[])
  if (!columns) return 1
  const { text } = columns
  for (const type in columns) if (type !== 'text') return Number.POSITIVE_INFINITY
  if (!text) return 1
  if (text.encoding !== 'dictionary') return Number.POSITIVE_INFINITY
  return text.dictionary.offsets.length
}

/** Milliseconds between the first and the last `created` of the object's rows in a segment, at most. */
function timeSpan(input: ColumnsInput, set: ColumnSet, reads: KnownInput['reads']): number {
  if (input.kind !== 'segment') return Number.POSITIVE_INFINITY
  for (const type in set.columns(['created'])) {
    if (type !== 'timestamp') return Number.POSITIVE_INFINITY
  }
  const { objects } = reads.segmentMetadata(input.segment)
  const rows = objects.find(({ object }) => object === input.object)
  if (!rows || rows.firstCreated === null || rows.lastCreated === null) {
    return Number.POSITIVE_INFINITY
  }
  return rows.lastCreated - rows.firstCreated
}

/** What buckets of `created` last at least, in milliseconds; undefined when the expression is none of them. */
export function bucketOf(node: BoundExpression): number | undefined {
  if (node.kind !== 'call') return undefined
  const time = node.arguments.at(-1)
  if (time?.kind !== 'field' || time.path.length !== 1 || time.path[0] !== 'created')
    return undefined
  return leastBucket(node)
}
