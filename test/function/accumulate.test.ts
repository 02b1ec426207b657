import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccumulator, percentileOf } from '../../src/function/accumulate.ts'
import {
  type AggregateName,
  aggregateFunction,
  aggregateFunctions,
} from '../../src/function/aggregate.ts'
import { canonicalJson } from '../../src/json/write.ts'
import { orderValues } from '../../src/type/compare.ts'
import { Interval, Timestamp, type Value } from '../../src/type/value.ts'
import { values } from '../support/arbitrary-value.ts'

function aggregate(name: AggregateName, input: readonly Value[], ...constants: Value[]): Value {
  const accumulator = createAccumulator(name, constants)
  for (const value of input) accumulator.add(value)
  return accumulator.result()
}

const mixed: Value[] = [3, null, 'b', true, [1], { a: 1 }, new Timestamp(0), 1, 'b', 1, false]

describe('aggregates', () => {
  it.each<[AggregateName, Value[], Value]>([
    ['count', [], 0],
    ['count', mixed, 10],
    ['count', [null, null], 0],
    ['sum', [], null],
    ['sum', [null, 'x', []], null],
    ['sum', mixed, 6],
    ['sum', [1e16, 1, -1e16], 1],
    ['sum', [0.1, 0.2, 0.3], 0.6],
    ['sum', [1e308, 1e308], null],
    ['sum', [true, true, false], 2],
    ['avg', [], null],
    ['avg', [1, 2, null, 'x'], 1.5],
    ['avg', [true, false], 0.5],
    ['min', [], null],
    ['min', [null], null],
    ['min', mixed, false],
    ['max', mixed, { a: 1 }],
    ['min', ['b', 'a'], 'a'],
    ['max', [9007199254740992, 9007199254740993n], 9007199254740993n],
    ['max', ['\uffff', '😀'], '😀'],
    ['count_distinct', [], 0],
    ['count_distinct', mixed, 8],
    [
      'count_distinct',
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      1,
    ],
    ['count_distinct', [1, true, '1', [1]], 4],
    ['median', [], null],
    ['median', [3, 1, 2], 2],
    ['median', [1, 2, 3, 4], 2.5],
    ['median', [true, '7'], null],
    ['any_value', [null], null],
    ['any_value', [null, 'a'], 'a'],
  ])('%s of %o is %o', (name, input, expected) => {
    expect(aggregate(name, input)).toEqual(expected)
  })

  it.each<[number, Value]>([
    [0, 10],
    [1, 40],
    [0.5, 25],
    [0.25, 17.5],
    [0.9, 37],
  ])('percentile %d of 10, 20, 30, 40 is %d', (share, expected) => {
    expect(aggregate('percentile', [30, 10, 40, 20], share)).toBe(expected)
  })

  it('interpolates between the ends of the doubles', () => {
    expect(percentileOf(Float64Array.of(-1.7e308, 1.7e308), 0.5)).toBe(0)
  })

  it('refuses a share outside of 0 to 1', () => {
    const check = aggregateFunction('percentile')!.checkConstants
    expect([0, 0.5, 1].map((share) => check([share]))).toEqual([undefined, undefined, undefined])
    expect(check([1.5])).toBe('p must be a number from 0 to 1')
    expect(check(['0.5'])).toBe('p must be a number from 0 to 1')
  })
})

describe('states', () => {
  const names = fc.constantFrom(...aggregateFunctions.map((entry) => entry.name))

  it('merge to what one accumulator would have seen', () => {
    fc.assert(
      fc.property(names, fc.array(fc.array(values, { maxLength: 6 })), (name, parts) => {
        const whole = createAccumulator(name, [0.3])
        const merged = createAccumulator(name, [0.3])
        for (const part of parts) {
          const partial = createAccumulator(name, [0.3])
          for (const value of part) {
            whole.add(value)
            partial.add(value)
          }
          merged.merge(structuredClone(partial.state()))
        }
        const [expected, result] = [whole.result(), merged.result()]
        if (typeof expected !== 'number' || typeof result !== 'number') {
          expect(canonicalJson(result)).toBe(canonicalJson(expected))
        } else {
          const scale = parts.flat().reduce<number>((sum, x) => sum + Math.abs(Number(x) || 0), 1)
          expect(Math.abs(result - expected)).toBeLessThanOrEqual(scale * 1e-15)
        }
      }),
    )
  })

  it('keep times, intervals and odd keys across threads', () => {
    const odd: Value[] = [
      new Timestamp(5),
      new Interval(1, 2),
      [new Timestamp(1)],
      JSON.parse('{"__proto__":[1],"a":{"b":null}}'),
      2n ** 64n,
      'x',
    ]
    for (const value of odd) {
      const source = createAccumulator('max', [])
      source.add(value)
      const target = createAccumulator('max', [])
      target.merge(structuredClone(source.state()))
      expect(orderValues(target.result(), value)).toBe(0)
    }
  })
})
