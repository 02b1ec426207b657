/** The conditions of a scan, of which all must be true. */
import type { BoundExpression } from '../../binder/bound.ts'
import { type Bounds, conjunction, type ProofLevel, withOpen } from './bounds.ts'
import { compileCondition, levelOfCondition } from './compile-condition.ts'
import type { CompileContext } from './compile-value.ts'

export interface CompiledPredicates {
  /**
   * `exact`: but for rows that cannot be told from what columns have of them, which `rows.may` has, the cluster tells
   * which pass.
   */
  readonly level: ProofLevel
  readonly rows: Bounds
  readonly levels: readonly ProofLevel[]
}

export function compilePredicates(
  predicates: readonly BoundExpression[],
  context: CompileContext,
): CompiledPredicates {
  const conditions = predicates.map((predicate) => compileCondition(predicate, context))
  const levels = conditions.map(levelOfCondition)
  // Asked first, of all rows: what else is asked may take long.
  const near = conditions.map(({ isNear = '1' }) => isNear)
  const rows = conditions.map(({ whereTrue, doubts }) => withOpen(whereTrue, doubts))
  return {
    level: weakest(levels),
    levels,
    rows: {
      sure: conjunction([...near, ...rows.map(({ sure }) => sure)]),
      may: conjunction([...near, ...rows.map(({ may }) => may)]),
    },
  }
}

/** `none` where nothing is left out by any of them. */
function weakest(levels: readonly ProofLevel[]): ProofLevel {
  if (levels.every((level) => level === 'exact')) return 'exact'
  return levels.every((level) => level === 'none') ? 'none' : 'superset'
}
