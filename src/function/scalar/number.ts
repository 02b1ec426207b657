/** Functions of numbers. What is no number, or has no finite result, gives null. */
import { arithmetic } from '../../type/arithmetic.ts'
import type { Value } from '../../type/value.ts'
import {
  absolute,
  logarithm,
  onNumber,
  power,
  round,
  signOf,
  toWhole,
  truncateNumber,
} from '../number.ts'
import { define, type ScalarFunction, takes } from './definition.ts'

export const numberFunctions: readonly ScalarFunction[] = [
  define('round', takes('number, digits?', 1, 2, 'number'), {
    description: 'Rounds to decimal digits, 0 if not said; halves go away from zero',
    example: ['round(2.345, 2)', '2.35'],
    evaluate: ([number, digits = 0]) => round(number!, digits),
  }),
  define('trunc', takes('number, digits?', 1, 2, 'number'), {
    aliases: ['truncate'],
    description: 'Cuts off what comes after so many decimal digits, 0 if not said',
    example: ['trunc(-2.57, 1)', '-2.5'],
    evaluate: ([number, digits = 0]) => truncateNumber(number!, digits),
  }),
  numeric('abs', 'The number without its sign', ['abs(-2.5)', '2.5'], absolute),
  numeric('sign', '-1, 0 or 1', ['sign(-2.5)', '-1'], signOf),
  numeric('floor', 'The next integer down', ['floor(-2.5)', '-3'], (x) => toWhole(x, Math.floor)),
  numeric('ceil', 'The next integer up', ['ceil(-2.5)', '-2'], (x) => toWhole(x, Math.ceil), [
    'ceiling',
  ]),
  numeric('sqrt', 'The square root', ['sqrt(9)', '3'], (x) => onNumber(x, Math.sqrt)),
  numeric('cbrt', 'The cube root', ['cbrt(-27)', '-3'], (x) => onNumber(x, Math.cbrt)),
  numeric('ln', 'The natural logarithm', ['ln(1)', '0'], (x) => onNumber(x, Math.log)),
  define('log', takes('base?, number', 1, 2, 'number'), {
    description: 'The logarithm to a base, 10 if not said',
    example: ['log(1000)', '3'],
    evaluate: ([first, second]) =>
      second === undefined ? onNumber(first!, Math.log10) : logarithm(first!, second),
  }),
  numeric('log10', 'The logarithm to the base 10', ['log10(0.01)', '-2'], (x) =>
    onNumber(x, Math.log10),
  ),
  numeric('log2', 'The logarithm to the base 2', ['log2(8)', '3'], (x) => onNumber(x, Math.log2)),
  numeric('exp', 'The exponential function', ['exp(0)', '1'], (x) => onNumber(x, Math.exp)),
  define('power', takes('base, exponent', 2, 2, 'number'), {
    aliases: ['pow'],
    description: 'The base raised to the exponent',
    example: ['power(2, 10)', '1024'],
    evaluate: ([base, exponent]) => power(base!, exponent!),
  }),
  define('mod', takes('a, b', 2, 2, 'number'), {
    description: 'What is left of a when it is divided by b, with the sign of a',
    example: ['mod(-7, 3)', '-1'],
    evaluate: ([a, b]) => arithmetic('mod', a!, b!),
  }),
  define('pi', takes('', 0, 0, 'number'), {
    description: 'The circle’s circumference by its diameter',
    example: ['round(pi(), 5)', '3.14159'],
    evaluate: () => Math.PI,
  }),
]

function numeric(
  name: string,
  description: string,
  example: ScalarFunction['example'],
  apply: (number: Value) => Value,
  aliases: readonly string[] = [],
): ScalarFunction {
  return define(name, takes('number', 1, 1, 'number'), {
    aliases,
    description,
    example,
    evaluate: ([number]) => apply(number!),
  })
}
