/**
 * The life of a query: it is planned, answered within the call where that takes no waiting, and else run by tasks, which
 * go on from what was found out by then.
 */
import { randomUUID } from 'node:crypto'
import { isHiddenField } from '../binder/bound.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import { resultSchema } from '../binder/schema.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { RowForm } from '../executor/print/row-form.ts'
import { explainAnalyzed, explainPhysical, indented } from '../planner/explain.ts'
import { refuseWarnings } from '../planner/lint.ts'
import type { PhysicalQuery } from '../planner/physical-plan.ts'
import type { PlannedQuery, PlanRecorder } from '../planner/plan-query.ts'
import type { CopiedIds } from '../storage/backup/copy-records.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import type { SegmentDamage } from '../storage/segment/segment-store.ts'
import type { Written } from '../storage/write/record-writer.ts'
import { formatTransaction, parseTransaction } from '../type/transaction.ts'
import { paginationKeyAt } from '../vector/row-keys.ts'
import type { QueryLimits } from './admission/query-limits.ts'
import type { RowChunk } from './answer/answer-frame.ts'
import { type AnswerProgress, cursorOf, newProgress } from './answer/answer-progress.ts'
import { InlineAnswers, type SplitSnapshot } from './inline-answers.ts'
import type { InsertedRows } from './insert/inserts.ts'
import { narrowed, type Watched, watchedOf } from './live-plan.ts'
import type { FreshRows } from './maintenance/fresh-rows.ts'
import type { Maintenance } from './maintenance/maintenance.ts'
import type { QueryPlans } from './query-plans.ts'
import type { QueryRequest, QueryResult, QuerySummary } from './query-request.ts'
import type { QueryRunner } from './query-runner.ts'
import { AuditLog } from './scan/audit-log.ts'
import { compileColdGroups } from './scan/cold-groups.ts'
import { type ColdPlan, compileCold } from './scan/cold-scan.ts'
import { historyParts, type QuerySnapshot, seenSegments } from './scan/snapshot.ts'
import { describePruning, splitScan } from './scan/split.ts'
import { SourceRights } from './source-rights.ts'
import type { QueryPool } from './thread/query-pool.ts'
import { TurnSnapshot } from './turn-snapshot.ts'

export interface QueriesOptions {
  readonly catalog: Catalog
  readonly plans: QueryPlans
  readonly runner: QueryRunner
  readonly pool: QueryPool
  readonly reads: TaskReads
  readonly fresh: FreshRows
  readonly maintenance: Maintenance
  readonly limits: QueryLimits
  /** What of a snapshot is read of the cluster; undefined: nothing ever is. */
  readonly cold?: ((snapshot: SnapshotTimes) => QuerySnapshot['cold']) | undefined
}

type SnapshotTimes = Pick<StartedQuery, 'transaction' | 'since'>

/** A query that was planned, and how far its answer has come. */
interface StartedQuery {
  readonly request: QueryRequest
  readonly planned: PlannedQuery
  /** The plan's, for the part of the rows that the request wants. */
  readonly physical: PhysicalQuery
  readonly context: EvaluationContext
  readonly form: RowForm
  /** The snapshot's. */
  readonly transaction: number
  /** What has no row of a later transaction is left out of the snapshot. */
  readonly since: number
  readonly audit: AuditLog
  readonly progress: AnswerProgress
}

type Answer = Pick<QueryResult, 'inline' | 'rows' | 'finish'>

export class Queries {
  readonly #options: QueriesOptions
  readonly #inline: InlineAnswers
  readonly #rights: SourceRights
  /** Snapshots are taken here: the last transaction that was acknowledged. */
  #lastTransaction: number

  constructor(options: QueriesOptions) {
    this.#options = options
    const { catalog, plans, runner, reads } = options
    this.#inline = new InlineAnswers(options)
    this.#rights = new SourceRights(catalog, plans, runner)
    this.#lastTransaction = reads.records.lastTransaction()
  }

  get lastTransaction(): number {
    return this.#lastTransaction
  }

  get keptStatistics() {
    return this.#inline.kept.statistics
  }

  /** What was written is in the answers to the queries that come after the call. */
  noteWrite(inserted: InsertedRows): void {
    this.#lastTransaction = Math.max(this.#lastTransaction, inserted.written.transaction)
    this.#inline.noteWrite(inserted)
  }

  /** The same of what was written elsewhere, and copied from there. */
  noteCopy(written: Written, ids: CopiedIds): void {
    this.#lastTransaction = Math.max(this.#lastTransaction, written.transaction)
    this.#inline.noteCopy(written, ids)
  }

  /** Throws what planning does. */
  query(request: QueryRequest): QueryResult {
    const audit = new AuditLog(request.auditLog === true, request.onAuditEvent)
    return this.#resultOf(this.#start(request, audit))
  }

  #start(request: QueryRequest, audit: AuditLog): StartedQuery {
    const { plans } = this.#options
    const { planned, context } = plans.plan(request, audit)
    if (request.strictLint === true) refuseWarnings(planned.warnings)
    const physical = narrowed(planned.physical, request)
    return {
      request,
      planned,
      physical,
      context,
      form: plans.formOf(request, { ...planned, physical }),
      transaction: this.#transactionAt(request.version),
      since: request.since === undefined ? 0 : parseTransaction(request.since),
      audit,
      progress: newProgress(),
    }
  }

  #resultOf(query: StartedQuery): QueryResult {
    const { schema, warnings, summary, bound } = query.planned
    return {
      schema,
      warnings,
      planSummary: summary,
      isPage: bound.limit !== undefined,
      ...this.#answerAgain(query),
    }
  }

  /** The answer that was given before, where it still holds. */
  #answerAgain(query: StartedQuery): Answer {
    const { kept } = this.#inline
    const { planned, transaction, form } = query
    const mayBeKept =
      transaction === this.#lastTransaction &&
      query.physical === planned.physical &&
      form.kind === 'json' &&
      form.separator === ',\n' &&
      !query.audit.isKept
    if (!mayBeKept) return this.#answer(query)
    const again = kept.find(planned)
    if (again) {
      const lastTransactionId = idOf(transaction)
      return inlineAnswer(again.rows, () => ({ ...again.summary, lastTransactionId }))
    }
    const answer = this.#answer(query)
    if (!kept.isAskedAgain(planned)) return answer
    const keep = (rows: RowChunk) =>
      kept.keep(planned, { transaction, rows, summary: answer.finish() })
    if (!answer.inline) return { ...answer, rows: kept.collecting(answer.rows, keep) }
    keep(answer.inline)
    return answer
  }

  #answer(query: StartedQuery): Answer {
    const { request, planned, physical, context, form, transaction, audit, progress } = query
    const finish = () => summaryOf(query)
    if (audit.isKept || form.kind !== 'json') {
      return { inline: undefined, rows: this.#run(query), finish }
    }
    const answer = this.#inline.answer(
      {
        physical,
        family: planned.family,
        context,
        form,
        text: request.query,
        owner: request.view.owner,
        transaction,
        isNewest: transaction === this.#lastTransaction,
      },
      () => this.#snapshot(query),
    )
    if ('snapshot' in answer) {
      return { inline: undefined, rows: this.#run(query, new TurnSnapshot(answer)), finish }
    }
    const { rows, rowsRead, bytesRead, madeColumns } = answer
    audit.noteBytes(bytesRead)
    progress.madeColumns = madeColumns
    addTo(progress, rows)
    request.onProgress?.({ rowsToRead: rowsRead, rowsRead, rowsSent: rows.rowCount })
    return inlineAnswer(rows, finish)
  }

  /** Has tasks run the query, once somebody takes the rows. */
  async *#run(query: StartedQuery, begun?: TurnSnapshot): AsyncGenerator<RowChunk> {
    const { request, physical, transaction, audit, progress } = query
    const { maintenance, runner } = this.#options
    const started = audit.now()
    const { snapshot, split }: SplitSnapshot = begun?.take() ?? { snapshot: this.#snapshot(query) }
    const snapshots = [snapshot]
    const withoutDamaged = async (damage: SegmentDamage) => {
      await maintenance.damaged.note(damage)
      snapshots.push(this.#snapshot(query))
      return snapshots.at(-1)!
    }
    audit.add('snapshot', started, {
      transaction: formatTransaction(transaction),
      flushedThrough: formatTransaction(maintenance.manifest.flushedThrough),
      segments: snapshot.segments.length,
      parts: snapshot.fresh.memtables.length,
      ...(snapshot.cold && {
        exportedThrough: formatTransaction(snapshot.cold.exportedThrough),
      }),
    })
    const { query: text, view, timeoutSeconds, signal, onCancelled, onProgress } = request
    const id = request.id ?? randomUUID()
    const unwatch = this.#rights.watch({ id, request, physical })
    try {
      const chunks = runner.run({
        ...query,
        id,
        owner: view.owner,
        text,
        snapshot,
        split,
        timeoutSeconds,
        signal,
        onCancelled,
        onProgress,
        withoutDamaged,
        onMadeColumns: (names) => {
          progress.madeColumns = names.filter((name) => !isHiddenField(name))
        },
        onSemiJoinSet: (_, page) => {
          if (!page?.rows || page.rowCount === 0) return
          progress.lastTrace = paginationKeyAt(page.rows, page.rowCount - 1)
        },
      })
      for await (const chunk of chunks) {
        if (chunk.rowCount > 0) addTo(progress, chunk)
        yield chunk
      }
    } finally {
      unwatch()
      for (const each of snapshots) each.release()
    }
  }

  /** What has to be looked at for the query to stay true; asks for rights, and throws its faults. */
  watch(request: QueryRequest): Watched {
    const { planned } = this.#options.plans.plan(request)
    if (request.strictLint === true) refuseWarnings(planned.warnings)
    return watchedOf(planned)
  }

  /** The plan of a query before and after the rules, how it would run, and what pruning leaves. */
  explain(request: QueryRequest): string {
    const steps: string[] = []
    const recorder: PlanRecorder = {
      now: () => 0,
      add: () => undefined,
      onLogicalPlan: (rule, plan) =>
        steps.push(`${rule === undefined ? 'logical' : `rule ${rule}`}\n${indented(plan)}`),
    }
    const { planned, context } = this.#options.plans.planAnew(request, recorder)
    const { physical } = planned
    const snapshot = this.#snapshot({ transaction: this.#transactionAt(request.version), since: 0 })
    try {
      const { report } = splitScan(physical.plan, snapshot, [], this.#options.pool)
      const pruning =
        physical.plan.access.kind === 'scan' ? `pruning\n  ${describePruning(report)}` : undefined
      return [
        ...steps,
        `physical\n${indented(explainPhysical(physical))}`,
        ...(pruning === undefined ? [] : [pruning]),
        ...clusterOf({ plan: physical.plan, context, semiJoinSets: [], snapshot }),
      ].join('\n')
    } finally {
      snapshot.release()
    }
  }

  /** Runs the query, drops its rows, and tells what each operator of its plan did. */
  async explainAnalyze(request: QueryRequest): Promise<string> {
    const started = performance.now()
    const audit = new AuditLog(true)
    const query = this.#start(request, audit)
    const { rows, finish } = this.#resultOf(query)
    for await (const _ of rows);
    const { rowCount, bytesRead } = finish()
    const milliseconds = (performance.now() - started).toFixed(3)
    return [
      `physical\n${indented(explainAnalyzed(query.physical, (plan) => audit.profile(plan)))}`,
      `total\n  ${rowCount} rows, ${bytesRead} bytes read, ${milliseconds} ms`,
    ].join('\n')
  }

  /** The snapshot that a version names, or the newest. */
  #transactionAt(version: string | undefined): number {
    if (version === undefined) return this.#lastTransaction
    const transaction = Math.min(parseTransaction(version), this.#lastTransaction)
    return this.#options.reads.during(({ records }) => records.snapshotAt(transaction))
  }

  /** Must be released: until then, its segments are kept, and the memory of its memtables. */
  #snapshot({ transaction, since }: SnapshotTimes): QuerySnapshot {
    const { maintenance, fresh: freshRows, reads } = this.#options
    const cold = this.#options.cold?.({ transaction, since })
    const { manifest, release } = maintenance.acquire()
    const exportedThrough = cold?.exportedThrough ?? 0
    const hotAfter = Math.max(since, exportedThrough)
    const fresh = freshRows.at(transaction, hotAfter)
    return {
      transaction,
      cold,
      segments: seenSegments(manifest, transaction, hotAfter),
      lost: manifest.lost,
      fresh,
      history: (object) =>
        reads.during(({ records }) => historyParts(records, object, exportedThrough)),
      release: () => {
        fresh.release()
        release()
      },
    }
  }
}

/** What the cluster is asked, as `explain` shows it. */
function clusterOf(run: ColdPlan): string[] {
  const groups = compileColdGroups(run)
  const compiled = groups ?? compileCold(run)
  if (!compiled) return []
  const { level, left, sql } = compiled
  const isLeft = left ? `, left to Assay: ${left}` : ''
  const rest = groups?.rest ? [`  rows in doubt\n    ${groups.rest.sql}`] : []
  return [[`cluster\n  level ${level}${isLeft}`, `  ${sql}`, ...rest].join('\n')]
}

function inlineAnswer(inline: RowChunk, finish: () => QuerySummary): Answer {
  return { inline, rows: onlyChunk(inline), finish }
}

async function* onlyChunk(chunk: RowChunk): AsyncGenerator<RowChunk> {
  if (chunk.rowCount > 0) yield chunk
}

function addTo(progress: AnswerProgress, { rowCount, last, lastSorted }: RowChunk): void {
  progress.rowCount += rowCount
  progress.last = last
  progress.lastSorted = lastSorted
}

function summaryOf({ request, planned, transaction, audit, progress }: StartedQuery): QuerySummary {
  const { bound, schema } = planned
  const { madeColumns, rowCount } = progress
  const cursor = cursorOf(bound, progress)
  return {
    schema: madeColumns.length === 0 ? schema : resultSchema(bound, madeColumns),
    rowCount,
    ...(cursor !== undefined && { cursor }),
    lastTransactionId: idOf(transaction),
    bytesRead: audit.bytesRead,
    ...(request.auditLog === true && { auditLog: audit.events }),
  }
}

function idOf(transaction: number): string | null {
  return transaction === 0 ? null : formatTransaction(transaction)
}
