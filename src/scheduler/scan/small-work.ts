/**
 * What the main thread may run itself: work that takes it about a millisecond, which is less than the
 * way to a worker and back takes two threads. Everything else would hold up all other requests.
 */
import { type BoundExpression, type BoundObject, childrenOf, fieldsOf } from '../../binder/bound.ts'
import { nullTest } from '../../executor/expression/null-test.ts'
import { leastBucket } from '../../executor/expression/time-operators.ts'
import { objectField } from '../../executor/field/derived-field.ts'
import type { TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan, RelationStage } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { isStoredField } from '../../type/record.ts'
import type { Path } from '../../type/value.ts'
import type { ColumnSet, TextColumn } from '../../vector/column.ts'
import { storedRows } from '../../vector/read-column.ts'

/** Records that are looked up by id, or rows that are all known to have what is looked for. */
const fewRecords = 64

/** Of values that lie in one column each; once compiled, a query takes some five nanoseconds for one. */
const fewValues = 200_000

/** What a value costs in such values; texts of rows, JSON and what is in no column may be of any length. */
const valueCost = { column: 1, key: 20, anyLength: Number.POSITIVE_INFINITY }

/** Rows that may all be groups of their own, or are printed. */
const fewGroups = 2000
export const fewPrinted = 128

/** Rows for which expressions are evaluated one by one. */
const fewRows = 1000

/** Whether the plan reads so few records that the way to a worker would be longer. */
export function isLookUp(plan: PhysicalPlan): boolean {
  const { access, objects } = plan
  if (access.kind !== 'look_up' || multipliesRows(plan)) return false
  return access.ids.length * objects.length <= fewRecords
}

/** Whether unpivots may make any number of rows of a few. */
export function multipliesRows({ unpivots, then }: PhysicalPlan): boolean {
  return unpivots.length > 0 || then.some(({ kind }) => kind === 'unpivot')
}

/** Whether the main thread may scan the inputs, finish the plan and print the answer. */
export function isSmall(
  plan: PhysicalPlan,
  inputs: readonly TaskInput[],
  reads: Pick<TaskReads, 'openSegment' | 'openPart' | 'segmentMetadata'>,
): boolean {
  if (isLookUp(plan) || inputs.length === 0) return true
  if (multipliesRows(plan)) return false
  const rows = inputs.reduce((sum, input) => sum + rowsIn(input), 0)
  if (rows <= fewRecords) return true
  if (rows > fewValues || !isSimple(plan, rows)) return false
  if (rows > mostSmallRows(plan)) return false
  const paths = pathsOf(plan)
  let cost = 0
  for (const input of inputs) {
    if (input.kind !== 'segment' && input.kind !== 'part') return false
    const set =
      input.kind === 'segment'
        ? reads.openSegment(input.segment)
        : reads.openPart(input.part, input.memory)
    const object = plan.objects.find(({ number }) => number === input.object)!
    cost += (input.to - input.from) * rowCost(set, paths, object)
    if (cost > fewValues || !hasFewGroups(plan, input, { set, reads })) return false
  }
  return true
}

/** How many rows may be small work for the plan, if each of its fields is in a column of its own. */
export function mostSmallRows(plan: PhysicalPlan): number {
  return Math.floor(fewValues / (1 + fieldsOf(expressionsOf(plan)).length))
}

/** Rows that nobody has counted are many. */
function rowsIn(input: TaskInput): number {
  return input.kind === 'segment' || input.kind === 'part'
    ? input.to - input.from
    : Number.POSITIVE_INFINITY
}

const shortStages: ReadonlySet<RelationStage['kind']> = new Set(['filter', 'sort', 'seek', 'limit'])

/** Whether, besides reading columns, it does little with so many rows. */
function isSimple(plan: PhysicalPlan, rows: number): boolean {
  const { stage, limit = rows, offset, then } = plan
  const printed = stage.kind === 'rows' || stage.row ? Math.min(rows, limit + offset) : 0
  if (printed > fewPrinted) return false
  if (rows <= fewRows) return true
  return then.every(({ kind }) => shortStages.has(kind)) && expressionsOf(plan).every(isVectorized)
}

/** Those that may be evaluated row by row, or search texts. */
const slowKinds: ReadonlySet<BoundExpression['kind']> = new Set([
  'access',
  'call',
  'like',
  'includes',
  'match',
  'array',
  'object',
  'conditional',
])

function isVectorized(node: BoundExpression): boolean {
  if (slowKinds.has(node.kind) && bucketOf(node) === undefined) return false
  return childrenOf(node).every(isVectorized)
}

/** What buckets of `created` last at least, in milliseconds; undefined when the expression is none of them. */
function bucketOf(node: BoundExpression): number | undefined {
  if (node.kind !== 'call' || node.arguments.length !== 1) return undefined
  const [time] = node.arguments
  if (time?.kind !== 'field' || time.path.length !== 1 || time.path[0] !== 'created')
    return undefined
  return leastBucket(node.name)
}

function expressionsOf({ predicates, stage, sort }: PhysicalPlan): BoundExpression[] {
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

interface PlanPaths {
  /** Of fields whose values are read. */
  readonly read: readonly Path[]
  /** Of those that are only asked whether they are null, which bitmaps tell whatever the values are. */
  readonly tested: readonly Path[]
}

function pathsOf(plan: PhysicalPlan): PlanPaths {
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

function rowCost(set: ColumnSet, { read, tested }: PlanPaths, object: BoundObject): number {
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
interface KnownInput {
  readonly set: ColumnSet
  readonly reads: Pick<TaskReads, 'segmentMetadata'>
}

/** Whether the rows make few groups, as far as that is known without reading them. */
function hasFewGroups({ stage }: PhysicalPlan, input: ColumnsInput, known: KnownInput): boolean {
  if (stage.kind === 'rows' || input.to - input.from <= fewGroups) return true
  let most = 1
  for (const key of stage.keys) most *= valuesOf(key, input, known)
  return most <= fewGroups
}

type ColumnsInput = Extract<TaskInput, { kind: 'segment' | 'part' }>

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
