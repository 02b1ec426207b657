import { describe, expect, it } from 'vitest'
import {
  callScalar,
  parseTruncation,
  scalarFunction,
  scalarFunctions,
} from '../../src/function/scalar.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'
import { canonicalJson, writeJson } from '../../src/type/write-json.ts'

const now = Date.UTC(2024, 4, 17, 10, 42, 31, 250)

function call(name: string, args: readonly Value[], tzOffset = 0): Value {
  return callScalar(scalarFunction(name)!, args, { now, tzOffset })
}

const at = new Timestamp(now)

describe('scalar functions', () => {
  it.each<[string, Value[], string]>([
    ['day', [at], '"2024-05-17T00:00:00Z"'],
    ['day', ['2024-05-17T10:42:31Z'], '"2024-05-17T00:00:00Z"'],
    ['day', ['yesterday'], 'null'],
    ['day', [1715942551], 'null'],
    ['day', [null], 'null'],
    ['now', [], '"2024-05-17T10:42:31.250Z"'],
    ['current_timestamp', [], '"2024-05-17T10:42:31.250Z"'],
    ['current_date', [], '"2024-05-17T00:00:00Z"'],
    ['date_trunc', ['day', at], '"2024-05-17T00:00:00Z"'],
    ['date_trunc', ['WEEKS', at], '"2024-05-13T00:00:00Z"'],
    ['date_trunc', ['15 minutes', at], '"2024-05-17T10:30:00Z"'],
    ['date_trunc', ['2 months', at], 'null'],
    ['date_trunc', ['fortnight', at], 'null'],
    ['lower', ['ÄB'], '"äb"'],
    ['upper', ['äb'], '"ÄB"'],
    ['lower', [true], '"true"'],
    ['concat', ['a', 1, null, true, [1]], '"a1true[1]"'],
    ['concat', [null], '""'],
    ['length', ['a😀b'], '3'],
    ['len', [[1, 2]], '2'],
    ['length', [{ a: 1 }], '1'],
    ['length', [12], 'null'],
    ['contains', [['a'], 'a'], 'true'],
    ['includes', [{ a: 'x' }, 'y'], 'false'],
    ['starts_with', ['abc', 'ab'], 'true'],
    ['ends_with', ['abc', 'ab'], 'false'],
    ['substring', ['hello', 2], '"ello"'],
    ['substring', ['hello', 2, 3], '"ell"'],
    ['substring', ['hello', 0, 2], '"h"'],
    ['substring', ['hello', -5, 2], '""'],
    ['substring', ['hello', 9], '""'],
    ['substring', ['hello', 2, -1], '""'],
    ['substring', ['a😀b', 2, 1], '"😀"'],
    ['substring', ['hello', 2, null], 'null'],
    ['substring', ['hello', 'x'], 'null'],
    ['trim', ['\n a\t'], '"a"'],
    ['replace', ['aaa', 'aa', 'b'], '"ba"'],
    ['replace', ['abc', '', 'x'], '"abc"'],
    ['replace', ['a$1', '$1', '$&'], '"a$&"'],
    ['coalesce', [null, null], 'null'],
    ['coalesce', [null, 0, 1], '0'],
    ['nullif', [1, 1], 'null'],
    ['nullif', [1, 2], '1'],
    ['nullif', [null, 1], 'null'],
    ['nullif', [1, null], '1'],
    ['least', [2, null, 1], '1'],
    ['greatest', ['b', 'a', null], '"b"'],
    ['greatest', [1, 'a'], '"a"'],
    ['least', [null], 'null'],
    ['round', [2.5], '3'],
    ['round', [-2.5], '-3'],
    ['round', [0.5], '1'],
    ['round', [1.005, 2], '1.01'],
    ['round', [1234.5, -2], '1200'],
    ['round', [-0.4], '0'],
    ['round', [1e300, 5], '1e+300'],
    ['round', [1e-300, 2], '0'],
    ['round', [0.1, 500], '0.1'],
    ['round', [9007199254740993n], '9007199254740993'],
    ['round', ['2.5'], 'null'],
    ['round', [2.5, 0.5], 'null'],
    ['round', [2.5, null], 'null'],
    ['abs', [-2], '2'],
    ['abs', [-9007199254740993n], '9007199254740993'],
    ['floor', [-0.5], '-1'],
    ['ceil', [0.5], '1'],
    ['ceil', ['0.5'], 'null'],
    ['sqrt', [-1], 'null'],
    ['ln', [0], 'null'],
    ['exp', [1000], 'null'],
    ['power', [2, 0.5], '1.4142135623730951'],
    ['power', [0, -1], 'null'],
    ['to_string', [at], '"2024-05-17T10:42:31.250Z"'],
    ['to_string', [{ a: null }], '"{\\"a\\":null}"'],
    ['to_number', [' 1.5e3 '], '1500'],
    ['to_number', ['.5'], '0.5'],
    ['to_number', ['9007199254740993'], '9007199254740993'],
    ['to_number', ['0x10'], 'null'],
    ['to_number', [''], 'null'],
    ['to_number', ['1e999'], 'null'],
    ['to_number', ['Infinity'], 'null'],
    ['to_number', [true], '1'],
    ['to_number', [[1]], 'null'],
    ['to_integer', [2.9], '2'],
    ['to_integer', ['-2.9'], '-2'],
    ['to_boolean', [' False '], 'false'],
    ['to_boolean', ['maybe'], 'null'],
    ['to_boolean', [0], 'false'],
    ['to_boolean', [-1], 'true'],
    ['to_date', [at], '"2024-05-17T00:00:00Z"'],
    ['to_date', ['nope'], 'null'],
    ['to_timestamp', ['2024-05-17'], '"2024-05-17T00:00:00Z"'],
    ['to_datetime', [0.5], '"1970-01-01T00:00:00.500Z"'],
    ['to_timestamp', [1e300], 'null'],
    ['to_timestamp', [true], 'null'],
  ])('%s(%o) is %s', (name, args, expected) => {
    expect(writeJson(call(name, args))).toBe(expected)
  })

  it('shifts days by the distance of the clock from UTC', () => {
    const offset = 660
    expect(writeJson(call('day', [at], offset))).toBe('"2024-05-16T11:00:00Z"')
    expect(writeJson(call('current_date', [], offset))).toBe('"2024-05-16T11:00:00Z"')
    expect(writeJson(call('to_date', [at], offset))).toBe('"2024-05-16T11:00:00Z"')
  })

  it('gives null for a null argument wherever the table says so', () => {
    for (const scalar of scalarFunctions.filter((entry) => entry.nulls === 'propagate')) {
      for (let i = 0; i < scalar.minArguments; i++) {
        const args: Value[] = Array.from({ length: scalar.minArguments }, () => 'a')
        args[i] = null
        expect(callScalar(scalar, args, { now, tzOffset: 0 }), scalar.name).toBe(null)
      }
    }
  })

  it('takes any kind of value without failing', () => {
    const odd: Value[] = [null, true, -0, 1e308, 2n ** 70n, '', '😀', at, [], [1], {}, { a: 1 }]
    for (const scalar of scalarFunctions) {
      for (const a of odd) {
        for (const b of odd) {
          const count = Math.min(Math.max(2, scalar.minArguments), scalar.maxArguments)
          const args = [a, b, a].slice(0, count)
          const result = callScalar(scalar, args, { now, tzOffset: 0 })
          expect(canonicalJson(result), scalar.name).not.toMatch(/NaN|Infinity|undefined/)
        }
      }
    }
  })

  it('has no name twice', () => {
    const names = scalarFunctions.flatMap((scalar) => [scalar.name, ...scalar.aliases])
    expect(new Set(names).size).toBe(names.length)
    expect(scalarFunction('no_such')).toBeUndefined()
    expect(scalarFunction('constructor')).toBeUndefined()
  })
})

describe('parseTruncation', () => {
  it.each<[string, ReturnType<typeof parseTruncation>]>([
    ['day', { count: 1, unit: 'day' }],
    ['Days', { count: 1, unit: 'day' }],
    [' 2 hours ', { count: 2, unit: 'hour' }],
    ['1 week', { count: 1, unit: 'week' }],
    ['2 weeks', undefined],
    ['0 hours', undefined],
    ['-1 hours', undefined],
    ['1.5 hours', undefined],
    ['hourss', undefined],
    ['', undefined],
  ])('%j', (text, expected) => {
    expect(parseTruncation(text)).toEqual(expected)
  })
})
