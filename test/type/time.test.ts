import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addInterval,
  compareTimes,
  formatInterval,
  formatTimestamp,
  intervalBetween,
  microsecondsOf,
  parseTimestamp,
  type TimeUnit,
  toInterval,
  truncate,
  truncateToMultiple,
} from '../../src/type/time.ts'
import { Interval, Timestamp } from '../../src/type/value.ts'

describe('parseTimestamp', () => {
  it.each<[string, string]>([
    ['2024-05-17', '2024-05-17T00:00:00.000Z'],
    ['2024-05-17T10:42', '2024-05-17T10:42:00.000Z'],
    ['2024-05-17T10:42:31', '2024-05-17T10:42:31.000Z'],
    ['2024-05-17 10:42:31', '2024-05-17T10:42:31.000Z'],
    ['2024-05-17T10:42:31Z', '2024-05-17T10:42:31.000Z'],
    ['2024-05-17T10:42:31.5Z', '2024-05-17T10:42:31.500Z'],
    ['2024-05-17T10:42:31.123Z', '2024-05-17T10:42:31.123Z'],
    ['2024-05-17T10:42:31+02:00', '2024-05-17T08:42:31.000Z'],
    ['2024-05-17T10:42:31-0530', '2024-05-17T16:12:31.000Z'],
    ['2024-05-17 10:42:31+00', '2024-05-17T10:42:31.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0099-01-01', '0099-01-01T00:00:00.000Z'],
    ['0000-01-01', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('reads %s as %s', (text, iso) => {
    expect(new Date(parseTimestamp(text)!.ms).toISOString()).toBe(iso)
  })

  it('keeps microseconds and drops what is finer', () => {
    expect(parseTimestamp('1970-01-01T00:00:00.000001Z')).toEqual(new Timestamp(0.001))
    expect(parseTimestamp('1970-01-01T00:00:01.123456789Z')).toEqual(new Timestamp(1123.456))
    expect(formatTimestamp(parseTimestamp('2024-05-17T10:42:31.123456Z')!)).toBe(
      '2024-05-17T10:42:31.123456Z',
    )
  })

  it.each([
    '',
    '2024',
    '2024-05',
    '2024-5-17',
    '2024-02-30',
    '2023-02-29',
    '2024-13-01',
    '2024-00-01',
    '2024-01-00',
    '2024-05-17T24:00:00Z',
    '2024-05-17T10:60:00Z',
    '2024-05-17T10:42:60Z',
    '2024-05-17T10',
    '2024-05-17T10:42:31.Z',
    '2024-05-17T10:42:31.1234567890Z',
    '2024-05-17T10:42:31+24:00',
    '2024-05-17T10:42:31 Z',
    '2024-05-17Z',
    '20240517',
    ' 2024-05-17',
    '2024-05-17\n',
    'May 17, 2024',
    '1715942551',
  ])('refuses %j', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })
})

describe('formatTimestamp', () => {
  it.each<[number, string]>([
    [0, '1970-01-01T00:00:00Z'],
    [1, '1970-01-01T00:00:00.001Z'],
    [1500, '1970-01-01T00:00:01.500Z'],
    [0.001, '1970-01-01T00:00:00.000001Z'],
    [0.1, '1970-01-01T00:00:00.000100Z'],
    [-0.001, '1969-12-31T23:59:59.999999Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [0.9999, '1970-01-01T00:00:00.001Z'],
    [1715942551000, '2024-05-17T10:42:31Z'],
  ])('writes %d as %s', (ms, text) => {
    expect(formatTimestamp(ms)).toBe(text)
  })

  it('writes what parseTimestamp reads, of every microsecond of the years 0 to 9999', () => {
    for (const text of ['9999-12-31T23:59:59.999999Z', '0000-01-01T00:00:00.000001Z']) {
      expect(formatTimestamp(parseTimestamp(text)!)).toBe(text)
    }
    const second = fc.integer({ min: Date.UTC(-1, 12) / 1000, max: Date.UTC(10_000, 0) / 1000 - 1 })
    fc.assert(
      fc.property(second, fc.integer({ min: 0, max: 999_999 }), (seconds, microseconds) => {
        const fraction = String(microseconds).padStart(6, '0')
        const whole = new Date(seconds * 1000).toISOString().slice(0, 19)
        const time = parseTimestamp(`${whole}.${fraction}Z`)!
        const shown = fraction === '000000' ? '' : `.${fraction.replace(/000$/, '')}`
        expect(formatTimestamp(time)).toBe(`${whole}${shown}Z`)
        expect(microsecondsOf(time)).toBe(BigInt(seconds) * 1_000_000n + BigInt(microseconds))
        const next = addInterval(time, new Interval(0, 0.001), 1)!
        expect(microsecondsOf(next) - microsecondsOf(time)).toBe(1n)
        expect(Math.sign(compareTimes(time, next))).toBe(-1)
        expect(intervalBetween(next, time).ms).toBe(0.001)
        expect(addInterval(next, new Interval(0, 0.001), -1)).toEqual(time)
      }),
    )
  })
})

describe('formatInterval', () => {
  it.each<[Interval, string]>([
    [new Interval(0, 0), 'PT0S'],
    [new Interval(14, 0), 'P1Y2M'],
    [new Interval(0, 3 * 86_400_000 + 4 * 3_600_000 + 5 * 60_000 + 6_500), 'P3DT4H5M6.5S'],
    [new Interval(-1, -1500), 'P-1MT-1.5S'],
    [new Interval(0, 0.001), 'PT0.000001S'],
  ])('writes %j as %s', (interval, text) => {
    expect(formatInterval(interval)).toBe(text)
  })
})

describe('truncate', () => {
  const at = '2024-05-17T10:42:31.250Z'

  it.each<[TimeUnit, string]>([
    ['second', '2024-05-17T10:42:31Z'],
    ['minute', '2024-05-17T10:42:00Z'],
    ['hour', '2024-05-17T10:00:00Z'],
    ['day', '2024-05-17T00:00:00Z'],
    ['week', '2024-05-13T00:00:00Z'],
    ['month', '2024-05-01T00:00:00Z'],
    ['quarter', '2024-04-01T00:00:00Z'],
    ['year', '2024-01-01T00:00:00Z'],
  ])('%s', (unit, expected) => {
    expect(formatTimestamp(truncate(unit, parseTimestamp(at)!.ms, 0))).toBe(expected)
  })

  it.each<[TimeUnit, number, string]>([
    ['day', 480, '2024-05-17T08:00:00Z'],
    ['day', -120, '2024-05-16T22:00:00Z'],
    ['hour', -330, '2024-05-17T10:30:00Z'],
    ['month', 660, '2024-05-01T11:00:00Z'],
    ['week', 720, '2024-05-13T12:00:00Z'],
  ])('%s of a clock %d minutes behind UTC', (unit, offset, expected) => {
    expect(formatTimestamp(truncate(unit, parseTimestamp(at)!.ms, offset))).toBe(expected)
  })

  it('puts a Monday at the start of its own week and a Sunday at the end', () => {
    expect(formatTimestamp(truncate('week', parseTimestamp('2024-05-13')!.ms, 0))).toBe(
      '2024-05-13T00:00:00Z',
    )
    expect(formatTimestamp(truncate('week', parseTimestamp('2024-05-12')!.ms, 0))).toBe(
      '2024-05-06T00:00:00Z',
    )
    expect(formatTimestamp(truncate('week', parseTimestamp('1969-12-31')!.ms, 0))).toBe(
      '1969-12-29T00:00:00Z',
    )
  })

  it('never goes forward and does nothing twice', () => {
    const units = fc.constantFrom<TimeUnit>('second', 'hour', 'day', 'week', 'month', 'year')
    const moments = fc.integer({ min: -1e13, max: 1e13 })
    fc.assert(
      fc.property(units, moments, fc.integer({ min: -840, max: 840 }), (unit, ms, offset) => {
        const start = truncate(unit, ms, offset)
        expect(start).toBeLessThanOrEqual(ms)
        expect(truncate(unit, start, offset)).toBe(start)
      }),
    )
  })

  it('cuts time into runs of several units', () => {
    const { ms } = parseTimestamp(at)!
    expect(formatTimestamp(truncateToMultiple(15, 'minute', ms, 0))).toBe('2024-05-17T10:30:00Z')
    expect(formatTimestamp(truncateToMultiple(2, 'hour', ms, 60))).toBe('2024-05-17T09:00:00Z')
    expect(formatTimestamp(truncateToMultiple(7, 'day', ms, 0))).toBe('2024-05-16T00:00:00Z')
  })
})

describe('intervals', () => {
  it.each<[string, number, Parameters<typeof toInterval>[1], 1 | -1, string]>([
    ['2024-01-31', 1, 'month', 1, '2024-02-29T00:00:00Z'],
    ['2023-01-31', 1, 'month', 1, '2023-02-28T00:00:00Z'],
    ['2024-03-31', 1, 'month', -1, '2024-02-29T00:00:00Z'],
    ['2024-02-29', 1, 'year', 1, '2025-02-28T00:00:00Z'],
    ['2024-12-15T06:00:00Z', 1, 'month', 1, '2025-01-15T06:00:00Z'],
    ['2024-01-01', 7, 'day', -1, '2023-12-25T00:00:00Z'],
    ['2024-01-01', 1, 'week', 1, '2024-01-08T00:00:00Z'],
    ['2024-01-01', 90, 'second', 1, '2024-01-01T00:01:30Z'],
    ['2024-01-01', 5, 'millisecond', 1, '2024-01-01T00:00:00.005Z'],
    ['2024-01-01', 5, 'microsecond', 1, '2024-01-01T00:00:00.000005Z'],
    ['1969-12-31T23:00:00Z', 2, 'month', 1, '1970-02-28T23:00:00Z'],
  ])('%s moved by %d %s (%d) is %s', (text, count, unit, sign, expected) => {
    const moved = addInterval(parseTimestamp(text)!, toInterval(count, unit), sign)
    expect(formatTimestamp(moved!)).toBe(expected)
  })

  it('counts a fraction of a month in days of a 30-day month', () => {
    expect(toInterval(1.5, 'month')).toEqual(new Interval(1, 15 * 86_400_000))
    expect(toInterval(0.5, 'year')).toEqual(new Interval(6, 0))
  })
})
