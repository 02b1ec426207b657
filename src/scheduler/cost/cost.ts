/**
 * What work costs, in milliseconds of one thread, and so where it is done. What takes about a millisecond is done
 * within the turn on the main thread: the way to a worker and back takes two threads longer. What takes some more is one
 * task. The rest is shared by tasks, which wait in turns for the workers. Only orders of magnitude matter.
 */
import { type BoundExpression, childrenOf, fieldsOf } from '../../binder/bound.ts'
import { countRows } from '../../executor/column/row-list.ts'
import type { Relation } from '../../executor/relation/relation.ts'
import { bytesOf, givenBytes } from '../../executor/task/held-bytes.ts'
import type { FinishTask, Task, TaskInput } from '../../executor/task/task.ts'
import type { PhysicalPlan, RelationStage } from '../../planner/physical-plan.ts'
import type { TaskReads } from '../../storage/read/task-reads.ts'
import { bucketOf, expressionsOf, groupsOf, pathsOf, rowCost } from './read-cost.ts'

/** What a thread does in a millisecond. */
const perMs = {
  /** Values that lie in one column each, by compiled code: some five nanoseconds for one. */
  values: 200_000,
  /** Rows of any scan. */
  scannedRows: 8192,
  /** Rows for which expressions are evaluated one by one. */
  evaluatedRows: 1000,
  /** Groups, or rows in order. */
  merged: 2000,
  printedRows: 128,
  /** Of texts of groups that the cluster has made. */
  takenBytes: 50_000,
  /** Records that are read and parsed by themselves. */
  records: 64,
}

/** The main thread takes no longer for one piece of work: everything else would hold up all other requests. */
const inlineMs = 1

/** Up to this a second worker gives less than a second message takes. */
const oneTaskMs = 4
const oneTaskInputs = 2
export const mostTaskRows = perMs.scannedRows * oneTaskMs

/** What is merged or printed in a turn: few rows or groups may have long values. */
export const inlineBytes = 2 ** 18

/** Rows of small requests are about as many at most: then they are sealed. */
const spanRows = 4096
const unifyMs = 50

/** How many rows are printed within a turn at most. */
export const mostInlinePrinted = perMs.printedRows * inlineMs

/** How many bytes of groups of the cluster are taken in within a turn at most. */
export const mostInlineTaken = perMs.takenBytes * inlineMs

/** Milliseconds that a worker takes for the task. */
export function taskMs(task: Task): number {
  switch (task.kind) {
    case 'scan':
      return scanMs(task.inputs) / (task.share?.tasks ?? 1)
    case 'answer':
      return scanMs(task.scan.inputs)
    case 'take groups':
      return givenBytes(task) / perMs.takenBytes
    case 'finish':
      return task.input.kind === 'rows'
        ? countRows(task.input.lists) / perMs.merged
        : groupCountOf(task.input) / perMs.merged
    case 'order':
      return countRows(task.lists) / perMs.merged
    case 'print':
    case 'infer form':
      return task.relation.rowCount / perMs.printedRows
    case 'unify':
      return unifyMs
  }
}

/** Whether the plan looks up so few records that the main thread does. */
export function isLookUp(plan: PhysicalPlan): boolean {
  const { access, objects } = plan
  if (access.kind !== 'look_up' || multipliesRows(plan)) return false
  return access.ids.length * objects.length <= perMs.records * inlineMs
}

/** Whether the main thread may scan the inputs, finish the plan and print the answer. */
export function isInline(
  plan: PhysicalPlan,
  inputs: readonly TaskInput[],
  reads: Pick<TaskReads, 'openSegment' | 'openMemtable' | 'segmentMetadata'>,
): boolean {
  if (isLookUp(plan) || inputs.length === 0) return true
  if (multipliesRows(plan)) return false
  const rows = inputs.reduce((sum, input) => sum + countedRows(input), 0)
  if (rows <= perMs.records * inlineMs) return true
  if (rows > mostInlineRows(plan) || !isSimple(plan, rows)) return false
  const paths = pathsOf(plan)
  const { stage } = plan
  let values = 0
  for (const input of inputs) {
    if (input.kind !== 'segment' && input.kind !== 'memtable') return false
    const set =
      input.kind === 'segment'
        ? reads.openSegment(input.segment)
        : reads.openMemtable(input.memtable, input.memory)
    const object = plan.objects.find(({ number }) => number === input.object)!
    const rowsHere = input.to - input.from
    values += rowsHere * rowCost(set, paths, object)
    if (values > perMs.values * inlineMs) return false
    if (stage.kind === 'rows' || isShortMerge(rowsHere)) continue
    if (!isShortMerge(groupsOf(stage.keys, input, { set, reads }))) return false
  }
  return true
}

/** How many rows may be read within a turn, if each field of the plan is in a column of its own. */
export function mostInlineRows(plan: PhysicalPlan): number {
  const values = 1 + fieldsOf(expressionsOf(plan)).length
  return Math.floor((perMs.values * inlineMs) / values)
}

/** Whether one task scans the inputs, finishes the plan and prints, so that one message goes to a worker. */
export function isOneTask(plan: PhysicalPlan, inputs: readonly TaskInput[]): boolean {
  if (isLookUp(plan)) return true
  // Memtables are short and lie in memory: only their rows count.
  const counted = inputs.filter(({ kind }) => kind !== 'memtable').length
  const rows = inputs.reduce((sum, input) => sum + rowsOf(input), 0)
  return counted <= oneTaskInputs && rows <= mostTaskRows
}

/** Whether the main thread merges so many groups or sorted rows. */
export function isShortMerge(count: number): boolean {
  return count / perMs.merged <= inlineMs
}

/** Whether the main thread makes of what scans gave what the plan's further stages say. */
export function isShortFinish(plan: PhysicalPlan, input: FinishTask['input']): boolean {
  if (multipliesRows(plan)) return false
  if (input.kind === 'rows') return countRows(input.lists) <= mostInlinePrinted
  const { stage, stages } = plan
  const groups = groupCountOf(input)
  const readsRows = stage.kind === 'groups' && stage.row !== undefined && stages.length > 0
  if (readsRows ? groups > mostInlinePrinted : !isShortMerge(groups)) return false
  return bytesOf(input.partials) <= inlineBytes
}

/** @param relation rows that were made, or stored ones that are still to be read */
export function isShortPrint(relation: Relation): boolean {
  if (relation.rows !== undefined || !isShortMerge(relation.rowCount)) return false
  return bytesOf(relation) <= inlineBytes
}

function scanMs(inputs: readonly TaskInput[]): number {
  return inputs.reduce((sum, input) => {
    const isRead = input.kind === 'segment' || input.kind === 'memtable'
    return sum + rowsOf(input) / (isRead ? perMs.scannedRows : perMs.records)
  }, 0)
}

function rowsOf(input: TaskInput): number {
  switch (input.kind) {
    case 'segment':
    case 'memtable':
      return input.to - input.from
    case 'log':
    case 'history':
    case 'lent':
      return spanRows
    case 'lost':
      return input.indexes.length
    case 'records':
      return input.ids.length
  }
}

/** Rows that nobody has counted are many. */
function countedRows(input: TaskInput): number {
  return input.kind === 'segment' || input.kind === 'memtable'
    ? input.to - input.from
    : Number.POSITIVE_INFINITY
}

function groupCountOf({ partials }: Extract<FinishTask['input'], { kind: 'groups' }>): number {
  return partials.reduce((sum, { groupCount }) => sum + groupCount, 0)
}

/** Whether unpivots may make any number of rows of a few. */
function multipliesRows({ unpivots, stages }: PhysicalPlan): boolean {
  return unpivots.length > 0 || stages.some(({ kind }) => kind === 'unpivot')
}

const shortStages: ReadonlySet<RelationStage['kind']> = new Set(['filter', 'sort', 'seek', 'limit'])

/** Whether, besides reading columns, it does little with so many rows. */
function isSimple(plan: PhysicalPlan, rows: number): boolean {
  const { stage, limit = rows, offset, stages } = plan
  const printed = stage.kind === 'rows' || stage.row ? Math.min(rows, limit + offset) : 0
  if (printed > mostInlinePrinted) return false
  if (rows <= perMs.evaluatedRows * inlineMs) return true
  return (
    stages.every(({ kind }) => shortStages.has(kind)) && expressionsOf(plan).every(isVectorized)
  )
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
