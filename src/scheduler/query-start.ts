/** A query on its way from its request to its rows. */
import type { EvaluationContext } from '../binder/evaluate.ts'
import type { RowForm } from '../executor/print/row-form.ts'
import type { PhysicalQuery } from '../planner/physical-plan.ts'
import type { AnswerProgress } from './answer/answer-progress.ts'
import type { QueryRequest, QueryResult } from './query-request.ts'
import type { AuditLog } from './scan/audit-log.ts'

export interface StartedQuery {
  readonly result: QueryResult
  readonly physical: PhysicalQuery
}

export interface QueryStart {
  readonly physical: PhysicalQuery
  readonly context: EvaluationContext
  /** The snapshot's. */
  readonly transaction: number
  readonly audit: AuditLog
  readonly request: QueryRequest
  readonly progress: AnswerProgress
  readonly form: RowForm
}
