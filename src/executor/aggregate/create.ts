import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts'
import type { SharedTexts } from '../../vector/shared-dictionary.ts'
import { CollectState } from './collect.ts'
import { CountState } from './count.ts'
import { CountDistinctState } from './count-distinct.ts'
import { DistinctState } from './distinct.ts'
import { EntriesState } from './entries.ts'
import { ExtremeState } from './extreme.ts'
import { FirstState } from './first.ts'
import { ModeState } from './mode.ts'
import { PercentileState } from './percentile.ts'
import { RepeatedUsageState } from './repeated-usage.ts'
import type { AggregateState } from './state.ts'
import { SumState } from './sum.ts'
import { TruthState } from './truth.ts'
import { joined, mean, sorted, total } from './value-list.ts'
import { VarianceState } from './variance.ts'

/** The argument of an aggregate that tells apart different values of it. */
export function distinctArgument(aggregate: BoundAggregate): BoundExpression | undefined {
  const tells = aggregate.distinct || aggregate.name === 'count_distinct'
  return tells ? aggregate.arguments[0] : undefined
}

/**
 * @param dictionary the shared dictionary of the argument, if it has one
 * @param twin a percentile of the same rows, which is given them first
 */
export function createAggregateState(
  { name, parameters, distinct }: BoundAggregate,
  dictionary?: SharedTexts,
  twin?: PercentileState,
): AggregateState {
  switch (name) {
    case 'count':
      return distinct ? new CountDistinctState(dictionary) : new CountState('present')
    case 'count_if':
      return new CountState('true')
    case 'count_distinct':
      return new CountDistinctState(dictionary)
    case 'sum':
      return distinct ? new DistinctState(dictionary, total) : new SumState('sum')
    case 'avg':
      return distinct ? new DistinctState(dictionary, mean) : new SumState('mean')
    case 'min':
      return new ExtremeState(-1)
    case 'max':
      return new ExtremeState(1)
    case 'any_value':
      return new ExtremeState(0)
    case 'bool_and':
      return new TruthState('and')
    case 'bool_or':
      return new TruthState('or')
    case 'percentile':
    case 'median':
      return new PercentileState(Number(parameters[0]), twin)
    case 'stddev':
      return new VarianceState('sample', 'deviation')
    case 'stddev_pop':
      return new VarianceState('population', 'deviation')
    case 'variance':
      return new VarianceState('sample', 'variance')
    case 'var_pop':
      return new VarianceState('population', 'variance')
    case 'first':
      return new FirstState(-1)
    case 'last':
      return new FirstState(1)
    case 'mode':
      return new ModeState()
    case 'array_agg':
      return distinct ? new DistinctState(dictionary, sorted) : new CollectState()
    case 'string_agg': {
      const join = joined(String(parameters[0]))
      return distinct
        ? new DistinctState(dictionary, (values) => join(sorted(values)))
        : new CollectState(join)
    }
    case 'sum_entries':
      return new EntriesState('sum')
    case 'avg_entries':
      return new EntriesState('mean')
    case 'repeated_usage':
      return new RepeatedUsageState()
  }
}
