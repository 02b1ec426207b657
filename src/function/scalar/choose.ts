/** Functions that choose among their arguments, or tell what they are. */
import { orderValues, sameValue } from '../../type/compare.ts'
import { kindOf, type Value } from '../../type/value.ts'
import { define, type ScalarFunction, takes, unlimited } from './definition.ts'

export const choosingFunctions: readonly ScalarFunction[] = [
  define('coalesce', takes('value, …', 1, unlimited, 'argument'), {
    aliases: ['ifnull'],
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
  define('if', takes('condition, a, b?', 2, 3, 'json'), {
    aliases: ['iff'],
    nulls: 'handled',
    description: 'The first value if the condition is true, else the second, or null without one',
    example: [`if(1 < 2, 'yes', 'no')`, '"yes"'],
    evaluate: ([condition, a, b = null]) => (condition === true ? a! : b),
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
  define('typeof', takes('value', 1, 1, 'string'), {
    nulls: 'handled',
    description:
      'The kind of a value: null, boolean, number, string, array, object, timestamp or interval',
    example: [`typeof([1, 'a'])`, '"array"'],
    evaluate: ([value]) => kindOf(value!),
  }),
]

function extreme(args: readonly Value[], sign: 1 | -1): Value {
  const values = args.filter((value) => value !== null)
  return values.reduce<Value>(
    (best, value) => (best === null || orderValues(value, best) * sign > 0 ? value : best),
    null,
  )
}
