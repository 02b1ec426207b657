import { describe, expect, it } from 'vitest'
import { and, inList, not, or } from '../../src/type/logic.ts'
import { Timestamp, type Value } from '../../src/type/value.ts'

const three = [true, false, null]

describe('three-valued logic', () => {
  it.each<[Value, Value, boolean | null, boolean | null]>([
    [true, true, true, true],
    [true, false, false, true],
    [true, null, null, true],
    [false, false, false, false],
    [false, null, false, null],
    [null, null, null, null],
    [1, true, null, true],
    ['true', false, false, null],
  ])('%j with %j: and is %j, or is %j', (a, b, both, either) => {
    expect([and(a, b), and(b, a)]).toEqual([both, both])
    expect([or(a, b), or(b, a)]).toEqual([either, either])
  })

  it('negates true and false alone', () => {
    expect([true, false, null, 0, 'x', []].map(not)).toEqual([false, true, null, null, null, null])
  })

  it('keeps the laws of De Morgan', () => {
    for (const a of three) {
      for (const b of three) {
        expect(not(and(a, b))).toBe(or(not(a), not(b)))
        expect(not(or(a, b))).toBe(and(not(a), not(b)))
      }
    }
  })
})

describe('in', () => {
  it.each<[Value, Value, boolean | null]>([
    [1, [1, 2], true],
    [3, [1, 2], false],
    [3, [1, null], null],
    [1, [1, null], true],
    [null, [1], null],
    [null, [], null],
    [1, [], false],
    ['1', [1], false],
    [[1], [[1]], true],
    [1, 1, null],
    [1, null, null],
    [new Timestamp(0), ['x', '1970-01-01'], true],
    [new Timestamp(0), ['x'], null],
  ])('%j in %j is %j', (x, list, expected) => {
    expect(inList(x, list)).toBe(expected)
  })
})
