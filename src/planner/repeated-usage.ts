/**
 * Plans the sets of spans that repeat the usage of others (`function/repeated-usage.ts`), before the
 * plans that ask for them. Which spans do is told by whole traces, whatever a plan reads of them: by
 * those of which it reads a span that reports usage.
 */
import { type BoundExpression, childrenOf, hiddenField, repeatedUsageSet } from '../binder/bound.ts'
import { mapChildren } from '../binder/rewrite.ts'
import { reportedMetrics } from '../type/record.ts'
import { conjunction, conjunctsOf } from './conjuncts.ts'
import type { LogicalPlan, LogicalQuery } from './logical-plan.ts'
import { fromLeaf, mapExpressions, mapPlan } from './map-plan.ts'
import { filtered, inSemiJoinSet, objectField, traceField, tracesWith } from './trace-plan.ts'

/** The query with a set of its own in place of each `repeatedUsageSet`. */
export function withRepeatedUsage(query: LogicalQuery): LogicalQuery {
  if (![...query.semiJoinSets, query.plan].some(asksForUsage)) return query
  const planner = new UsagePlanner()
  for (const set of query.semiJoinSets) planner.add(set)
  return { plan: planner.resolve(query.plan).plan, semiJoinSets: planner.sets }
}

class UsagePlanner {
  readonly sets: LogicalPlan[] = []
  /** Where the query's own sets are among all. */
  readonly #places: number[] = []
  /** The set of spans that repeat usage in the traces of a set; undefined stands for all traces. */
  readonly #repeated = new Map<number | undefined, number>()

  add(set: LogicalPlan): void {
    const { plan, repeated } = this.resolve(set)
    const place = this.sets.push(plan) - 1
    this.#places.push(place)
    if (repeated !== undefined) this.#repeated.set(place, repeated)
  }

  /** The plan with the places of all sets that it asks for, and that of the spans that repeat usage. */
  resolve(plan: LogicalPlan): { readonly plan: LogicalPlan; readonly repeated?: number } {
    const placed = mapSets(plan, (set) => this.#places[set] ?? set)
    if (!asksForUsage(placed)) return { plan: placed }
    const repeated = this.#repeatedIn(placed)
    return { plan: mapSets(placed, (set) => (set === repeatedUsageSet ? repeated : set)), repeated }
  }

  #repeatedIn(plan: LogicalPlan): number {
    const all = this.#repeated.get(undefined)
    if (all !== undefined) return all
    const { leaf, conditions } = readingOf(plan)
    const traces = this.#tracesOf(leaf, conditions)
    const known = this.#repeated.get(traces)
    if (known !== undefined) return known
    const spans = traces === undefined ? leaf : filtered(leaf, inSemiJoinSet(traces))
    const place = this.sets.push(repeatedUsageOf(spans)) - 1
    this.#repeated.set(traces, place)
    return place
  }

  /** The set of the traces that are to be looked at; undefined: all. */
  #tracesOf(leaf: LogicalPlan, conditions: readonly BoundExpression[]): number | undefined {
    const [first, ...others] = conditions
    if (!first) return undefined
    const isSet = first.kind === 'in_traces' && first.trace.kind === 'field'
    if (isSet && others.length === 0) return first.set
    return this.sets.push(tracesWith(leaf, conjunction([...conditions, reportsUsage]))) - 1
  }
}

const keys = [objectField, traceField]

/** Zero tokens are no report. */
const reportsUsage: BoundExpression = {
  kind: 'or',
  operands: reportedMetrics.map((name) => ({
    kind: 'comparison',
    operator: 'gt',
    left: { kind: 'field', path: ['metrics', name], type: 'number' },
    right: { kind: 'constant', value: 0, type: 'number' },
    type: 'boolean',
  })),
  type: 'boolean',
}

/** Spans have one parent; those of joined branches some more. */
const parents = [0, 1, 2].map(
  (place): BoundExpression => ({ kind: 'field', path: ['span_parents', place], type: 'json' }),
)

/** Groups by object and id of the spans that repeat usage in whole traces. */
function repeatedUsageOf(spans: LogicalPlan): LogicalPlan {
  const ids: BoundExpression = { kind: 'group_column', index: keys.length, type: 'json' }
  const perTrace: LogicalPlan = {
    kind: 'aggregate',
    keys,
    aggregates: [
      {
        name: 'repeated_usage',
        arguments: [
          textField('id'),
          textField('span_id'),
          reportsUsage,
          { kind: 'field', path: ['span_attributes', 'type'], type: 'json' },
          { kind: 'field', path: ['span_attributes', 'purpose'], type: 'json' },
          ...parents,
        ],
        parameters: [],
        distinct: false,
        filter: undefined,
        type: 'json',
      },
    ],
    row: undefined,
    input: spans,
  }
  const id: BoundExpression = { kind: 'field', path: [hiddenField.unpivotValue(0)], type: 'string' }
  return {
    kind: 'aggregate',
    keys: [{ kind: 'group_column', index: 0, type: 'number' }, id],
    aggregates: [],
    row: undefined,
    input: { kind: 'unpivot', unpivot: { expression: ids, index: 0 }, input: perTrace },
  }
}

/** What a plan reads, and the conditions on that which can be asked without knowing usage. */
function readingOf(plan: LogicalPlan) {
  const [leaf, ...nodes] = fromLeaf(plan)
  const conditions: BoundExpression[] = []
  for (const node of nodes) {
    if (node.kind !== 'filter') break
    conditions.push(...conjunctsOf(node.predicate).filter((condition) => !asksUsage(condition)))
  }
  return { leaf: leaf!, conditions }
}

function textField(name: string): BoundExpression {
  return { kind: 'field', path: [name], type: 'string' }
}

export function asksForUsage(plan: LogicalPlan): boolean {
  return fromLeaf(plan).some((node) => {
    let asks = false
    mapExpressions(node, (expression) => {
      asks ||= asksUsage(expression)
      return expression
    })
    return asks
  })
}

function asksUsage(expression: BoundExpression): boolean {
  if (expression.kind === 'in_traces') return expression.set === repeatedUsageSet
  return childrenOf(expression).some(asksUsage)
}

function mapSets(plan: LogicalPlan, placeOf: (set: number) => number): LogicalPlan {
  const move = (expression: BoundExpression): BoundExpression => {
    if (expression.kind !== 'in_traces') return mapChildren(expression, move)
    const set = placeOf(expression.set)
    return set === expression.set ? expression : { ...expression, set }
  }
  return mapPlan(plan, (node) => mapExpressions(node, move))
}
