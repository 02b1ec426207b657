/**
 * Runs a physical plan: splits it into tasks, runs them with a bounded number in flight, merges what
 * they give, and yields the result's rows as JSON in their final order.
 */
import type { EvaluationContext } from '../binder/evaluate.ts'
import { checkLimit, maximumHeldRows } from '../executor/memory-limit.ts'
import type { SortThreshold } from '../executor/prune.ts'
import { RowBuffer, type RowList, type SortedRows, sliceRows } from '../executor/row-buffer.ts'
import type { GroupsResult, RowsResult, ScanTask, TaskInput } from '../executor/task.ts'
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import { compareRowKeys, type RowKey } from '../type/transaction.ts'
import { paginationKeyAt } from '../vector/row-keys.ts'
import type { AuditLog } from './audit-log.ts'
import { inOrder, unordered } from './in-flight.ts'
import type { QueryPool } from './query-pool.ts'
import type { QuerySnapshot } from './snapshot.ts'
import {
  balance,
  bySortValue,
  clusterByAge,
  mayEnter,
  type Piece,
  type Split,
  splitScan,
} from './split.ts'

export interface RunOptions {
  readonly plan: PhysicalPlan
  readonly context: EvaluationContext
  readonly snapshot: QuerySnapshot
  readonly pool: QueryPool
  readonly separator: string
  readonly audit: AuditLog
  /** Non-zero once the query is cancelled; shared with the workers. */
  readonly cancelled: Int32Array
}

export interface RowChunk {
  readonly rowCount: number
  /** Rows as JSON with the separator between them. */
  readonly bytes: Uint8Array
  /** Pagination key of the last row; undefined for groups. */
  readonly last: RowKey | undefined
}

/** More tasks than workers, so that they end at about the same time. */
const tasksPerWorker = 4

/** Groups or rows up to which merging on the main thread is shorter than the way to a worker. */
const shortMerge = 2000

export async function* runPlan(options: RunOptions): AsyncGenerator<RowChunk> {
  const { plan } = options
  if (plan.stage.kind === 'groups') {
    yield* runGroups(options)
    return
  }
  if (plan.limit === 0 || plan.access.kind === 'empty') return
  let toSkip = plan.offset
  let wanted = plan.limit ?? Number.POSITIVE_INFINITY
  let rowBytes = 0
  const ordered = plan.sort.length === 0 ? rowsByAge(options) : rowsSorted(options)
  for await (const rows of ordered) {
    const from = Math.min(toSkip, rows.object.length)
    const to = Math.min(rows.object.length, from + wanted)
    toSkip -= from
    wanted -= to - from
    for await (const chunk of printRows(sliceRows(rows, from, to), options, rowBytes)) {
      rowBytes = chunk.bytes.length / chunk.rowCount
      yield chunk
    }
    if (wanted > 0) continue
    // Scans that were begun ahead need not end.
    Atomics.store(options.cancelled, 0, 1)
    return
  }
}

async function* runGroups(options: RunOptions): AsyncGenerator<RowChunk> {
  const { plan, context, audit, pool, separator } = options
  const inputs = scanInputs(options)
  // Without keys there is one group even when there are no rows: an empty task makes it.
  const lists = inputs.length === 0 ? [[]] : balance(inputs, taskCount(options))
  const tasks = lists.map((list) => () => runScan(list, options, 0, undefined))
  const partials: GroupsResult[] = []
  for await (const result of unordered(tasks, inFlight(options))) {
    audit.task(result.metrics)
    partials.push(result as GroupsResult)
  }
  const started = audit.now()
  const total = partials.reduce((sum, { groupCount }) => sum + groupCount, 0)
  const task = { kind: 'merge', plan, context, partials, separator } as const
  const { groupCount, chunks } = await pool.run(task, total <= shortMerge)
  audit.add('merge', started, { partials: partials.length, groups: groupCount })
  for (const { rowCount, bytes } of chunks) yield { rowCount, bytes, last: undefined }
}

/** The first rows by the sort keys, in one piece. */
async function* rowsSorted(options: RunOptions): AsyncGenerator<RowList> {
  const { plan, audit } = options
  const wanted = wantedRows(plan)
  if (wanted > shortMerge) {
    yield await orderRows(await scanRows(scanInputs(options), options, wanted), options, wanted)
    return
  }
  const buffer = new RowBuffer(plan.sort, wanted)
  const { pieces, others } = splitInputs(options)
  const [firstKey] = plan.sort
  const ordered = bySortValue(pieces, firstKey!)
  const pieceOf = new Map<TaskInput, Piece>(ordered.map((piece) => [piece.input, piece]))
  const inputs = [...others, ...ordered.map((piece) => piece.input)]
  // Small tasks: each begins with what those before it found.
  const tasks = balance(inputs, taskCount(options) * 4).map((list) => () => {
    const threshold = buffer.threshold()
    const entering = list.filter((input) => {
      const piece = pieceOf.get(input)
      return !piece || mayEnter(piece, firstKey!, threshold)
    })
    audit.add('top_k', audit.now(), { pieces: list.length, skipped: list.length - entering.length })
    return runScan(entering, options, wanted, threshold)
  })
  for await (const result of unordered(tasks, inFlight(options))) {
    audit.task(result.metrics)
    buffer.add((result as RowsResult).rows)
    buffer.cut()
  }
  yield buffer.finish()
}

/** Rows newest first, cluster by cluster; reading stops when nobody asks for more. */
async function* rowsByAge(options: RunOptions): AsyncGenerator<RowList> {
  const wanted = wantedRows(options.plan)
  const { pieces, others } = splitInputs(options)
  // Rows of the delta may be updates of records of any age.
  let waiting = await orderRows(await scanRows(others, options, wanted), options, wanted)
  const clusters = clusterByAge(pieces)
  const tasks = clusters.map((cluster) => () => {
    const inputs = cluster.map((piece) => piece.input)
    return scanRows(inputs, options, wanted)
  })
  let cluster = 0
  for await (const lists of inOrder(tasks, inFlight(options))) {
    const newer = countNewer(waiting, oldestOf(clusters[cluster++]!))
    const found = newer === 0 ? lists : [...lists, { ...sliceRows(waiting, 0, newer), keys: [] }]
    waiting = { ...sliceRows(waiting, newer, waiting.object.length), keys: [] }
    yield await orderRows(found, options, wanted)
  }
  yield waiting
}

/** Scans the inputs; each list that comes back is in the plan's order. */
async function scanRows(
  inputs: readonly TaskInput[],
  options: RunOptions,
  wanted: number,
): Promise<SortedRows[]> {
  const tasks = balance(inputs, taskCount(options)).map(
    (list) => () => runScan(list, options, wanted, undefined),
  )
  const lists: SortedRows[] = []
  for await (const result of unordered(tasks, inFlight(options))) {
    options.audit.task(result.metrics)
    lists.push((result as RowsResult).rows)
    checkLimit(countRows(lists), maximumHeldRows, 'rows in order', 'add a limit or a filter')
  }
  return lists
}

/** The first rows of all lists in the plan's order. */
async function orderRows(
  lists: readonly SortedRows[],
  { plan, pool }: RunOptions,
  wanted: number,
): Promise<SortedRows> {
  if (lists.length === 1) return lists[0]!
  const task = { kind: 'order', plan, lists, wanted } as const
  const { rows } = await pool.run(task, countRows(lists) <= shortMerge)
  return rows
}

function countRows(lists: readonly SortedRows[]): number {
  return lists.reduce((sum, list) => sum + list.object.length, 0)
}

/** How many rows from the start of the list are not older than the key. */
function countNewer(rows: RowList, key: RowKey): number {
  let count = 0
  while (count < rows.object.length && compareRowKeys(paginationKeyAt(rows, count), key) >= 0)
    count++
  return count
}

function oldestOf(cluster: readonly Piece[]): RowKey {
  return cluster.map((piece) => piece.oldest).reduce((a, b) => (compareRowKeys(a, b) < 0 ? a : b))
}

/** Chunks of about this size leave the workers. */
const chunkBytes = 1 << 20
const firstChunkRows = 16
const maximumChunkRows = 4096

/** Reads and prints rows in their order, `rowBytes` being what earlier ones took, or 0. */
async function* printRows(
  rows: RowList,
  options: RunOptions,
  rowBytes: number,
): AsyncGenerator<RowChunk> {
  const count = rows.object.length
  let known = rowBytes
  const tasks = function* () {
    for (let from = 0; from < count; ) {
      const fitting = known === 0 ? firstChunkRows : Math.ceil(chunkBytes / known)
      const to = Math.min(count, from + Math.max(1, Math.min(fitting, maximumChunkRows)))
      const part = sliceRows(rows, from, to)
      from = to
      yield () => printPart(part, options)
    }
  }
  for await (let { chunk, rest } of inOrder(tasks(), inFlight(options))) {
    known = chunk.bytes.length / chunk.rowCount
    yield chunk
    while (rest) {
      ;({ chunk, rest } = await printPart(rest, options))
      yield chunk
    }
  }
}

/** Prints as many of the rows as make one chunk. */
async function printPart(
  rows: RowList,
  { plan, context, separator, cancelled, pool, audit }: RunOptions,
): Promise<{ chunk: RowChunk; rest: RowList | undefined }> {
  const started = audit.now()
  const task = { kind: 'print', plan, context, rows, separator, cancelled } as const
  const { bytes, rowCount } = await pool.run(task)
  audit.add('print', started, { rows: rowCount, bytes: bytes.length })
  const count = rows.object.length
  return {
    chunk: { rowCount, bytes, last: paginationKeyAt(rows, rowCount - 1) },
    rest: rowCount < count ? sliceRows(rows, rowCount, count) : undefined,
  }
}

async function runScan(
  inputs: readonly TaskInput[],
  options: RunOptions,
  wanted: number,
  threshold: SortThreshold | undefined,
): Promise<GroupsResult | RowsResult> {
  const { plan, context, snapshot, pool, cancelled } = options
  const { transaction, flushedThrough } = snapshot
  const task: ScanTask = {
    kind: 'scan',
    plan,
    context,
    snapshot: { transaction, flushedThrough },
    inputs,
    wanted,
    threshold,
    cancelled,
  }
  return pool.run(task, isLookUp(plan) || inputs.length === 0)
}

function isLookUp(plan: PhysicalPlan): boolean {
  return plan.access.kind === 'look_up' && plan.access.ids.length * plan.objects.length <= 64
}

function scanInputs(options: RunOptions): TaskInput[] {
  const { pieces, others } = splitInputs(options)
  return [...others, ...pieces.map((piece) => piece.input)]
}

/** What the plan's access path reads: pieces of segments, and what has no order by age. */
function splitInputs({ plan, snapshot, audit }: RunOptions): {
  pieces: readonly Piece[]
  others: readonly TaskInput[]
} {
  const { access } = plan
  if (access.kind === 'empty') return { pieces: [], others: [] }
  if (access.kind === 'look_up') {
    const others = plan.objects.map(
      (object): TaskInput => ({ kind: 'records', object: object.number, ids: access.ids }),
    )
    audit.add('look_up', audit.now(), { ids: access.ids.length })
    return { pieces: [], others }
  }
  const started = audit.now()
  const { pieces, delta, report }: Split = splitScan(plan, snapshot)
  audit.add('prune', started, { ...report, deltas: delta.length })
  return { pieces, others: delta }
}

function wantedRows(plan: PhysicalPlan): number {
  return plan.limit === undefined ? Number.POSITIVE_INFINITY : plan.offset + plan.limit
}

function taskCount({ pool }: RunOptions): number {
  return Math.max(1, pool.workers) * tasksPerWorker
}

/** Twice the workers, so that none waits for its next task. */
function inFlight({ pool }: RunOptions): number {
  return Math.max(1, pool.workers * 2)
}
