/**
 * Runs a query: the plans of its sets of traces, then its own. Scans give groups or rows; what more
 * stages make of them is one task; printing is many. Rows leave as JSON in their final order.
 */
import { checkLimit, maximumHeldRows } from '../executor/memory-limit.ts'
import type { Relation } from '../executor/relation.ts'
import { concatenateRows, relationOfRows } from '../executor/relation-rows.ts'
import type { SortedRows } from '../executor/row-buffer.ts'
import { placeOfFinished, placeOfRow, type RowPlace } from '../executor/row-place.ts'
import type { FinishResult, FinishTask } from '../executor/task.ts'
import type { PhysicalPlan, PhysicalQuery } from '../planner/physical-plan.ts'
import { withoutKnown } from './answer-from-metadata.ts'
import { answer, readsLittle } from './answer-plan.ts'
import { finishNewest } from './newest-traces.ts'
import { printRelation } from './print-relation.ts'
import { type PlanRun, scanGroups, scanRows, shortMerge, splitInputs } from './scan-rows.ts'
import { traceSetOf } from './trace-sets.ts'

export interface RunOptions extends Omit<PlanRun, 'name' | 'plan' | 'traceSets' | 'split'> {
  readonly query: PhysicalQuery
  readonly separator: string
  /** Is told of each set of traces: its groups, in their order. */
  readonly onTraceSet?: (index: number, groups: Relation) => void
  /** Is told of columns that only the data names, such as those of a pivot, before the first row. */
  readonly onMadeColumns?: (names: readonly string[]) => void
}

export interface RowChunk extends RowPlace {
  readonly rowCount: number
  /** Rows as JSON with the separator between them. */
  readonly bytes: Uint8Array
}

/** Stored rows up to which stages over them are run on the main thread. */
const shortStages = 100

export async function* runQuery(options: RunOptions): AsyncGenerator<RowChunk> {
  const { query, separator, onTraceSet, onMadeColumns } = options
  let run: PlanRun = { ...options, name: 'query', plan: query.plan, traceSets: [] }
  for (const [i, plan] of query.traceSets.entries()) {
    const { relation } = await finish(withInputs({ ...run, name: `traces ${i}`, plan }))
    onTraceSet?.(i, relation)
    run = { ...run, traceSets: [...run.traceSets, traceSetOf(relation)] }
  }
  run = withInputs(run)
  if (readsLittle(run)) {
    yield* printAnswer(run, separator, onMadeColumns)
    return
  }
  const { stage, then } = query.plan
  if (stage.kind === 'rows' && then.length === 0) yield* printScanned(run, separator)
  else yield* printFinished(await finish(run), run, separator, onMadeColumns)
}

/** Finds out what the plan reads. */
function withInputs(run: PlanRun): PlanRun {
  const split = withoutKnown(splitInputs(run), run)
  run.pool.willRead(split.pieces.reduce((sum, { input }) => sum + input.to - input.from, 0))
  return { ...run, split }
}

/** Has one task do it all, and prints what is beyond its first chunk. */
async function* printAnswer(
  run: PlanRun,
  separator: string,
  onMadeColumns: RunOptions['onMadeColumns'],
): AsyncGenerator<RowChunk> {
  const { audit } = run
  const started = audit.now()
  const { metrics, rowCount, bytes, place, madeColumns, rest } = await answer(run, separator)
  audit.task(run.name, metrics)
  audit.add('answer', started, { rows: rowCount, bytes: bytes.length })
  if (madeColumns.length > 0) onMadeColumns?.(madeColumns)
  if (rowCount > 0) yield { rowCount, bytes, ...place }
  if (!rest) return
  if (rest.kind === 'finish') yield* printFinished(rest, run, separator, undefined)
  else yield* printRows(rest.rows, run, separator, bytes.length / rowCount)
}

/** Prints rows while later ones are still read. */
async function* printScanned(run: PlanRun, separator: string): AsyncGenerator<RowChunk> {
  let rowBytes = 0
  const cancelScans = () => Atomics.store(run.cancelled, 0, 1)
  for await (const rows of scanRows(run, cancelScans)) {
    for await (const chunk of printRows(rows, run, separator, rowBytes)) {
      rowBytes = chunk.bytes.length / chunk.rowCount
      yield chunk
    }
  }
}

/** @param rowBytes how long rows are that were printed before; 0: not known */
async function* printRows(
  rows: SortedRows,
  run: PlanRun,
  separator: string,
  rowBytes: number,
): AsyncGenerator<RowChunk> {
  const relation = relationOfRows(run.plan, rows)
  for await (const printed of printRelation(relation, run, separator, rowBytes)) {
    const { rowCount, bytes, lastRow } = printed
    yield { rowCount, bytes, ...placeOfRow(run.plan, rows, lastRow) }
  }
}

async function* printFinished(
  finished: FinishResult,
  run: PlanRun,
  separator: string,
  onMadeColumns: RunOptions['onMadeColumns'],
): AsyncGenerator<RowChunk> {
  const { relation } = finished
  if (run.plan.output.star) onMadeColumns?.(relation.fields.map(({ name }) => name))
  for await (const printed of printRelation(relation, run, separator, 0)) {
    const { rowCount, bytes, lastRow } = printed
    yield { rowCount, bytes, ...placeOfFinished(run.plan, finished, lastRow) }
  }
}

/** Runs all of a plan but the printing. */
async function finish(run: PlanRun): Promise<FinishResult> {
  return (await finishNewest(run, finishAll)) ?? finishAll(run)
}

/** The same, reading all that the plan may need. */
async function finishAll(given: PlanRun): Promise<FinishResult> {
  const run = { ...given, split: splitInputs(given) }
  const { name, plan, context, traceSets, cancelled, pool, audit } = run
  const isProfiled = audit.isKept
  const input = await scan(run)
  const started = audit.now()
  const task = { kind: 'finish', isProfiled, plan, context, traceSets, input, cancelled } as const
  const result = await pool.run(task, isShort(plan, input))
  for (const metrics of result.operators ?? []) audit.profile(name).add(metrics)
  audit.add('finish', started, {
    ...(input.kind === 'groups' && { partials: input.partials.length }),
    rows: result.relation.rowCount,
  })
  return result
}

async function scan(run: PlanRun): Promise<FinishTask['input']> {
  if (run.plan.stage.kind === 'groups') {
    const scanned = await scanGroups(run)
    const { known } = splitInputs(run)
    return known ? { ...scanned, partials: [...scanned.partials, known] } : scanned
  }
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
