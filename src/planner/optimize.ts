import type { LogicalQuery } from './logical-plan.ts'
import type { Rule, RuleContext } from './rule.ts'
import { dropNeedlessSort } from './rules/drop-needless-sort.ts'
import { findEmpty } from './rules/find-empty.ts'
import { foldConstants } from './rules/fold-constants.ts'
import { joinEqualities } from './rules/join-equalities.ts'
import { keepRowValues } from './rules/keep-row-values.ts'
import { lookUpById } from './rules/look-up-by-id.ts'
import { orderPredicates } from './rules/order-predicates.ts'
import { pushFilterIntoScan } from './rules/push-filter-into-scan.ts'
import { sortLimitToTopK } from './rules/sort-limit-to-top-k.ts'

/** In order of application; each runs once. */
export const rules: readonly Rule[] = [
  foldConstants,
  joinEqualities,
  pushFilterIntoScan,
  findEmpty,
  lookUpById,
  orderPredicates,
  dropNeedlessSort,
  sortLimitToTopK,
  keepRowValues,
]

/** `trace` is told of every rule that changed the query's plan. */
export function optimize(
  { semiJoinSets, plan }: LogicalQuery,
  context: RuleContext,
  trace?: (rule: string, query: LogicalQuery) => void,
): LogicalQuery {
  return rules.reduce(
    (current, rule) => {
      const next = {
        semiJoinSets: current.semiJoinSets.map((set) => rule.apply(set, context)),
        plan: rule.apply(current.plan, context),
      }
      const changed =
        next.plan !== current.plan ||
        next.semiJoinSets.some((set, i) => set !== current.semiJoinSets[i])
      if (!changed) return current
      trace?.(rule.name, next)
      return next
    },
    { semiJoinSets, plan },
  )
}
