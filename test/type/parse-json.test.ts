import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requireUtf8 } from '../../src/json/utf8.ts'
import { parseJson, parseJsonBytes } from '../../src/type/parse-json.ts'
import { Interval, Timestamp, type Value } from '../../src/type/value.ts'
import { canonicalJson, writeJson } from '../../src/type/write-json.ts'

/** JSON text without integers past 2^53. */
const json = fc.json({ maxDepth: 5 }).filter((text) => !/\d{16}/.test(text))

describe('parsing', () => {
  test('is JSON.parse for all but long integers', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('is so when a long integer stands somewhere in the text', () => {
    fc.assert(
      fc.property(json, (text) => {
        const [value, long] = parseJson(`[${text}, 12345678901234567890]`) as [Value, Value]
        expect(value).toEqual(JSON.parse(text))
        expect(long).toBe(12345678901234567890n)
      }),
    )
  })

  test.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740992', -9007199254740992],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740994', 9007199254740994n],
    ['100000000000000000000', 100000000000000000000n],
    ['1e20', 1e20],
    ['10000000000000000000.0', 1e19],
    ['0.500000000000000000000', 0.5],
    ['-0', -0],
    ['1e999', Number.POSITIVE_INFINITY],
    ['"12345678901234567890"', '12345678901234567890'],
  ])('%s', (text, expected) => {
    expect(parseJson(text)).toBe(expected)
    expect(parseJsonBytes(Buffer.from(`[${text}]`), 1, 1 + text.length)).toBe(expected)
  })

  test('__proto__ is an ordinary own key', () => {
    for (const text of ['{"__proto__":1,"a":2}', '{"__proto__":12345678901234567890,"a":2}']) {
      const value = parseJson(text) as Record<string, Value>
      expect(Object.keys(value)).toEqual(['__proto__', 'a'])
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(writeJson(value)).toBe(text)
    }
  })

  test('of duplicate keys the last wins', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(parseJson('{"a":1,"a":12345678901234567890}')).toEqual({ a: 12345678901234567890n })
  })

  test('says where the text is not JSON', () => {
    expect(() => parseJson('{"a":tru}')).toThrow(
      'not JSON: expected a JSON value at byte 5, found "t"',
    )
    expect(() => parseJson('[12345678901234567890')).toThrow('at byte 21, found the end')
  })

  test('refuses what nests too deep, with and without long integers', () => {
    const deep = (inner: string) => '['.repeat(1001) + inner + ']'.repeat(1001)
    expect(() => parseJson(deep('1'))).toThrow('nests deeper')
    expect(() => parseJson(deep('12345678901234567890'))).toThrow('nests deeper')
    expect(() => parseJson('['.repeat(200_000))).toThrow('nests deeper')
  })

  test('bytes that are not UTF-8 are refused', () => {
    expect(() => requireUtf8(Buffer.from([0x22, 0xff, 0x22]))).toThrow('not encoded in UTF-8')
    requireUtf8(Buffer.from('"é😀"'))
  })
})

describe('writing', () => {
  test.each([
    [1, '1'],
    [-0, '0'],
    [1e21, '1e+21'],
    [0.1, '0.1'],
    [Number.NaN, 'null'],
    [Number.NEGATIVE_INFINITY, 'null'],
    [12345678901234567890n, '12345678901234567890'],
    ['a"\n\ud800', '"a\\"\\n\\ud800"'],
    [null, 'null'],
    [true, 'true'],
    [[1, [], {}], '[1,[],{}]'],
    [{ b: 1, a: [null] }, '{"b":1,"a":[null]}'],
    [new Timestamp(0), '"1970-01-01T00:00:00Z"'],
    [new Timestamp(1.5), '"1970-01-01T00:00:00.001500Z"'],
    [{ d: new Interval(14, 90_000) }, '{"d":"P1Y2MT1M30S"}'],
  ] as [Value, string][])('%s', (value, expected) => {
    expect(writeJson(value)).toBe(expected)
  })

  test('reads back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(writeJson(value as Value)).toBe(JSON.stringify(value))
      }),
    )
  })
})

describe('canonical text', () => {
  test('does not depend on the order of keys', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
  })

  test('is shared by equal numbers only', () => {
    expect(canonicalJson(1e20)).toBe(canonicalJson(100000000000000000000n))
    expect(canonicalJson(9007199254740992)).not.toBe(canonicalJson(9007199254740993n))
    expect(canonicalJson(1e300)).toBe(canonicalJson(BigInt(1e300)))
    expect(canonicalJson(-0)).toBe(canonicalJson(0))
    expect(canonicalJson(1)).not.toBe(canonicalJson('1'))
    expect(canonicalJson(new Timestamp(0))).not.toBe(canonicalJson('1970-01-01T00:00:00Z'))
  })
})
