/** Parts of plans that find sets of traces, and read the traces of one. */
import { type BoundExpression, hiddenField } from '../binder/bound.ts'
import type { LogicalPlan } from './logical-plan.ts'

export const objectField: BoundExpression = {
  kind: 'field',
  path: [hiddenField.object],
  type: 'number',
}
export const traceField: BoundExpression = {
  kind: 'field',
  path: ['root_span_id'],
  type: 'string',
}

/** Whether a row is of a trace of the set. */
export function inSemiJoinSet(set: number): BoundExpression {
  return { kind: 'in_traces', set, object: objectField, trace: traceField, type: 'boolean' }
}

/** The traces that have a row of the input for which the condition is true. */
export function tracesWith(
  input: LogicalPlan,
  condition: BoundExpression | undefined,
): LogicalPlan {
  return {
    kind: 'aggregate',
    keys: [objectField, traceField],
    aggregates: [],
    row: undefined,
    input: filtered(input, condition),
  }
}

export function filtered(input: LogicalPlan, predicate: BoundExpression | undefined): LogicalPlan {
  return predicate ? { kind: 'filter', predicate, input } : input
}
