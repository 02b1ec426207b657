/** Random calls of scalar functions, whose constant arguments are such as the binder accepts. */
import fc from 'fast-check'

type Constant = null | boolean | number | string

export interface ArbitraryCall<T> {
  readonly name: string
  readonly arguments: readonly T[]
}

const ofOne = [
  ...['lower', 'upper', 'length', 'len', 'trim', 'ltrim', 'rtrim', 'reverse', 'typeof'],
  ...['abs', 'sign', 'floor', 'ceil', 'ceiling', 'sqrt', 'cbrt', 'ln', 'log', 'log10', 'log2'],
  ...['exp', 'round', 'trunc', 'to_string', 'to_number', 'to_integer', 'to_boolean'],
  ...['to_timestamp', 'to_date', 'to_interval', 'extract_epoch', 'to_unixtime'],
  ...['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'],
  ...['json_parse', 'json_keys', 'vector', 'array_length', 'array_distinct'],
]
const ofTwo = [
  ...['includes', 'starts_with', 'ends_with', 'nullif', 'ifnull', 'position', 'strpos', 'split'],
  ...['levenshtein', 'mod', 'power', 'array_contains', 'array_join', 'merge_objects', 'slice'],
]
const ofMany = ['coalesce', 'concat', 'least', 'greatest', 'merge_objects']

const counts = [-3, -1, 0, 1, 2, 5]
const parts = ['', 'a', 'l', ' ', 'é', '😀']
const paths = ['a', 'b', 'a.a', '$', '$.a', '$[0]', '[0]', '[-1]', 'a[0]', '["x.y"]', 'x.y', '']
const dateParts = [
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'dow',
  'doy',
]
const units = ['millisecond', 'second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year']
const truncations = ['day', 'month', '15 minutes', '2 hours', 'week']
const intervals = ['1 day', '2 hours 30 minutes', '-1 week', 'P1D', 'soon', '1', 'days']
const patterns = ['a', '^a', 'b$', '[a-c]+', '\\d+', 'l+o?', 'x*', '.', '', 'é', 'hello|a', '\\w+']
const grouped = ['(a)(b)?', '(?P<n>l)', '(\\w)(\\w)?']
const flags = ['', 'i', 's', 'im']
const replacements = ['', '-', '$0', '[\\0]', '$$', '\\\\', '$ x']
const groupReplacements = ['$1', '<\\1>', '$1$1']

/**
 * Calls with arguments of two kinds: any, and constants of the kinds that their functions want.
 *
 * @param any what most arguments are
 * @param constant makes an argument of a constant
 */
export function callsOf<T>(
  any: fc.Arbitrary<T>,
  constant: (value: Constant) => T,
): fc.Arbitrary<ArbitraryCall<T>> {
  const one = (values: readonly Constant[]) => fc.constantFrom(...values).map(constant)
  const call = (
    names: readonly string[],
    ...list: readonly fc.Arbitrary<T>[]
  ): fc.Arbitrary<ArbitraryCall<T>> =>
    fc.record({ name: fc.constantFrom(...names), arguments: fc.tuple(...list) })
  return fc.oneof(
    { weight: 10, arbitrary: call(ofOne, any) },
    { weight: 8, arbitrary: call(ofTwo, any, any) },
    {
      weight: 3,
      arbitrary: fc.record({
        name: fc.constantFrom(...ofMany),
        arguments: fc.array(any, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 1, arbitrary: call(['if', 'iff'], any, any, any) },
    { weight: 1, arbitrary: call(['if'], any, any) },
    { weight: 1, arbitrary: call(['replace'], any, one(parts), one(parts)) },
    { weight: 3, arbitrary: call(['left', 'right', 'repeat', 'round', 'trunc'], any, one(counts)) },
    { weight: 1, arbitrary: call(['substring', 'slice'], any, one(counts), one(counts)) },
    { weight: 1, arbitrary: call(['split_part'], any, one(parts), one(counts)) },
    { weight: 1, arbitrary: call(['trim', 'ltrim', 'rtrim'], any, one(parts)) },
    { weight: 1, arbitrary: call(['lpad', 'rpad'], any, one(counts), one(parts)) },
    { weight: 1, arbitrary: call(['log'], one([2, 10, 0.5]), any) },
    { weight: 3, arbitrary: call(['json_extract'], any, one([...paths, 0, -1])) },
    { weight: 1, arbitrary: call(['date_part'], one(dateParts), any) },
    { weight: 1, arbitrary: call(['date_diff'], one(units), any, any) },
    { weight: 1, arbitrary: call(['date_trunc'], one(truncations), any) },
    { weight: 1, arbitrary: call(['to_interval'], one(intervals)) },
    {
      weight: 2,
      arbitrary: call(
        ['regexp_match', 'regexp_like', 'regexp_count'],
        any,
        one([...patterns, ...grouped]),
        one(flags),
      ),
    },
    { weight: 1, arbitrary: call(['regexp_extract'], any, one([...patterns, ...grouped])) },
    { weight: 1, arbitrary: call(['regexp_extract'], any, one(grouped), one([0, 1]), one(flags)) },
    {
      weight: 1,
      arbitrary: call(['regexp_replace'], any, one([...patterns, ...grouped]), one(replacements)),
    },
    { weight: 1, arbitrary: call(['regexp_replace'], any, one(grouped), one(groupReplacements)) },
  )
}
