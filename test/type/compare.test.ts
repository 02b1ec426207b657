import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/json/utf8.ts'
import { compare, compareText, equals, orderValues } from '../../src/type/compare.ts'
import { Interval, Timestamp, type Value } from '../../src/type/value.ts'
import { canonicalJson } from '../../src/type/write-json.ts'
import { values } from '../support/arbitrary-value.ts'

const noon = new Timestamp(Date.UTC(2024, 0, 1, 12))

describe('equals', () => {
  it.each<[Value, Value, boolean | null]>([
    [1, 1, true],
    [1, 2, false],
    [0, -0, true],
    [1, true, false],
    [1, '1', false],
    ['a', 'a', true],
    ['a', 'A', false],
    [null, null, null],
    [null, 1, null],
    [9007199254740993n, 9007199254740993n, true],
    [9007199254740993n, 9007199254740992, false],
    [[1, null], [1, null], true],
    [[1, 2], [2, 1], false],
    [[1], 1, false],
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: null }, false],
    [{}, [], false],
    [noon, '2024-01-01T12:00:00Z', true],
    ['2024-01-01T13:00:00+01:00', noon, true],
    [noon, '2024-01-01', false],
    [noon, 'noon', null],
    [noon, noon.ms, false],
    [new Interval(1, 0), new Interval(1, 0), true],
    [new Interval(1, 0), new Interval(0, 30 * 86_400_000), false],
    [[noon], ['2024-01-01T12:00:00Z'], true],
    [[noon], ['noon'], false],
  ])('%o = %o is %o', (a, b, expected) => {
    expect(equals(a, b)).toBe(expected)
    expect(equals(b, a)).toBe(expected)
  })

  it('takes keys from objects alone, never from their prototypes', () => {
    expect(equals(JSON.parse('{"__proto__":1}'), { toString: 1 })).toBe(false)
    expect(equals(JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}'))).toBe(true)
  })
})

describe('compare', () => {
  it.each<[Value, Value, boolean | null, boolean | null]>([
    [1, 2, true, true],
    [2, 2, false, true],
    [3, 2, false, false],
    [1, null, null, null],
    [null, null, null, null],
    [1, '2', null, null],
    [true, 2, null, null],
    [false, true, true, true],
    ['a', 'b', true, true],
    ['a', 'aa', true, true],
    ['\uffff', '😀', true, true],
    [9007199254740992, 9007199254740993n, true, true],
    [-9007199254740993n, -9007199254740992, true, true],
    [noon, '2024-01-02', true, true],
    ['2024-01-02', noon, false, false],
    [noon, 'later', null, null],
    [new Interval(0, 5), new Interval(0, 6), true, true],
    [[1, 2], [1, 3], true, true],
    [{ b: 1, a: 2 }, { a: 2, b: 1 }, false, true],
    [[1], { a: 1 }, null, null],
  ])('%o against %o: < is %o, <= is %o', (a, b, less, atMost) => {
    expect(compare('lt', a, b)).toBe(less)
    expect(compare('le', a, b)).toBe(atMost)
    expect(compare('gt', b, a)).toBe(less)
    expect(compare('ge', b, a)).toBe(atMost)
    expect(compare('ge', a, b)).toBe(less === null ? null : !less)
  })

  it.each<[Value, Value, boolean]>([
    [null, null, true],
    [null, 0, false],
    [0, null, false],
    [1, 1, true],
    [1, '1', false],
    [noon, 'noon', false],
  ])('%o <=> %o is %o and is never unknown', (a, b, same) => {
    expect(compare('is_same', a, b)).toBe(same)
    expect(compare('is_different', a, b)).toBe(!same)
  })

  it('makes != unknown with null and true between kinds', () => {
    expect(compare('ne', 1, null)).toBe(null)
    expect(compare('ne', 1, '1')).toBe(true)
    expect(compare('ne', noon, 'noon')).toBe(null)
  })
})

describe('orderValues', () => {
  it('orders kinds one after the other', () => {
    const sorted: Value[] = [
      false,
      true,
      -1,
      0.5,
      9007199254740993n,
      new Timestamp(0),
      noon,
      new Interval(0, 1),
      new Interval(1, 0),
      '',
      'a',
      '\uffff',
      '😀',
      [],
      [1],
      {},
      { a: 1 },
    ]
    for (let i = 0; i < sorted.length; i++) {
      for (let j = 0; j < sorted.length; j++) {
        const order = orderValues(sorted[i]!, sorted[j]!)
        // Arrays and objects go by their JSON, where "[1]" comes before "[]".
        if (i >= 13 && j >= 13) continue
        expect(Math.sign(order), `${i} against ${j}`).toBe(Math.sign(i - j))
      }
    }
    expect(orderValues([1], [])).toBeLessThan(0)
  })

  it('is a total order whose ties are the same value', () => {
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        expect(Math.sign(orderValues(a, b))).toBe(-Math.sign(orderValues(b, a)) + 0)
        expect(orderValues(a, b) === 0).toBe(canonicalJson(a) === canonicalJson(b))
        if (orderValues(a, b) <= 0 && orderValues(b, c) <= 0) {
          expect(orderValues(a, c)).toBeLessThanOrEqual(0)
        }
      }),
    )
  })

  it('agrees with equality', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        if (equals(a, b) !== null) expect(equals(a, b)).toBe(orderValues(a, b) === 0)
        if (a !== null) expect(equals(a, structuredClone(a))).toBe(true)
      }),
    )
  })
})

describe('compareText', () => {
  it('orders like the bytes of UTF-8, and halves of surrogate pairs by their code points', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2 }),
      fc.constantFrom('a', '\ud83d', '\ud83e', '\ude00', '\udd23', '\ue000', '\ufffd', '😀'),
    )
    const texts = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''))
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const bytes = Buffer.compare(encodeUtf8(a), encodeUtf8(b))
        expect(Math.sign(compareText(a, b))).toBe(bytes)
        expect(bytes === 0).toBe(a === b)
      }),
    )
  })
})
