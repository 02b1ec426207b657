/**
 * Runs a query: the plans of its sets of traces, then its own. Scans give groups or rows; what more
 * stages make of them is one task; printing is many. Rows leave as JSON in their final order.
 */
import type { SortPosition } from '../binder/bound.ts'
import { checkLimit, maximumHeldRows } from '../executor/memory-limit.ts'
import type { Relation } from '../executor/relation.ts'
import { concatenateRows, positionOfRow, relationOfRows } from '../executor/relation-rows.ts'
import type { SortedRows } from '../executor/row-buffer.ts'
import type { FinishResult, FinishTask } from '../executor/task.ts'
import type { PhysicalPlan, PhysicalQuery } from '../planner/physical-plan.ts'
import type { RowKey } from '../type/transaction.ts'
import { paginationKeyAt } from '../vector/row-keys.ts'
import { printRelation } from './print-relation.ts'
import { type PlanRun, scanGroups, scanRows, shortMerge } from './scan-rows.ts'
import { traceSetOf } from './trace-sets.ts'

export interface RunOptions extends Omit<PlanRun, 'plan' | 'traceSets'> {
  readonly query: PhysicalQuery
  readonly separator: string
  /** Is told of each set of traces: its groups, in their order. */
  readonly onTraceSet?: (index: number, groups: Relation) => void
  /** Is told of columns that only the data names, such as those of a pivot, before the first row. */
  readonly onMadeColumns?: (names: readonly string[]) => void
}

export interface RowChunk {
  readonly rowCount: number
  /** Rows as JSON with the separator between them. */
  readonly bytes: Uint8Array
  /** Pagination key of the last row; undefined unless rows come newest first. */
  readonly last: RowKey | undefined
  /**
   * Place of the last row in the order of the sort keys; undefined unless stored rows come in such
   * an order. Rows of more than one stage have it at their very end only.
   */
  readonly lastSorted: SortPosition | undefined
}

/** Stored rows up to which stages over them are run on the main thread. */
const shortStages = 100

export async function* runQuery(options: RunOptions): AsyncGenerator<RowChunk> {
  const { query, separator, onTraceSet, onMadeColumns } = options
  let run: PlanRun = { ...options, plan: query.plan, traceSets: [] }
  for (const [i, plan] of query.traceSets.entries()) {
    const { relation } = await finish({ ...run, plan })
    onTraceSet?.(i, relation)
    run = { ...run, traceSets: [...run.traceSets, traceSetOf(relation)] }
  }
  const { stage, then } = query.plan
  if (stage.kind === 'rows' && then.length === 0) yield* printScanned(run, separator)
  else yield* printFinished(run, separator, onMadeColumns)
}

/** Prints rows while later ones are still read. */
async function* printScanned(run: PlanRun, separator: string): AsyncGenerator<RowChunk> {
  const { plan } = run
  let rowBytes = 0
  const cancelScans = () => Atomics.store(run.cancelled, 0, 1)
  for await (const rows of scanRows(run, cancelScans)) {
    const relation = relationOfRows(plan, rows)
    for await (const { rowCount, bytes, lastRow } of printRelation(
      relation,
      run,
      separator,
      rowBytes,
    )) {
      rowBytes = bytes.length / rowCount
      const isSorted = plan.sort.length > 0
      yield {
        rowCount,
        bytes,
        last: isSorted ? undefined : paginationKeyAt(rows, lastRow),
        lastSorted: isSorted ? positionOfRow(plan, rows, lastRow) : undefined,
      }
    }
  }
}

async function* printFinished(
  run: PlanRun,
  separator: string,
  onMadeColumns: RunOptions['onMadeColumns'],
): AsyncGenerator<RowChunk> {
  const { relation, lastSorted } = await finish(run)
  if (run.plan.output.star) onMadeColumns?.(relation.fields.map(({ name }) => name))
  const { rows, rowCount: total } = relation
  const hasAge = rows !== undefined && isNewestFirst(run.plan)
  for await (const { rowCount, bytes, lastRow } of printRelation(relation, run, separator, 0)) {
    yield {
      rowCount,
      bytes,
      last: hasAge ? paginationKeyAt(rows, lastRow) : undefined,
      lastSorted: lastRow === total - 1 ? lastSorted : undefined,
    }
  }
}

/** Runs all of a plan but the printing. */
async function finish(run: PlanRun): Promise<FinishResult> {
  const { plan, context, traceSets, cancelled, pool, audit } = run
  const input = await scan(run)
  const started = audit.now()
  const task = { kind: 'finish', plan, context, traceSets, input, cancelled } as const
  const result = await pool.run(task, isShort(plan, input))
  audit.add('finish', started, {
    ...(input.kind === 'groups' && { partials: input.partials.length }),
    rows: result.relation.rowCount,
  })
  return result
}

async function scan(run: PlanRun): Promise<FinishTask['input']> {
  if (run.plan.stage.kind === 'groups') return scanGroups(run)
  const lists: SortedRows[] = []
  let count = 0
  for await (const rows of scanRows(run)) {
    lists.push(rows)
    count += rows.object.length
    checkLimit(count, maximumHeldRows, 'rows at once', 'add a limit or a filter')
  }
  return { kind: 'rows', rows: concatenateRows(lists) }
}

function isShort({ stage, then }: PhysicalPlan, input: FinishTask['input']): boolean {
  if (input.kind === 'rows') return input.rows.object.length <= shortStages
  const total = input.partials.reduce((sum, { groupCount }) => sum + groupCount, 0)
  const readsRows = stage.kind === 'groups' && stage.row !== undefined && then.length > 0
  return total <= (readsRows ? shortStages : shortMerge)
}

/** Whether the rows that a plan leaves come in the order of their age. */
function isNewestFirst({ stage, sort, then }: PhysicalPlan): boolean {
  let isByAge = stage.kind === 'rows' && sort.length === 0
  for (const { kind, ...rest } of then) {
    switch (kind) {
      case 'sort':
        isByAge = 'keys' in rest && rest.keys.length === 0
        break
      case 'aggregate':
      case 'pivot':
      case 'compare':
      case 'infer':
        isByAge = false
        break
      case 'filter':
      case 'unpivot':
      case 'seek':
      case 'limit':
        break
    }
  }
  return isByAge
}
