import { describe, expect, it } from 'vitest'
import { toAssayError } from '../../src/error.ts'
import { callScalar, scalarFunction, scalarFunctions } from '../../src/function/scalar.ts'
import { parseTruncation } from '../../src/function/time.ts'
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
    ['to_interval', ['1 day 2 hours'], '"P1DT2H"'],
    ['to_interval', ['2 weeks, 1.5 hours'], '"P14DT1H30M"'],
    ['to_interval', ['P1Y-2MT-3S'], '"P10MT-3S"'],
    ['to_interval', ['-P1D'], '"P-1D"'],
    ['to_interval', [90.5], '"PT1M30.5S"'],
    ['to_interval', ['P'], 'null'],
    ['to_interval', ['PT'], 'null'],
    ['to_interval', ['1 fortnight'], 'null'],
    ['to_interval', ['1'], 'null'],
    ['to_interval', ['999999999 years'], 'null'],
    ['to_interval', [1e300], 'null'],
    ['left', ['abc', 5], '"abc"'],
    ['left', ['abc', -5], '""'],
    ['right', ['a😀', 1], '"😀"'],
    ['right', ['abc', 0], '""'],
    ['right', ['abc', -5], '""'],
    ['split', ['', ','], '[""]'],
    ['split', ['', ''], '[]'],
    ['split_part', ['a,b', ',', 1.5], 'null'],
    ['position', ['aé😀', '😀'], '3'],
    ['trim', ['xxaxx', ''], '"xxaxx"'],
    ['lpad', ['a', 3, ''], '"a"'],
    ['lpad', ['abc', -1], '""'],
    ['repeat', ['', 1e300], '""'],
    ['levenshtein', ['😀', 'a'], '1'],
    ['trunc', [-0.5], '0'],
    ['trunc', [1.999, 2], '1.99'],
    ['trunc', [9007199254740993n], '9007199254740993'],
    ['sign', [-9007199254740993n], '-1'],
    ['sign', [-0], '0'],
    ['log', [2, 0], 'null'],
    ['log', [1, 5], 'null'],
    ['json_extract', ['{"a":[{"b c":1}]}', 'a[0].b c'], '1'],
    ['json_extract', ['{"a":{"b.c":1}}', 'a["b.c"]'], '1'],
    ['json_extract', ['{"a":{"b.c":1}}', 'a."b.c"'], '1'],
    ['json_extract', [`{"it's":1}`, `["it's"]`], '1'],
    ['json_extract', ['[1,2]', '[-1]'], '2'],
    ['json_extract', ['[1,2]', '$[0]'], '1'],
    ['json_extract', ['{"$":1}', '$'], '1'],
    ['json_extract', ['{"a":1}', '$a'], 'null'],
    ['json_extract', ['{"a":1}', '.a'], 'null'],
    ['json_extract', ['{"a":1}', 'a.'], 'null'],
    ['json_extract', ['{"a":{"":1}}', 'a[""]'], '1'],
    ['json_extract', ['{"__proto__":1}', '__proto__'], '1'],
    ['json_extract', ['{}', 'constructor'], 'null'],
    ['json_parse', [' [1]\n'], '[1]'],
    ['json_parse', ['nul'], 'null'],
    ['json_parse', ['[[['], 'null'],
    ['json_parse', ['['.repeat(5000)], 'null'],
    ['slice', [[1, 2, 3], -2, -1], '[2]'],
    ['array_contains', [[1], 1], 'true'],
    ['array_contains', ['a', 'a'], 'null'],
    [
      'array_distinct',
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
      '[{"a":1,"b":2}]',
    ],
    ['vector', [[1, 'a']], 'null'],
    ['vector', [[]], '[]'],
    ['date_part', ['week', '2021-01-03'], '53'],
    ['date_part', ['DOW', '2024-05-19'], '0'],
    ['date_part', ['second', '1969-12-31T23:59:59.25Z'], '59.25'],
    ['date_part', ['era', at], 'null'],
    ['date_diff', ['quarter', '2024-03-31', '2024-04-01'], '1'],
    ['date_diff', ['month', '2024-01-01', '2023-12-31'], '-1'],
    ['date_diff', ['week', '2024-05-19', '2024-05-20'], '1'],
    ['date_diff', ['microsecond', '2024-05-19', '2024-05-19T00:00:00.000002Z'], '2'],
    ['date_diff', ['day', 'never', at], 'null'],
    ['regexp_match', ['a', '('], 'null'],
    ['regexp_match', ['a', 'A', 'i'], 'true'],
    ['regexp_match', ['a', 1], 'null'],
    ['regexp_match', ['a', 'a', 'x'], 'null'],
    ['regexp_count', ['ab', ''], '3'],
    ['regexp_extract', ['ab', 'a(x)?'], 'null'],
    ['regexp_extract', ['ab', '(?P<n>b)', 'n'], '"b"'],
    ['regexp_extract', ['ab', '(b)', 2], 'null'],
    ['regexp_replace', ['ab', 'b', '$1'], 'null'],
    ['regexp_replace', ['ab', 'x', 'y'], '"ab"'],
    ['regexp_replace', ['b', 'b', ''], '""'],
    ['regexp_replace', ['😀😀', '😀', 'a'], '"aa"'],
    ['hash_fraction', ['a', 'seed'], 'null'],
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

  it('takes any kind of value, and fails only where a result would be too long', () => {
    const odd: Value[] = [null, true, -0, 1e308, 2n ** 70n, '', '😀', at, [], [1], {}, { a: 1 }]
    for (const scalar of scalarFunctions) {
      for (const a of odd) {
        for (const b of odd) {
          const count = Math.min(Math.max(2, scalar.minArguments), scalar.maxArguments)
          const args = [a, b, a].slice(0, count)
          const result = limited(() => callScalar(scalar, args, { now, tzOffset: 0 }))
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

/** What is computed, or null where it would take too much memory. */
function limited(compute: () => Value): Value {
  try {
    return compute()
  } catch (thrown) {
    expect(toAssayError(thrown).code).toBe('LIMIT_MEMORY')
    return null
  }
}

describe('functions that make long texts of short ones', () => {
  it.each<[string, Value[]]>([
    ['repeat', ['ab', 2 ** 23 + 1]],
    ['lpad', ['a', 2 ** 24 + 1]],
    ['rpad', ['a', 2 ** 24 + 1, 'xy']],
    ['replace', ['a'.repeat(5000), 'a', 'b'.repeat(5000)]],
    ['regexp_replace', ['a'.repeat(5000), 'a', 'b'.repeat(5000)]],
    ['array_join', [Array.from({ length: 5000 }, () => 'a'), 'b'.repeat(5000)]],
    ['levenshtein', ['a'.repeat(5001), 'b'.repeat(5000)]],
  ])('%s has a limit', (name, args) => {
    expect(() => call(name, args)).toThrow(expect.objectContaining({ code: 'LIMIT_MEMORY' }))
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
