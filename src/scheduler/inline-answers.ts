/**
 * Answers that take no waiting, made within the call that asks for them: one record by its id, what was
 * answered before and has not changed, and whatever is small. All that is not answered here is run by tasks,
 * which go on from what was found out about it.
 */
import { isTurnLimit, limitTurn } from '../json/turn-limit.ts'
import type { GivenQuery } from '../parser/given-query.ts'
import type { PlannedQuery } from '../planner/plan-query.ts'
import type { CopiedIds } from '../storage/backup/copy-records.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import { RowCache } from '../storage/row/row-cache.ts'
import type { Written } from '../storage/write/record-writer.ts'
import type { QueryLimits } from './admission/query-limits.ts'
import type { QueryOwner } from './admission/running-query.ts'
import { idOf, isDirect, lookUp } from './answer/direct-look-up.ts'
import { type InlineAnswer, type InlineQuery, scanInline } from './answer/inline-scan.ts'
import { AnswerCache } from './answer-cache.ts'
import type { InsertedRows } from './insert/inserts.ts'
import type { QueryRunner } from './query-runner.ts'
import { splitWithoutKnown } from './scan/answer-from-metadata.ts'
import { AuditLog } from './scan/audit-log.ts'
import type { SplitInputs } from './scan/scan-rows.ts'
import type { QuerySnapshot } from './scan/snapshot.ts'
import type { QueryPool } from './thread/query-pool.ts'

export interface InlineAnswersOptions {
  readonly reads: TaskReads
  readonly pool: QueryPool
  /** Is told of what took long nevertheless. */
  readonly runner: QueryRunner
  readonly limits: QueryLimits
}

export interface AskedInline extends InlineQuery {
  /** See `PlannedQuery`. */
  readonly family: PlannedQuery['family']
  readonly text: GivenQuery
  readonly owner: QueryOwner | undefined
  readonly transaction: number
  /** Whether that is the newest transaction. */
  readonly isNewest: boolean
}

/** A snapshot, and what there is to read of it for a query; its parts are as those of `PlanRun`. */
export interface SplitSnapshot {
  readonly snapshot: QuerySnapshot
  readonly split?: SplitInputs
}

/** How often a query is run by tasks unseen after one like it turned out to have long values. */
const unseen = 15

export class InlineAnswers {
  readonly kept: AnswerCache
  readonly #rows: RowCache
  readonly #options: InlineAnswersOptions
  /** Families of plans that had long values, and how many of them are not tried. */
  readonly #long = new WeakMap<PlannedQuery['family'], number>()

  constructor(options: InlineAnswersOptions) {
    this.kept = new AnswerCache(options.limits.keptAnswersBytes)
    this.#rows = new RowCache(options.limits.rowCacheBytes / 2)
    this.#options = options
  }

  /** Must be called before the next question: what is kept of these objects and rows is as it was before. */
  /** What another data directory has written has come here. */
  noteCopy(written: Written, ids: CopiedIds): void {
    this.kept.noteWrite(written.objects, written.transaction)
    for (const [object, id] of ids) this.#rows.forget(object, id)
  }

  noteWrite({ written, rows, objectNumbers }: InsertedRows): void {
    this.kept.noteWrite(written.objects, written.transaction)
    for (const [i, id] of rows.ids.entries()) {
      this.#rows.forget(objectNumbers[rows.objectOf[i]!]!, id)
    }
    for (const { row, commentOn } of rows.controls) {
      // A comment has an id of its own, and changes another record.
      if (commentOn !== undefined) {
        this.#rows.forget(objectNumbers[rows.objectOf[row]!]!, commentOn)
      }
    }
  }

  /**
   * The answer; or the snapshot to go on from, which then is the caller's to release. A query that fails here is not
   * answered: tasks may do in parts what failed, go round what is damaged, or come to the same fault.
   *
   * @param newSnapshot of the query's transaction
   */
  answer(asked: AskedInline, newSnapshot: () => QuerySnapshot): InlineAnswer | SplitSnapshot {
    const { physical, family, isNewest, transaction } = asked
    if (isNewest && isDirect(physical)) {
      const from = { reads: this.#options.reads, rows: this.#rows }
      const found = this.#attempt(family, () => lookUp(physical, idOf(physical), transaction, from))
      if (found) return found
    }
    const snapshot = newSnapshot()
    if (snapshot.cold) return { snapshot }
    const isTried = physical.semiJoinSets.length === 0 && !this.#isTakenForLong(family)
    if (!isTried) return { snapshot }
    return this.#attempt(family, () => this.#scan(asked, snapshot)) ?? { snapshot }
  }

  #scan(asked: AskedInline, snapshot: QuerySnapshot): InlineAnswer | SplitSnapshot {
    const { pool, runner, limits } = this.#options
    const { physical, text, owner } = asked
    const started = performance.now()
    const audit = new AuditLog(false)
    const split = splitWithoutKnown({
      name: 'query',
      plan: physical.plan,
      semiJoinSets: [],
      snapshot,
      pool,
      audit,
    })
    const answer = scanInline(asked, { snapshot, split, pool, budgetBytes: limits.memory.perQuery })
    if (!answer) return { snapshot, split }
    if ('ranges' in answer) return { snapshot, split: answer }
    snapshot.release()
    const { rowsRead, rows } = answer
    runner.noteTime(
      { text, owner, physical },
      { workerMs: 0, rowsRead, rowsSent: rows.rowCount },
      performance.now() - started,
    )
    return answer
  }

  /** Undefined where the work failed, or came to more than a turn may do. */
  #attempt<Result>(family: PlannedQuery['family'], work: () => Result): Result | undefined {
    try {
      return this.#options.pool.workers === 0 ? work() : limitTurn(work)
    } catch (thrown) {
      if (isTurnLimit(thrown)) this.#long.set(family, unseen)
      return undefined
    }
  }

  #isTakenForLong(family: PlannedQuery['family']): boolean {
    const left = this.#long.get(family) ?? 0
    if (left > 0) this.#long.set(family, left - 1)
    return left > 0
  }
}
