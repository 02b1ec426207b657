import fc from 'fast-check'
import type { Value } from '../../src/type/value.ts'

/** Few enough to meet often, odd enough to find mistakes. */
const words = ['', 'a', 'A', 'ab', 'b%', '_', '1', 'true', 'null', 'é', 'ß', '😀', 'hello world']

/** Halves of surrogate pairs, and what they are taken for where they are made bytes. */
const halves = ['\ud83d', '\ud83e', 'a\ude00', '\ude00', 'a\ufffd', '\ufffd', '\ue000']

/** Of which doubles do not have all microseconds, or that lie before 1970. */
export const farTimes = [
  '9999-12-31T23:59:59.999999Z',
  '9999-12-31T23:59:59.999998Z',
  '9999-12-31T23:59:59.999Z',
  '1969-12-31T23:59:59.999999Z',
  '0101-01-01T00:00:00.000001Z',
]

export const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.constantFrom(...halves) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
)

export const numbers: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom(0.5, 0.1, -2.5, 1e300, 5e-324, 2 ** 53, 123456.789) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
)

/** Integers that only a `bigint` holds. */
export const bigIntegers: fc.Arbitrary<bigint> = fc
  .tuple(fc.constantFrom(9007199254740993n, 2n ** 63n + 1n, 10n ** 40n + 1n), fc.boolean())
  .map(([integer, negative]) => (negative ? -integer : integer))

/** What full-text search looks for beside words. */
const signs = fc.constantFrom('a → b 🎉', 'C++ for €5', '👩‍💻👍🏽 🇩🇪 :)', 'a!=1 100%')

export const scalars: fc.Arbitrary<Value> = fc.oneof(
  { weight: 1, arbitrary: signs },
  { weight: 2, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 4, arbitrary: numbers.map((number) => number + 0) },
  { weight: 1, arbitrary: bigIntegers },
  { weight: 4, arbitrary: texts },
)

const keys = fc.constantFrom(
  ...['a', 'b', 'A', '', 'x.y', '😀', '\ud83d', '\ufffd'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
)

/** Any JSON, of small depth. */
export const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    { weight: 6, arbitrary: scalars },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.array(fc.tuple(keys, tie('value')), { maxLength: 3 }).map(toObject),
    },
  ),
})).value

/** Makes every key an own one, `__proto__` included. */
export function toObject(entries: readonly (readonly [string, Value])[]): Value {
  const object: Record<string, Value> = {}
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return object
}
