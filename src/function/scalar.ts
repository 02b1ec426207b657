/** The scalar functions of the language, in one table; the documentation is made from it too. */
import { orderValues, sameValue } from '../type/compare.ts'
import { includes } from '../type/includes.ts'
import { textOf } from '../type/text.ts'
import { type TimeUnit, truncate, truncateToMultiple } from '../type/time.ts'
import { Timestamp, type Value } from '../type/value.ts'
import { timeOf, toBoolean, toInteger, toNumber, toTimestamp } from './convert.ts'
import { absolute, onNumber, power, round, toWhole } from './number.ts'
import { lengthOf, substring } from './text.ts'

/** What a query fixes once for all of its rows. */
export interface FunctionContext {
  /** The instant of the query, in milliseconds. */
  readonly now: number
  /** Minutes that the user's clock is behind UTC. */
  readonly tzOffset: number
}

/** `argument`: whatever the arguments are; `json`: it depends on the row. */
export type ResultType =
  | 'boolean'
  | 'number'
  | 'integer'
  | 'string'
  | 'timestamp'
  | 'argument'
  | 'json'

export interface ScalarFunction {
  readonly name: string
  readonly aliases: readonly string[]
  /** How the arguments are called in documentation and messages. */
  readonly signature: string
  readonly minArguments: number
  readonly maxArguments: number
  readonly result: ResultType
  /** `propagate`: null as soon as one argument is, without asking `evaluate`. */
  readonly nulls: 'propagate' | 'handled'
  readonly description: string
  /** A call and the JSON of what it gives. */
  readonly example: readonly [call: string, result: string]
  readonly evaluate: (args: readonly Value[], context: FunctionContext) => Value
}

type Shape = Pick<ScalarFunction, 'signature' | 'minArguments' | 'maxArguments' | 'result'>
type Body = Pick<ScalarFunction, 'description' | 'example' | 'evaluate'> &
  Partial<Pick<ScalarFunction, 'aliases' | 'nulls'>>

const unlimited = Number.POSITIVE_INFINITY

export const scalarFunctions: readonly ScalarFunction[] = [
  bucket('second', '2024-05-17T10:42:31.5Z', '2024-05-17T10:42:31Z'),
  bucket('minute', '2024-05-17T10:42:31Z', '2024-05-17T10:42:00Z'),
  bucket('hour', '2024-05-17T10:42:31Z', '2024-05-17T10:00:00Z'),
  bucket('day', '2024-05-17T10:42:31Z', '2024-05-17T00:00:00Z'),
  bucket('week', '2024-05-17T10:42:31Z', '2024-05-13T00:00:00Z'),
  bucket('month', '2024-05-17T10:42:31Z', '2024-05-01T00:00:00Z'),
  bucket('quarter', '2024-05-17T10:42:31Z', '2024-04-01T00:00:00Z'),
  bucket('year', '2024-05-17T10:42:31Z', '2024-01-01T00:00:00Z'),
  define('date_trunc', takes('unit, time', 2, 2, 'timestamp'), {
    description: 'Start of the unit, such as day or 15 minutes, that the time lies in',
    example: [`date_trunc('15 minutes', '2024-05-17T10:42:31Z')`, '"2024-05-17T10:30:00Z"'],
    evaluate: ([unit, time], { tzOffset }) => dateTrunc(unit!, time!, tzOffset),
  }),
  define('now', takes('', 0, 0, 'timestamp'), {
    aliases: ['current_timestamp'],
    description: 'The instant of the query, one for all of its rows',
    example: ['now() = now()', 'true'],
    evaluate: (_, { now }) => new Timestamp(now),
  }),
  define('current_date', takes('', 0, 0, 'timestamp'), {
    description: 'The start of the day of the query',
    example: ['current_date() = day(now())', 'true'],
    evaluate: (_, { now, tzOffset }) => new Timestamp(truncate('day', now, tzOffset)),
  }),
  define('lower', takes('text', 1, 1, 'string'), {
    description: 'The text in lower case',
    example: [`lower('GPT-4')`, '"gpt-4"'],
    evaluate: ([text]) => textOf(text!).toLowerCase(),
  }),
  define('upper', takes('text', 1, 1, 'string'), {
    description: 'The text in upper case',
    example: [`upper('gpt-4')`, '"GPT-4"'],
    evaluate: ([text]) => textOf(text!).toUpperCase(),
  }),
  define('concat', takes('value, …', 1, unlimited, 'string'), {
    nulls: 'handled',
    description: 'The texts of the values joined; nulls are left out',
    example: [`concat('a', null, 1)`, '"a1"'],
    evaluate: (args) => args.map((value) => (value === null ? '' : textOf(value))).join(''),
  }),
  define('length', takes('value', 1, 1, 'integer'), {
    aliases: ['len'],
    description: 'Characters of a string, elements of an array or keys of an object',
    example: [`length('naïve')`, '5'],
    evaluate: ([value]) => lengthOf(value!),
  }),
  define('includes', takes('haystack, needle', 2, 2, 'boolean'), {
    aliases: ['contains'],
    description: 'The operator of the same name, as a function',
    example: [`includes(['a', 'b'], 'b')`, 'true'],
    evaluate: ([haystack, needle]) => includes(haystack!, needle!),
  }),
  define('starts_with', takes('text, part', 2, 2, 'boolean'), {
    description: 'Whether the text begins with the part',
    example: [`starts_with('gpt-4', 'gpt')`, 'true'],
    evaluate: ([text, part]) => textOf(text!).startsWith(textOf(part!)),
  }),
  define('ends_with', takes('text, part', 2, 2, 'boolean'), {
    description: 'Whether the text ends with the part',
    example: [`ends_with('gpt-4', '-4')`, 'true'],
    evaluate: ([text, part]) => textOf(text!).endsWith(textOf(part!)),
  }),
  define('substring', takes('text, start, count?', 2, 3, 'string'), {
    aliases: ['substr'],
    description: 'Count characters from a position on, the first of which is 1',
    example: [`substring('claude', 2, 3)`, '"lau"'],
    evaluate: ([text, start, count]) => substring(textOf(text!), start!, count),
  }),
  define('trim', takes('text', 1, 1, 'string'), {
    description: 'The text without white space at its ends',
    example: [`trim('  a b ')`, '"a b"'],
    evaluate: ([text]) => textOf(text!).trim(),
  }),
  define('replace', takes('text, from, to', 3, 3, 'string'), {
    description: 'The text with every occurrence of one part replaced by another',
    example: [`replace('a-b-c', '-', '+')`, '"a+b+c"'],
    evaluate: ([text, from, to]) => replaceAll(textOf(text!), textOf(from!), textOf(to!)),
  }),
  define('coalesce', takes('value, …', 1, unlimited, 'argument'), {
    nulls: 'handled',
    description: 'The first value that is not null',
    example: ['coalesce(null, 2, 3)', '2'],
    evaluate: (args) => args.find((value) => value !== null) ?? null,
  }),
  define('nullif', takes('a, b', 2, 2, 'argument'), {
    nulls: 'handled',
    description: 'Null if both are equal, else the first',
    example: [`nullif('-', '-')`, 'null'],
    evaluate: ([a, b]) => (sameValue(a!, b!) ? null : a!),
  }),
  define('least', takes('value, …', 1, unlimited, 'argument'), {
    nulls: 'handled',
    description: 'The value that sorts first; nulls do not count',
    example: ['least(3, null, 2)', '2'],
    evaluate: (args) => extreme(args, -1),
  }),
  define('greatest', takes('value, …', 1, unlimited, 'argument'), {
    nulls: 'handled',
    description: 'The value that sorts last; nulls do not count',
    example: ['greatest(3, null, 2)', '3'],
    evaluate: (args) => extreme(args, 1),
  }),
  define('round', takes('number, digits?', 1, 2, 'number'), {
    description: 'Rounds to decimal digits, 0 if not said; halves go away from zero',
    example: ['round(2.345, 2)', '2.35'],
    evaluate: ([number, digits = 0]) => round(number!, digits),
  }),
  numeric('abs', 'The number without its sign', ['abs(-2.5)', '2.5'], absolute),
  numeric('floor', 'The next integer down', ['floor(-2.5)', '-3'], (x) => toWhole(x, Math.floor)),
  numeric('ceil', 'The next integer up', ['ceil(-2.5)', '-2'], (x) => toWhole(x, Math.ceil)),
  numeric('sqrt', 'The square root', ['sqrt(9)', '3'], (x) => onNumber(x, Math.sqrt)),
  numeric('ln', 'The natural logarithm', ['ln(1)', '0'], (x) => onNumber(x, Math.log)),
  numeric('exp', 'The exponential function', ['exp(0)', '1'], (x) => onNumber(x, Math.exp)),
  define('power', takes('base, exponent', 2, 2, 'number'), {
    aliases: ['pow'],
    description: 'The base raised to the exponent',
    example: ['power(2, 10)', '1024'],
    evaluate: ([base, exponent]) => power(base!, exponent!),
  }),
  define('to_string', takes('value', 1, 1, 'string'), {
    description: 'A string as it is, anything else as JSON',
    example: ['to_string([1, true])', '"[1,true]"'],
    evaluate: ([value]) => textOf(value!),
  }),
  define('to_number', takes('value', 1, 1, 'number'), {
    description: 'Reads a decimal number; booleans are 0 and 1',
    example: [`to_number('1.5')`, '1.5'],
    evaluate: ([value]) => toNumber(value!),
  }),
  define('to_integer', takes('value', 1, 1, 'integer'), {
    description: 'As to_number, without the fraction',
    example: [`to_integer('-1.9')`, '-1'],
    evaluate: ([value]) => toInteger(value!),
  }),
  define('to_boolean', takes('value', 1, 1, 'boolean'), {
    description: 'Reads true, false, 1 or 0; other numbers are true',
    example: [`to_boolean('TRUE')`, 'true'],
    evaluate: ([value]) => toBoolean(value!),
  }),
  define('to_date', takes('value', 1, 1, 'timestamp'), {
    description: 'The start of the day of a time',
    example: [`to_date('2024-05-17T10:42:31Z')`, '"2024-05-17T00:00:00Z"'],
    evaluate: ([value], { tzOffset }) => {
      const time = toTimestamp(value!)
      return time && new Timestamp(truncate('day', time.ms, tzOffset))
    },
  }),
  define('to_timestamp', takes('value', 1, 1, 'timestamp'), {
    aliases: ['to_datetime'],
    description: 'Reads an ISO 8601 time, or a number as seconds since 1970',
    example: ['to_timestamp(1715942551)', '"2024-05-17T10:42:31Z"'],
    evaluate: ([value]) => toTimestamp(value!),
  }),
]

const functionsByName = new Map(
  scalarFunctions.flatMap((entry) => [entry.name, ...entry.aliases].map((name) => [name, entry])),
)

/** Finds a function by its name or an alias, in lower case. */
export function scalarFunction(name: string): ScalarFunction | undefined {
  return functionsByName.get(name)
}

/** Calls a function by its rule for nulls. */
export function callScalar(
  scalar: ScalarFunction,
  args: readonly Value[],
  context: FunctionContext,
): Value {
  if (scalar.nulls === 'propagate' && args.includes(null)) return null
  return scalar.evaluate(args, context)
}

/** What `date_trunc` understands by its unit: `day`, `15 minutes`; undefined if it does not. */
export function parseTruncation(text: string): { count: number; unit: TimeUnit } | undefined {
  const match = /^(?:([1-9]\d{0,5}) +)?([a-z]+?)s?$/.exec(text.trim().toLowerCase())
  const unit = match && timeUnits.find((candidate) => candidate === match[2])
  if (!unit) return undefined
  const count = Number(match[1] ?? 1)
  return count > 1 && !isFixed(unit) ? undefined : { count, unit }
}

const timeUnits: readonly TimeUnit[] = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
]

function isFixed(unit: TimeUnit): unit is 'second' | 'minute' | 'hour' | 'day' {
  return unit === 'second' || unit === 'minute' || unit === 'hour' || unit === 'day'
}

function dateTrunc(unit: Value, time: Value, tzOffset: number): Value {
  const ms = timeOf(time)
  const truncation = typeof unit === 'string' ? parseTruncation(unit) : undefined
  if (ms === null || !truncation) return null
  const { count, unit: timeUnit } = truncation
  if (count > 1 && isFixed(timeUnit)) {
    return new Timestamp(truncateToMultiple(count, timeUnit, ms, tzOffset))
  }
  return new Timestamp(truncate(timeUnit, ms, tzOffset))
}

function extreme(args: readonly Value[], sign: 1 | -1): Value {
  const values = args.filter((value) => value !== null)
  return values.reduce<Value>(
    (best, value) => (best === null || orderValues(value, best) * sign > 0 ? value : best),
    null,
  )
}

/** Replacing the empty text would never end; it changes nothing. */
function replaceAll(text: string, from: string, to: string): string {
  return from === '' ? text : text.split(from).join(to)
}

function bucket(unit: TimeUnit, time: string, start: string): ScalarFunction {
  return define(unit, takes('time', 1, 1, 'timestamp'), {
    description: `Start of the ${unit} that the time lies in`,
    example: [`${unit}('${time}')`, `"${start}"`],
    evaluate: ([value], { tzOffset }) => {
      const ms = timeOf(value!)
      return ms === null ? null : new Timestamp(truncate(unit, ms, tzOffset))
    },
  })
}

function numeric(
  name: string,
  description: string,
  example: ScalarFunction['example'],
  apply: (number: Value) => Value,
): ScalarFunction {
  return define(name, takes('number', 1, 1, 'number'), {
    description,
    example,
    evaluate: ([number]) => apply(number!),
  })
}

function takes(
  signature: string,
  minArguments: number,
  maxArguments: number,
  result: ResultType,
): Shape {
  return { signature, minArguments, maxArguments, result }
}

function define(name: string, shape: Shape, body: Body): ScalarFunction {
  return { name, aliases: [], nulls: 'propagate', ...shape, ...body }
}
