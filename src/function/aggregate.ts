/** The aggregate functions of the language, in one table; the documentation is made from it too. */
import type { Path, Value } from '../type/value.ts'
import type { ResultType } from './scalar.ts'

export type AggregateName =
  | 'count'
  | 'count_if'
  | 'count_distinct'
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'any_value'
  | 'first'
  | 'last'
  | 'mode'
  | 'percentile'
  | 'median'
  | 'stddev'
  | 'stddev_pop'
  | 'variance'
  | 'var_pop'
  | 'bool_and'
  | 'bool_or'
  | 'array_agg'
  | 'string_agg'
  | 'sum_entries'
  | 'avg_entries'
  /** Of plans that count usage once; no text can name it. */
  | 'repeated_usage'

export interface AggregateFunction {
  readonly name: AggregateName
  readonly aliases: readonly string[]
  /** How the arguments are called in documentation and messages. */
  readonly signature: string
  readonly minArguments: number
  readonly maxArguments: number
  /**
   * How many of the most arguments, from the last on, must be constants: they shape the accumulator
   * and are not read from rows.
   */
  readonly constantArguments: number
  /** What constants are when fewer are written, or none can be. */
  readonly defaultConstants: readonly (string | number)[]
  /** Fields that the arguments from the second on are when they are not written. */
  readonly defaultFields: readonly Path[]
  /** Whether `f(DISTINCT x)` is allowed. */
  readonly distinct: boolean
  /** What to say about constants that will not do; undefined if they will. */
  readonly checkConstants: (constants: readonly Value[]) => string | undefined
  /** `argument`: what the first argument is. */
  readonly result: ResultType
  readonly description: string
  /** A call and the JSON of what it gives over `exampleRows`. */
  readonly example: readonly [call: string, result: string]
}

/** The rows that the examples of aggregates are over. */
export const exampleRows: readonly { readonly [field: string]: Value }[] = [
  { x: 4, t: 1, model: 'b', ok: true, scores: { f: 1, g: 0.5 } },
  { x: 1, t: 2, model: 'a', ok: true, scores: { f: 0 } },
  { x: 1, t: 3, model: 'b', ok: false, scores: { g: 1 } },
  { x: null, t: 4, model: null, ok: null, scores: null },
]

export const aggregateFunctions: readonly AggregateFunction[] = [
  over('count', takes('value?', 0, 1, 'integer'), {
    distinct: true,
    description: 'Values that are not null; rows, if called with nothing, 1 or *',
    example: ['count(x)', '3'],
  }),
  over('count_if', takes('condition', 1, 1, 'integer'), {
    aliases: ['countif'],
    description: 'Rows for which the condition is true',
    example: ['count_if(x < 3)', '2'],
  }),
  over('count_distinct', takes('value', 1, 1, 'integer'), {
    aliases: ['approx_count_distinct'],
    distinct: true,
    description: 'Different values that are not null; exact, whatever it is called',
    example: ['count_distinct(x)', '2'],
  }),
  over('sum', takes('number', 1, 1, 'number'), {
    distinct: true,
    description: 'Sum of the numbers, where true is 1 and false 0; null of none',
    example: ['sum(x)', '6'],
  }),
  over('avg', takes('number', 1, 1, 'number'), {
    aliases: ['mean'],
    distinct: true,
    description: 'Mean of the numbers, where true is 1 and false 0; null of none',
    example: ['avg(x)', '2'],
  }),
  over('min', takes('value', 1, 1, 'argument'), {
    distinct: true,
    description: 'The value that sorts first; null of none',
    example: ['min(model)', '"a"'],
  }),
  over('max', takes('value', 1, 1, 'argument'), {
    distinct: true,
    description: 'The value that sorts last; null of none',
    example: ['max(x)', '4'],
  }),
  over('median', takes('number', 1, 1, 'number'), {
    defaultConstants: [0.5],
    description: 'The same as percentile with 0.5',
    example: ['median(x)', '1'],
  }),
  over('percentile', takes('number, p', 2, 2, 'number'), {
    aliases: ['approx_percentile', 'quantile'],
    constantArguments: 1,
    checkConstants: ([p]) =>
      typeof p === 'number' && p >= 0 && p <= 1 ? undefined : 'p must be a number from 0 to 1',
    description:
      'The number that a share p of them lies below, interpolated linearly; exact, whatever it is called',
    example: ['percentile(x, 0.75)', '2.5'],
  }),
  over('stddev', takes('number', 1, 1, 'number'), {
    aliases: ['stddev_samp'],
    description:
      'Standard deviation of a sample, where true is 1 and false 0; null of less than two',
    example: ['round(stddev(x), 3)', '1.732'],
  }),
  over('stddev_pop', takes('number', 1, 1, 'number'), {
    description: 'Standard deviation of a population; null of none',
    example: ['round(stddev_pop(x), 3)', '1.414'],
  }),
  over('variance', takes('number', 1, 1, 'number'), {
    aliases: ['var_samp'],
    description: 'Variance of a sample, where true is 1 and false 0; null of less than two',
    example: ['variance(x)', '3'],
  }),
  over('var_pop', takes('number', 1, 1, 'number'), {
    description: 'Variance of a population; null of none',
    example: ['var_pop(x)', '2'],
  }),
  over('bool_and', takes('condition', 1, 1, 'boolean'), {
    aliases: ['every'],
    description: 'Whether it is true in all rows where it is not null; null if there are none',
    example: ['bool_and(ok)', 'false'],
  }),
  over('bool_or', takes('condition', 1, 1, 'boolean'), {
    description: 'Whether it is true in some row; null if it is null in all',
    example: ['bool_or(ok)', 'true'],
  }),
  over('any_value', takes('value', 1, 1, 'argument'), {
    distinct: true,
    description: 'Some value that is not null; null of none',
    example: ['any_value(x) is not null', 'true'],
  }),
  over('first', takes('value, by?', 1, 2, 'argument'), {
    defaultFields: [['created']],
    description: 'The value, not null, where by is lowest; by is created if not said',
    example: ['first(model, t)', '"b"'],
  }),
  over('last', takes('value, by?', 1, 2, 'argument'), {
    defaultFields: [['created']],
    description: 'The value, not null, where by is highest; of several, the one that sorts first',
    example: ['last(x, t)', '1'],
  }),
  over('mode', takes('value', 1, 1, 'argument'), {
    description: 'The most frequent value that is not null; of several, the one that sorts first',
    example: ['mode(model)', '"b"'],
  }),
  over('array_agg', takes('value', 1, 1, 'json'), {
    distinct: true,
    description: 'An array of the values that are not null, sorted; null of none',
    example: ['array_agg(x)', '[1,1,4]'],
  }),
  over('string_agg', takes('value, separator?', 1, 2, 'string'), {
    aliases: ['group_concat'],
    distinct: true,
    constantArguments: 1,
    defaultConstants: [','],
    checkConstants: ([separator]) =>
      typeof separator === 'string' ? undefined : 'the separator must be a text',
    description:
      'The texts of those values, sorted, with a separator, a comma if not said, between',
    example: [`string_agg(distinct model, '+')`, '"a+b"'],
  }),
  over('sum_entries', takes('object', 1, 1, 'json'), {
    description: 'An object with the sum of the numbers under each key; null if there are none',
    example: ['sum_entries(scores)', '{"f":1,"g":1.5}'],
  }),
  over('avg_entries', takes('object', 1, 1, 'json'), {
    description: 'An object with the mean of the numbers under each key; null if there are none',
    example: ['avg_entries(scores)', '{"f":0.5,"g":0.75}'],
  }),
]

const aggregatesByName = new Map<string, AggregateFunction>(
  aggregateFunctions.flatMap((entry) =>
    [entry.name, ...entry.aliases].map((name) => [name, entry] as const),
  ),
)

/** Finds an aggregate by its name or an alias, in lower case. */
export function aggregateFunction(name: string): AggregateFunction | undefined {
  return aggregatesByName.get(name)
}

type Shape = Pick<AggregateFunction, 'signature' | 'minArguments' | 'maxArguments' | 'result'>
type Body = Pick<AggregateFunction, 'description' | 'example'> &
  Partial<Omit<AggregateFunction, keyof Shape>>

function takes(
  signature: string,
  minArguments: number,
  maxArguments: number,
  result: ResultType,
): Shape {
  return { signature, minArguments, maxArguments, result }
}

function over(name: AggregateName, shape: Shape, body: Body): AggregateFunction {
  return {
    name,
    aliases: [],
    constantArguments: 0,
    defaultConstants: [],
    defaultFields: [],
    distinct: false,
    checkConstants: () => undefined,
    ...shape,
    ...body,
  }
}
