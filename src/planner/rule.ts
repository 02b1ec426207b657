/** What a rewrite of plans is. */
import type { EvaluationContext } from '../binder/evaluate.ts'
import type { LogicalPlan } from './logical-plan.ts'

/** A rewrite that keeps the plan's answer. It returns its argument when it has nothing to do. */
export interface Rule {
  readonly name: string
  apply(plan: LogicalPlan, context: RuleContext): LogicalPlan
}

export interface RuleContext extends EvaluationContext {
  /** Whether the query asked for the columnstore, which look-ups do not read. */
  readonly columnstore: boolean
}
