import type {
  BoundExpression,
  BoundObject,
  BoundQuery,
  BoundSample,
  BoundSortKey,
  BoundSource,
  BoundTraceSelection,
} from '../binder/bound.ts'
import { inferredColumns } from '../binder/inferred-fields.ts'
import { assert, unreachable } from '../error.ts'
import { withUsedSides } from './compared-sides.ts'
import { withUsedAggregates } from './group-columns.ts'
import type { LogicalPlan, LogicalQuery } from './logical-plan.ts'
import { fromLeaf } from './map-plan.ts'
import { asksForUsage, withRepeatedUsage } from './repeated-usage.ts'
import { filtered, inSemiJoinSet, objectField, traceField, tracesWith } from './trace-plan.ts'

/** The plan as the query says it, before any rule. */
export function planLogical(query: BoundQuery): LogicalQuery {
  const planner = new LogicalPlanner()
  const plan = planner.plan(query)
  const { output } = query
  return withRepeatedUsage({
    semiJoinSets: planner.semiJoinSets,
    plan: withUsedSides({
      kind: 'project',
      // The columns that a pivot makes are all of its rows' fields.
      star: (output.kind === 'rows' && output.star) || query.pivot !== undefined,
      columns: output.kind === 'infer' ? inferredColumns : output.columns,
      preview: query.preview,
      input: plan,
    }),
  })
}

class LogicalPlanner {
  readonly semiJoinSets: LogicalPlan[] = []

  /** A query without its last projection: expressions over it refer to what is below that. */
  plan(query: BoundQuery): LogicalPlan {
    let plan = this.#source(query)
    for (const unpivot of query.unpivots) plan = { kind: 'unpivot', unpivot, input: plan }
    plan = filtered(plan, query.filter)
    if (query.sample) plan = sampled(plan, query.sample)
    const { output } = query
    switch (output.kind) {
      case 'groups': {
        const { keys, aggregates, row, expansion } = output
        if (expansion) plan = { kind: 'unpivot', unpivot: expansion, input: plan }
        plan = { kind: 'aggregate', keys, aggregates, row, input: plan }
        break
      }
      case 'infer':
        plan = limited(plan, output.budget, 0)
        plan = { kind: 'infer', fields: output.fields, depth: output.depth, input: plan }
        break
      case 'rows':
        break
      default:
        unreachable(output)
    }
    plan = filtered(plan, query.finalFilter)
    if (query.pivot) plan = { kind: 'pivot', pivot: query.pivot, input: plan }
    if (query.sort.length > 0) plan = { kind: 'sort', keys: query.sort, input: plan }
    plan = sought(plan, query)
    plan = limited(plan, query.limit, query.offset)
    return isPageOfTraces(query) ? this.#summaryOfPage(plan, query) : plan
  }

  /**
   * Finds the traces of a page by what decides between them; all that is shown is aggregated for
   * those only, unless there is little more to show.
   */
  #summaryOfPage(page: LogicalPlan, { source, sort }: BoundQuery): LogicalPlan {
    assert(source.kind === 'summary', 'only summaries have pages of traces')
    const finding = withUsedAggregates(page)
    const isLittleMore = aggregateCount(page) - aggregateCount(finding) <= fewAggregates
    // Whose usage counts is found for whole traces, so better for those of the page.
    if (isLittleMore && asksForUsage(page) === asksForUsage(finding)) return page
    this.semiJoinSets.push(finding)
    const { objects, spans, grouping } = source
    const rows = filtered(filtered(scanOf(objects), inLastSet(this.semiJoinSets)), spans)
    return { kind: 'sort', keys: sort, input: { kind: 'aggregate', ...grouping, input: rows } }
  }

  #source(query: BoundQuery): LogicalPlan {
    const { source } = query
    if (source.kind === 'query') return this.plan(source.query)
    for (const condition of query.semiJoinSets) {
      this.semiJoinSets.push(tracesWith(scanOf(objectsIn(source)), condition))
    }
    switch (source.kind) {
      case 'objects':
        return scanOf(source.objects)
      case 'traces':
        return this.#traces(source.objects, source.selection)
      case 'summary':
        return this.#summary(source)
      case 'comparison': {
        const { key, scores, metrics, summary } = source
        const objects = summary.objects.map(({ number }) => number)
        // Rows of a key are paired by age.
        const input: LogicalPlan = { kind: 'sort', keys: [], input: this.#summary(summary) }
        return { kind: 'compare', objects, key, scores, metrics, input }
      }
      default:
        return unreachable(source)
    }
  }

  #traces(objects: readonly BoundObject[], selection: BoundTraceSelection): LogicalPlan {
    const isAll =
      !selection.filter &&
      selection.limit === undefined &&
      selection.offset === 0 &&
      !selection.after &&
      !selection.sample
    if (isAll) return scanOf(objects)
    this.semiJoinSets.push(selectedTraces(objects, selection))
    return filtered(scanOf(objects), inLastSet(this.semiJoinSets))
  }

  #summary({ objects, filter, spans, grouping }: SummarySource): LogicalPlan {
    let plan = scanOf(objects)
    if (filter) {
      this.semiJoinSets.push(tracesWith(plan, filter))
      plan = filtered(plan, inLastSet(this.semiJoinSets))
    }
    plan = { kind: 'aggregate', ...grouping, input: filtered(plan, spans) }
    // Groups come in the order of their keys, records newest first.
    return { kind: 'sort', keys: [], input: plan }
  }
}

/** So many aggregates of all traces take less time than reading the traces of a page again. */
const fewAggregates = 3

function aggregateCount(plan: LogicalPlan): number {
  const aggregation = fromLeaf(plan).find((node) => node.kind === 'aggregate')
  return aggregation?.kind === 'aggregate' ? aggregation.aggregates.length : 0
}

type SummarySource = Extract<BoundSource, { kind: 'summary' }>

/** More traces than this are as well aggregated at once. */
const maximumPage = 10_000

function isPageOfTraces({ source, output, limit, offset, sample, unpivots }: BoundQuery): boolean {
  return (
    source.kind === 'summary' &&
    source.grouping.aggregates.length > 0 &&
    output.kind === 'rows' &&
    limit !== undefined &&
    limit + offset <= maximumPage &&
    !sample &&
    unpivots.length === 0
  )
}

function objectsIn(source: Exclude<BoundSource, { kind: 'query' }>): readonly BoundObject[] {
  return source.kind === 'comparison' ? source.summary.objects : source.objects
}

function scanOf(objects: readonly BoundObject[]): LogicalPlan {
  return { kind: 'scan', objects, predicates: [], after: undefined }
}

function inLastSet(semiJoinSets: readonly LogicalPlan[]): BoundExpression {
  return inSemiJoinSet(semiJoinSets.length - 1)
}

function selectedTraces(
  objects: readonly BoundObject[],
  { filter, sort, limit, offset, after, sample }: BoundTraceSelection,
): LogicalPlan {
  const input = filtered(scanOf(objects), filter)
  const [first] = sort
  let plan: LogicalPlan = {
    kind: 'aggregate',
    keys: [objectField, traceField],
    aggregates: first
      ? [
          {
            name: first.descending ? 'max' : 'min',
            arguments: [first.expression],
            parameters: [],
            distinct: false,
            filter: undefined,
            type: first.expression.type,
          },
        ]
      : [],
    row: { preferred: undefined, pick: 'newest', values: [] },
    input,
  }
  if (sample) {
    const fraction = hashOf({ kind: 'group_column', index: 1, type: 'string' }, sample.seed)
    plan = chosen(plan, fraction, sample)
  }
  if (limit === undefined && offset === 0 && !after) return plan
  const keys: BoundSortKey[] = first
    ? [
        {
          expression: { kind: 'group_column', index: 2, type: first.expression.type },
          descending: first.descending,
        },
      ]
    : []
  plan = { kind: 'sort', keys, input: plan }
  if (after) plan = { kind: 'seek', keys, after, input: plan }
  return limited(plan, limit, offset)
}

function limited(input: LogicalPlan, count: number | undefined, offset: number): LogicalPlan {
  return count === undefined && offset === 0 ? input : { kind: 'limit', count, offset, input }
}

function sought(input: LogicalPlan, { sort, after, afterSorted }: BoundQuery): LogicalPlan {
  const place = afterSorted ?? after
  return place ? { kind: 'seek', keys: sort, after: place, input } : input
}

function sampled(input: LogicalPlan, sample: BoundSample): LogicalPlan {
  const key: BoundExpression = { kind: 'field', path: ['_pagination_key'], type: 'string' }
  const plan = chosen(input, hashOf(key, sample.seed), sample)
  return sample.kind === 'rate' ? plan : { kind: 'sort', keys: [], input: plan }
}

/** A share of the rows by an even hash of theirs, or those with the lowest. */
function chosen(input: LogicalPlan, hash: BoundExpression, sample: BoundSample): LogicalPlan {
  if (sample.kind === 'count') {
    const keys = [{ expression: hash, descending: false }]
    return { kind: 'limit', count: sample.count, offset: 0, input: { kind: 'sort', keys, input } }
  }
  const right: BoundExpression = { kind: 'constant', value: sample.rate, type: 'number' }
  const predicate = {
    kind: 'comparison',
    operator: 'lt',
    left: hash,
    right,
    type: 'boolean',
  } as const
  return filtered(input, predicate)
}

function hashOf(key: BoundExpression, seed: number): BoundExpression {
  const constant: BoundExpression = { kind: 'constant', value: seed, type: 'number' }
  return { kind: 'call', name: 'hash_fraction', arguments: [key, constant], type: 'number' }
}
