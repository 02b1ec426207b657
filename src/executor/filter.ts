import type { BoundExpression } from '../binder/bound.ts'
import type { EvaluationContext } from '../binder/evaluate.ts'
import { selectTrue, selectTrueWithin } from '../kernel/select.ts'
import type { Selection } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { compile, truthBytes } from './compile.ts'

/** Keeps the rows for which all predicates are true; each sees only what the ones before left. */
export type Filter = (batch: Batch, selection: Selection) => Selection

export function compileFilter(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): Filter {
  const evaluators = predicates.map((predicate) => compile(predicate, context))
  return (batch, selection) => {
    let current = selection
    for (const evaluate of evaluators) {
      if (current?.length === 0) return current
      const vector = evaluate(batch, current)
      const truth =
        vector.kind === 'boolean' ? vector.values : truthBytes(vector, batch.rowCount, current)
      const out = new Int32Array(current ? current.length : batch.rowCount)
      const count = current
        ? selectTrueWithin(truth, current, out)
        : selectTrue(truth, batch.rowCount, out)
      if (!current && count === batch.rowCount) continue
      current = out.subarray(0, count)
    }
    return current
  }
}
