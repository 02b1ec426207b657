/** The aggregate functions of the language, in one table; the documentation is made from it too. */
import type { Value } from '../type/value.ts'
import type { ResultType } from './scalar.ts'

export type AggregateName =
  | 'count'
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'count_distinct'
  | 'percentile'
  | 'median'
  | 'any_value'

export interface AggregateFunction {
  readonly name: AggregateName
  /** How the arguments are called in documentation and messages. */
  readonly signature: string
  readonly minArguments: number
  readonly maxArguments: number
  /**
   * How many arguments, from the second on, must be constants: they shape the accumulator and are
   * not read from rows.
   */
  readonly constantArguments: number
  /** What to say about constants that will not do; undefined if they will. */
  readonly checkConstants: (constants: readonly Value[]) => string | undefined
  readonly result: ResultType
  readonly description: string
  readonly example: string
}

export const aggregateFunctions: readonly AggregateFunction[] = [
  {
    ...over('value?', 0, 'integer'),
    name: 'count',
    description: 'Values that are not null; rows, if called with nothing, 1 or *',
    example: 'count(error)',
  },
  {
    ...over('number', 1, 'number'),
    name: 'sum',
    description: 'Sum of the numbers, where true is 1 and false 0; null of none',
    example: 'sum(metrics.tokens)',
  },
  {
    ...over('number', 1, 'number'),
    name: 'avg',
    description: 'Mean of the numbers, where true is 1 and false 0; null of none',
    example: 'avg(scores.Factuality)',
  },
  {
    ...over('value', 1, 'argument'),
    name: 'min',
    description: 'The value that sorts first; null of none',
    example: 'min(created)',
  },
  {
    ...over('value', 1, 'argument'),
    name: 'max',
    description: 'The value that sorts last; null of none',
    example: 'max(_xact_id)',
  },
  {
    ...over('value', 1, 'integer'),
    name: 'count_distinct',
    description: 'Different values that are not null, exactly',
    example: 'count_distinct(metadata.user)',
  },
  {
    ...over('number, p', 2, 'number'),
    name: 'percentile',
    constantArguments: 1,
    checkConstants: ([p]) =>
      typeof p === 'number' && p >= 0 && p <= 1 ? undefined : 'p must be a number from 0 to 1',
    description: 'The number that a share p of them lies below, interpolated linearly; exact',
    example: 'percentile(metrics.tokens, 0.95)',
  },
  {
    ...over('number', 1, 'number'),
    name: 'median',
    description: 'The same as percentile with 0.5',
    example: 'median(scores.Factuality)',
  },
  {
    ...over('value', 1, 'argument'),
    name: 'any_value',
    description: 'Some value that is not null; null of none',
    example: 'any_value(metadata.model)',
  },
]

const aggregatesByName = new Map<string, AggregateFunction>(
  aggregateFunctions.map((aggregate) => [aggregate.name, aggregate]),
)

/** Finds an aggregate by its name in lower case. */
export function aggregateFunction(name: string): AggregateFunction | undefined {
  return aggregatesByName.get(name)
}

function over(
  signature: string,
  minArguments: number,
  result: ResultType,
): Omit<AggregateFunction, 'name' | 'description' | 'example'> {
  return {
    signature,
    minArguments,
    maxArguments: Math.max(1, minArguments),
    constantArguments: 0,
    checkConstants: () => undefined,
    result,
  }
}
