import { describe, expect, it } from 'vitest'
import { includes } from '../../src/type/includes.ts'
import { matchWords } from '../../src/type/text-match.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'

describe('includes', () => {
  it.each<[Value, Value, boolean | null]>([
    [null, 1, null],
    [[1], null, null],
    [[1, 2], 1, true],
    [[1, 2], 3, false],
    [[1, 2], '1', false],
    [[null], 1, false],
    [['a', 'b'], ['a', 'b'], true],
    [['a', 'b'], ['a', 'c'], false],
    [['a'], [], true],
    [5, [], true],
    [['a'], ['a', null], null],
    [['a'], ['b', null], false],
    [[[1, 2], [3]], [[1, 2]], true],
    [[[1, 2], [3]], [[1]], false],
    [[{ a: 1, b: 2 }], { a: 1 }, true],
    [[{ a: 1, b: 2 }], { a: 2 }, false],
    [[{ a: 1 }, 3], [{ a: 1 }, 3], true],
    [{ a: 1, b: { c: 2, d: 3 } }, { b: { c: 2 } }, true],
    [{ a: 1, b: { c: 2, d: 3 } }, { b: { c: 3 } }, false],
    [{ a: null }, { a: null }, true],
    [{ a: 1 }, { b: null }, false],
    [{ a: 1 }, {}, true],
    [{ a: [1, 2] }, { a: [1] }, false],
    [{ a: 'x', b: 'y' }, 'x', true],
    [{ a: 'x', b: 'y' }, 'a', false],
    [{ a: 'x', b: 'y' }, ['x', 'y'], true],
    ['hello', 'ell', true],
    ['hello', 'ELL', false],
    ['hello', ['he', 'lo'], true],
    ['hello', '', true],
    ['1', 1, false],
    [12, 1, false],
    [12, '1', false],
    [true, true, false],
    [[new Timestamp(0)], '1970-01-01', true],
  ])('%j includes %j is %j', (haystack, needle, expected) => {
    expect(includes(haystack, needle)).toBe(expected)
  })

  it('does not find what only a prototype has', () => {
    expect(includes({ a: 1 }, JSON.parse('{"__proto__":{}}'))).toBe(false)
    expect(includes({ a: 1 }, { constructor: {} })).toBe(false)
  })
})

describe('match', () => {
  it.each<[Value, Value, boolean | null]>([
    ['An Apple a day', 'apple', true],
    ['An Apple a day', 'app', false],
    ['value-added', 'value', true],
    ['An Apple a day', 'day an', true],
    ['An Apple a day', 'day night', false],
    ['Größe', 'GRÖSSE', true],
    ['Größe', 'größe', true],
    ['gpt4 rocks', 'gpt', false],
    [['red', 'green'], 'green', true],
    [{ question: 'why?' }, 'question why', true],
    ['anything', '', false],
    ['anything', '!?', false],
    [404, '404', true],
    [null, 'a', null],
    ['a', null, null],
  ])('%j match %j is %j', (value, query, expected) => {
    expect(matchWords(value, query)).toBe(expected)
  })
})
