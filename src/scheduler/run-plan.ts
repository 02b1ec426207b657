/**
 * Runs a query: the plans of its sets of traces, then its own. Scans give groups or rows; what more
 * stages make of them is one task; printing is many. Rows leave in their final order, in the form that
 * is asked for.
 */

import type { SortedRows } from '../executor/column/row-list.ts'
import type { SemiJoinSet } from '../executor/expression/semi-join-set.ts'
import { type ColumnsForm, isInferred, type RowForm } from '../executor/print/row-form.ts'
import type { Relation } from '../executor/relation/relation.ts'
import { concatenateRows, relationOfRows } from '../executor/relation/relation-rows.ts'
import { placeOfFinished, placeOfRow } from '../executor/relation/row-place.ts'
import type { AnswerResult, FinishResult, FinishTask } from '../executor/task/task.ts'
import { checkLimit, isMemoryLimit, maximumHeldRows } from '../executor/thread/memory-limit.ts'
import type { PhysicalQuery } from '../planner/physical-plan.ts'
import { isDamage, type SegmentDamage } from '../storage/segment/segment-store.ts'
import { openColumns } from './answer/answer-form.ts'
import { framed, type RowChunk } from './answer/answer-frame.ts'
import { answerAtOnce, type FirstRead, readOfTask, splitAfter } from './answer/answer-plan.ts'
import { inferByRows, planOfKinds, withKinds } from './answer/infer-types.ts'
import { printRelation } from './answer/print-relation.ts'
import { isShortFinish } from './cost/cost.ts'
import { splitWithoutKnown } from './scan/answer-from-metadata.ts'
import { finishNewest } from './scan/newest-traces.ts'
import { scanRows } from './scan/read-in-order.ts'
import { inRepeatingTraces } from './scan/repeating-traces.ts'
import { rowsOfRanges } from './scan/scan-range.ts'
import {
  type PlanRun,
  type SplitInputs,
  scanGroups,
  segmentsOf,
  splitInputs,
  wantedRows,
} from './scan/scan-rows.ts'
import { noTraces, traceSetOf, traceSetOfGroups } from './scan/semi-join-sets.ts'
import type { QuerySnapshot } from './scan/snapshot.ts'

export interface RunOptions extends Omit<PlanRun, 'name' | 'plan' | 'semiJoinSets' | 'split'> {
  /** What there is to read of the snapshot, where that is known already. */
  readonly split?: SplitInputs | undefined
  /** Gives the same snapshot without a segment that has turned out to be damaged, but with its rows. */
  readonly withoutDamaged?: ((damage: SegmentDamage) => Promise<QuerySnapshot>) | undefined
  readonly query: PhysicalQuery
  readonly form: RowForm
  /** Is told of each set of traces that was found: the page of traces that it is, if it is one. */
  readonly onSemiJoinSet?: (index: number, page: Relation | undefined) => void
  /** Is told of columns that only the data names, such as those of a pivot, before the first row. */
  readonly onMadeColumns?: (names: readonly string[]) => void
}

/** Rows up to which a limit is worth having all of them looked at before the first is printed. */
const fewRows = 10_000

export function runQuery(options: RunOptions): AsyncIterable<RowChunk> {
  const answer: Answer = { form: options.form, onMadeColumns: options.onMadeColumns }
  return framed(runWithoutDamage(options, answer), () => answer.form)
}

/** Segments that are found to be damaged while one query runs; with more of them it fails. */
const mostDamaged = 16

/** Runs the query again where a segment turns out to be damaged, from the row after those that were given on. */
async function* runWithoutDamage(given: RunOptions, answer: Answer): AsyncGenerator<RowChunk> {
  let options = given
  for (let damaged = 0; ; damaged++) {
    let rowCount = 0
    let last: RowChunk | undefined
    try {
      for await (const chunk of runRows(options, answer)) {
        rowCount += chunk.rowCount
        if (chunk.rowCount > 0) last = chunk
        yield chunk
      }
      return
    } catch (thrown) {
      const { withoutDamaged, pool } = options
      if (!isDamage(thrown) || !withoutDamaged || damaged === mostDamaged) throw thrown
      const query = last ? continued(options.query, last, rowCount) : options.query
      if (!query) throw thrown
      pool.release()
      options = { ...options, query, snapshot: await withoutDamaged(thrown), split: undefined }
    }
  }
}

/** The rows of a query after those that were given; undefined where it has to begin at the start. */
function continued(
  query: PhysicalQuery,
  { last, lastSorted }: RowChunk,
  rowCount: number,
): PhysicalQuery | undefined {
  const { plan } = query
  const isByRow = plan.stage.kind === 'rows' && plan.stages.length === 0
  if (!isByRow || plan.unpivots.length > 0 || (!last && !lastSorted)) return undefined
  const limit = plan.limit === undefined ? undefined : plan.limit - rowCount
  if (lastSorted === 'long') {
    return { ...query, plan: { ...plan, limit, offset: plan.offset + rowCount } }
  }
  const place = plan.sort.length > 0 ? { afterSorted: lastSorted } : { after: last }
  return { ...query, plan: { ...plan, ...place, limit, offset: 0 } }
}

/** The answer as far as it is known. */
interface Answer {
  form: RowForm
  readonly onMadeColumns: RunOptions['onMadeColumns']
}

async function* runRows(options: RunOptions, answer: Answer): AsyncGenerator<RowChunk> {
  const { query, onSemiJoinSet } = options
  const { split: known, ...rest } = options
  let run: PlanRun = { ...rest, name: 'query', plan: query.plan, semiJoinSets: [] }
  for (const [i, plan] of query.semiJoinSets.entries()) {
    const { set, page } = await findTraces({ ...run, name: `traces ${i}`, plan })
    onSemiJoinSet?.(i, page)
    run = { ...run, semiJoinSets: [...run.semiJoinSets, set] }
  }
  const split = known ?? splitWithoutKnown(run)
  run.pool.willRead(rowsOfRanges(split.ranges))
  run = { ...run, split }
  const read = readOfTask(run)
  if (read) {
    yield* printAnswer(run, read, answer)
    return
  }
  const { stage, stages } = query.plan
  if (stage.kind === 'rows' && stages.length === 0) yield* printScanned(run, answer)
  else yield* printFinished(await finish(run), run, answer)
}

/** The set of a plan's traces; with those of a page, where the plan makes one. */
async function findTraces(run: PlanRun): Promise<{ set: SemiJoinSet; page: Relation | undefined }> {
  const { plan, snapshot, usage, audit } = run
  if (plan.stages.length === 0 && plan.stage.kind === 'groups') {
    return { set: traceSetOfGroups(await scanGroups(run)), page: undefined }
  }
  let page: Relation | undefined
  const find = async () => {
    const narrowed = await inRepeatingTraces(run)
    if (!narrowed) return noTraces
    page = (await finish(narrowed)).relation
    return traceSetOf(page)
  }
  // Who wants to see how a query runs, is shown all of it.
  const set = await (audit.isKept ? find() : usage.of(plan, snapshot.transaction, find))
  return { set, page }
}

/** Has one task do it all, or as much as may be enough, and prints what is beyond its first chunk. */
async function* printAnswer(
  run: PlanRun,
  read: FirstRead,
  answer: Answer,
): AsyncGenerator<RowChunk> {
  const { audit, plan } = run
  const started = audit.now()
  let result: AnswerResult
  try {
    result = await answerAtOnce(run, read, answer.form)
  } catch (thrown) {
    // Sorted rows that do not fit into memory can be had in several passes.
    if (!isMemoryLimit(thrown) || plan.sort.length === 0 || plan.stages.length > 0) throw thrown
    yield* printScanned(run, answer)
    return
  }
  const { metrics, rowCount, bytes, group, place, madeColumns, rest, found } = result
  audit.task(run.name, metrics)
  if (found) {
    yield* printScanned({ ...run, split: splitAfter(read, found) }, answer)
    return
  }
  audit.add('answer', started, { rows: rowCount, bytes: bytes.length })
  if (madeColumns.length > 0) answer.onMadeColumns?.(madeColumns)
  answer.form = result.form
  if (rowCount > 0) yield { rowCount, bytes, group, ...place }
  if (!rest) return
  const rowBytes = result.rawBytes / rowCount
  if (rest.kind === 'finish') yield* printFinishedRows(rest, run, answer.form)
  else yield* printRows(rest.rows, run, answer.form, rowBytes)
}

/** Prints rows while later ones are still read. */
async function* printScanned(run: PlanRun, answer: Answer): AsyncGenerator<RowChunk> {
  const { form } = answer
  if (form.kind !== 'json' && !isInferred(form)) {
    if (wantedRows(run.plan) <= fewRows) {
      const rows = concatenateRows(await allRows(run))
      answer.form = await inferByRows(form, relationOfRows(run.plan, rows), run)
      yield* printRows(rows, run, answer.form, 0)
      return
    }
    answer.form = await inferByKinds(form, run)
  }
  let rowBytes = 0
  const onEnough = () => Atomics.store(run.cancelled, 0, 1)
  for await (const rows of scanRows(run, { areLetGo: true, onEnough })) {
    for await (const chunk of printRows(rows, run, answer.form, rowBytes)) {
      rowBytes = chunk.rawBytes / chunk.rowCount
      yield chunk
    }
  }
}

/** Has a plan of its own find the types of columns, when rows are too many to be looked at twice. */
async function inferByKinds(form: ColumnsForm, run: PlanRun): Promise<ColumnsForm> {
  const plan = planOfKinds(run.plan, openColumns(form))
  const { split: _, ...rest } = run
  const { relation } = await finish({ ...rest, name: 'types', plan })
  return withKinds(form, relation)
}

/** @param rowBytes how long rows are that were printed before; 0: not known */
async function* printRows(
  rows: SortedRows,
  run: PlanRun,
  form: RowForm,
  rowBytes: number,
): AsyncGenerator<RowChunk & { readonly rawBytes: number }> {
  const relation = relationOfRows(run.plan, rows)
  for await (const { lastRow, ...printed } of printRelation(relation, run, form, rowBytes)) {
    yield { ...printed, ...placeOfRow(run.plan, rows, lastRow) }
  }
}

async function* printFinished(
  finished: FinishResult,
  run: PlanRun,
  answer: Answer,
): AsyncGenerator<RowChunk> {
  const { relation } = finished
  if (run.plan.output.star) answer.onMadeColumns?.(relation.fields.map(({ name }) => name))
  if (answer.form.kind !== 'json') answer.form = await inferByRows(answer.form, relation, run)
  yield* printFinishedRows(finished, run, answer.form)
}

async function* printFinishedRows(
  finished: FinishResult,
  run: PlanRun,
  form: RowForm,
): AsyncGenerator<RowChunk> {
  for await (const { lastRow, ...printed } of printRelation(finished.relation, run, form, 0)) {
    yield { ...printed, ...placeOfFinished(run.plan, finished, lastRow) }
  }
}

/** Runs all of a plan but the printing. */
async function finish(run: PlanRun): Promise<FinishResult> {
  return (await finishNewest(run, finishAll)) ?? finishAll(run)
}

/** The same, reading all that the plan may need. */
async function finishAll(given: PlanRun): Promise<FinishResult> {
  const run = { ...given, split: splitInputs(given) }
  const { name, plan, context, semiJoinSets, cancelled, pool, audit } = run
  const isProfiled = audit.isKept
  const input = await scan(run)
  const started = audit.now()
  const segments = segmentsOf(run)
  const task: FinishTask = {
    kind: 'finish',
    isProfiled,
    plan,
    context,
    semiJoinSets,
    input,
    segments,
    cancelled,
  }
  const result = await pool.run(task, isShortFinish(plan, input))
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
  return { kind: 'rows', lists: await allRows(run) }
}

/** The rows of the plan's order, all at once. */
async function allRows(run: PlanRun): Promise<readonly SortedRows[]> {
  const lists: SortedRows[] = []
  let count = 0
  for await (const rows of scanRows(run)) {
    lists.push(rows)
    count += rows.object.length
    checkLimit(count, maximumHeldRows, 'rows at once', 'add a limit or a filter')
  }
  return lists
}
