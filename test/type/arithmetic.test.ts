import { describe, expect, it } from 'vitest'
import { arithmetic, negate } from '../../src/type/arithmetic.ts'
import { Interval, Timestamp, type Value } from '../../src/type/value.ts'

const day = 86_400_000
const epoch = new Timestamp(0)

describe('arithmetic', () => {
  it.each<[Parameters<typeof arithmetic>[0], Value, Value, Value]>([
    ['add', 1, 2, 3],
    ['sub', 1, 2, -1],
    ['mul', 2, 3.5, 7],
    ['div', 1, 2, 0.5],
    ['div', 1, 0, null],
    ['div', 0, 0, null],
    ['mod', 7, 3, 1],
    ['mod', -7, 3, -1],
    ['mod', 7, -3, 1],
    ['mod', 7.5, 2, 1.5],
    ['mod', 7, 0, null],
    ['add', true, true, 2],
    ['add', true, 1, 2],
    ['add', 1, null, null],
    ['add', null, null, null],
    ['add', '1', 1, null],
    ['add', 'a', 'b', null],
    ['add', [1], 1, null],
    ['mul', 1e200, 1e200, null],
    ['add', 9007199254740993n, 1, 9007199254740992 + 1],
    ['add', epoch, new Interval(0, day), new Timestamp(day)],
    ['add', new Interval(0, day), epoch, new Timestamp(day)],
    ['sub', epoch, new Interval(0, day), new Timestamp(-day)],
    ['sub', new Interval(0, day), epoch, null],
    ['sub', new Timestamp(day), epoch, new Interval(0, day)],
    ['add', epoch, epoch, null],
    ['add', epoch, 1, null],
    ['add', new Interval(1, 2), new Interval(3, 4), new Interval(4, 6)],
    ['sub', new Interval(1, 2), new Interval(3, 4), new Interval(-2, -2)],
    ['mul', new Interval(1, 2), 3, new Interval(3, 6)],
    ['mul', 0.5, new Interval(1, 0), new Interval(0, 15 * day)],
    ['div', new Interval(2, 0), 2, null],
    ['mul', new Interval(1, 0), 1e308, null],
    ['add', new Timestamp(8.64e15), new Interval(0, 1), null],
    ['add', new Timestamp(8.64e15), new Interval(1, 0), null],
  ])('%s %o %o is %o', (operator, a, b, expected) => {
    const result = arithmetic(operator, a, b)
    expect(result).toEqual(expected)
  })

  it.each<[Value, Value]>([
    [1, -1],
    [0, 0],
    [true, -1],
    [null, null],
    ['1', null],
    [9007199254740993n, -9007199254740993n],
    [new Interval(1, 2), new Interval(-1, -2)],
  ])('the negative of %o is %o', (value, expected) => {
    expect(negate(value)).toEqual(expected)
  })
})
