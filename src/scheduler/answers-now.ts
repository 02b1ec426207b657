/**
 * Answers that take no waiting: what is kept of the same query, one record by its id, and whatever is
 * small. They are made within one turn of the event loop, so they are in no queue, and nobody sees them
 * run; all that is not answered here goes the general way.
 */
import { isTurnLimit, limitTurn } from '../json/turn-limit.ts'
import type { PlannedQuery } from '../planner/plan-query.ts'
import type { Template } from '../planner/plan-template.ts'
import type { TaskReads } from '../storage/read/task-reads.ts'
import { KeptRows } from '../storage/row/kept-rows.ts'
import { isDamage } from '../storage/segment/segment-store.ts'
import type { QueryLimits } from './admission/query-limits.ts'
import { answerHere } from './answer/answer-here.ts'
import { type AnswerNow, idLiteral, idOf, isDirect, lookUp } from './answer/direct-look-up.ts'
import type { InsertedRows } from './insert/inserts.ts'
import { KeptAnswers, repeated } from './kept-answers.ts'
import type { QueryPlans, RunnablePlan } from './query-plans.ts'
import type { QueryRequest } from './query-request.ts'
import type { QueryRunner } from './query-runner.ts'
import type { QuerySnapshot } from './scan/snapshot.ts'
import type { QueryPool } from './thread/query-pool.ts'

export interface AnswersNowOptions {
  readonly plans: QueryPlans
  readonly reads: TaskReads
  readonly pool: QueryPool
  /** Is told of what took long nevertheless. */
  readonly runner: QueryRunner
  readonly limits: QueryLimits
}

/** To find out that a query is not small costs most of what a small one does, and a literal may change it. */
const unseen = 15

/** A query with no options but what decides about its plan. */
export type PlainQuery = Pick<QueryRequest, 'query' | 'useColumnstore' | 'view'>

export class AnswersNow {
  readonly kept: KeptAnswers
  readonly #rows: KeptRows
  readonly #options: AnswersNowOptions
  /** Families of plans that turned out not to be small, and how many of them are taken for it unseen. */
  readonly #large = new WeakMap<PlannedQuery['family'], number>()

  readonly #ids = new WeakMap<Template<PlannedQuery>, { readonly literal: number | undefined }>()

  constructor(options: AnswersNowOptions) {
    this.kept = new KeptAnswers(options.limits.keptAnswersBytes)
    this.#rows = new KeptRows(options.limits.rowCacheBytes / 2)
    this.#options = options
  }

  /** Must be called before the next question: what is kept of these objects and rows is as it was before. */
  noteWrite({ written, rows, objectNumbers }: InsertedRows): void {
    this.kept.noteWrite(written.objects, written.transaction)
    for (const [i, id] of rows.ids.entries()) {
      this.#rows.forget(objectNumbers[rows.objectOf[i]!]!, id)
    }
  }

  /**
   * Undefined where the general way has to answer. The bytes are valid until the next call. Throws the
   * query's faults.
   *
   * @param transaction the newest one that is seen
   * @param snapshot of that transaction; it is released here
   */
  answer(
    request: PlainQuery,
    transaction: number,
    snapshot: () => QuerySnapshot,
  ): AnswerNow | undefined {
    if (this.#options.pool.workers === 0) return this.#answer(request, transaction, snapshot)
    try {
      return limitTurn(() => this.#answer(request, transaction, snapshot))
    } catch (thrown) {
      if (isTurnLimit(thrown)) return undefined
      throw thrown
    }
  }

  #answer(
    request: PlainQuery,
    transaction: number,
    snapshot: () => QuerySnapshot,
  ): AnswerNow | undefined {
    const { plans, reads } = this.#options
    const { query } = request
    let runnable: RunnablePlan | undefined
    const plan = () => {
      runnable ??= plans.plan(request)
      return runnable
    }
    const again = this.kept.find(query, () => plan().planned)
    if (again) return repeated(again, transaction)
    const from = { reads, rows: this.#rows }
    const unfilled = plans.unfilled(request, (template) => this.#idIn(template) !== undefined)
    if (unfilled) {
      const { template, literals } = unfilled
      const id = String(literals[this.#idIn(template)!]!.value)
      return lookUp(template.value, id, transaction, from)
    }
    const { planned } = plan()
    if (this.#isTakenForLarge(planned)) return undefined
    const { physical } = planned
    if (isDirect(physical)) return lookUp(planned, idOf(physical), transaction, from)
    return this.#small(request, plan(), snapshot())
  }

  /** Which of its literals is an id that is all its plans look up. */
  #idIn(template: Template<PlannedQuery>): number | undefined {
    const known = this.#ids.get(template)
    if (known) return known.literal
    const literal = idLiteral(template)
    this.#ids.set(template, { literal })
    return literal
  }

  #isTakenForLarge({ family }: PlannedQuery): boolean {
    const left = this.#large.get(family) ?? 0
    if (left > 0) this.#large.set(family, left - 1)
    return left > 0
  }

  #small(
    { query, view }: PlainQuery,
    { planned, context }: RunnablePlan,
    snapshot: QuerySnapshot,
  ): AnswerNow | undefined {
    const { pool, runner, limits } = this.#options
    const budgetBytes = limits.memory.perQuery
    const started = performance.now()
    try {
      const form = { kind: 'json', separator: ',\n' } as const
      const answer = answerHere({ planned, context, snapshot, form, pool, budgetBytes })
      if (!answer) {
        this.#large.set(planned.family, unseen)
        return undefined
      }
      const told = { text: query, owner: view.owner, physical: planned.physical }
      const { rowsRead, rowCount } = answer
      const work = { workerMs: 0, rowsRead, rowsSent: rowCount }
      runner.noteTime(told, work, performance.now() - started)
      this.kept.keep(query, planned, snapshot.transaction, answer)
      return answer
    } catch (thrown) {
      if (isTurnLimit(thrown)) this.#large.set(planned.family, unseen)
      // The general way finds it again, and goes round it.
      if (isDamage(thrown)) return undefined
      throw thrown
    } finally {
      snapshot.release()
    }
  }
}
