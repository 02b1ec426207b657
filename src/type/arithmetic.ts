/**
 * Arithmetic of values. Numbers are computed as doubles, booleans count as 0 and 1, and what has no
 * result (another kind, a division by zero, an overflow) is null.
 */
import { unreachable } from '../error.ts'
import {
  addInterval,
  approximateMs,
  intervalBetween,
  maxTimestampMs,
  scaleInterval,
  toMicroseconds,
} from './time.ts'
import { Interval, Timestamp, type Value } from './value.ts'

export type Arithmetic = 'add' | 'sub' | 'mul' | 'div' | 'mod'

export function arithmetic(operator: Arithmetic, a: Value, b: Value): Value {
  const left = asNumber(a)
  const right = asNumber(b)
  if (left !== null && right !== null) return finite(onNumbers(operator, left, right))
  return onTimes(operator, a, b)
}

/** The exact negative of a number, of a boolean as 0 or 1, or of an interval; else null. */
export function negate(a: Value): Value {
  if (typeof a === 'bigint') return -a
  if (a instanceof Interval) return new Interval(0 - a.months, 0 - a.ms)
  const number = asNumber(a)
  return number === null ? null : 0 - number
}

/** The double that arithmetic computes with, or null for what is no number. */
export function asNumber(value: Value): number | null {
  switch (typeof value) {
    case 'number':
      return value
    case 'boolean':
    case 'bigint':
      return Number(value)
    default:
      return null
  }
}

/** A number, or null where doubles say NaN or Infinity, which JSON cannot. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function onNumbers(operator: Arithmetic, a: number, b: number): number {
  switch (operator) {
    case 'add':
      return a + b
    case 'sub':
      return a - b
    case 'mul':
      return a * b
    case 'div':
      return a / b
    case 'mod':
      return a % b
    default:
      return unreachable(operator)
  }
}

function onTimes(operator: Arithmetic, a: Value, b: Value): Value {
  switch (operator) {
    case 'add':
      if (a instanceof Timestamp && b instanceof Interval) return move(a, b, 1)
      if (a instanceof Interval && b instanceof Timestamp) return move(b, a, 1)
      if (a instanceof Interval && b instanceof Interval) return addIntervals(a, b, 1)
      return null
    case 'sub':
      if (a instanceof Timestamp && b instanceof Interval) return move(a, b, -1)
      if (a instanceof Timestamp && b instanceof Timestamp) {
        return intervalBetween(a, b)
      }
      if (a instanceof Interval && b instanceof Interval) return addIntervals(a, b, -1)
      return null
    case 'mul':
      if (a instanceof Interval) return scale(a, asNumber(b))
      if (b instanceof Interval) return scale(b, asNumber(a))
      return null
    default:
      return null
  }
}

function move(time: Timestamp, interval: Interval, sign: 1 | -1): Value {
  return addInterval(time, interval, sign) ?? null
}

function addIntervals(a: Interval, b: Interval, sign: 1 | -1): Value {
  return boundedInterval(
    new Interval(a.months + sign * b.months, toMicroseconds(a.ms + sign * b.ms)),
  )
}

function scale(interval: Interval, factor: number | null): Value {
  return factor === null ? null : boundedInterval(scaleInterval(interval, factor))
}

/** An interval longer than the calendar has no use, and no text that reads well. */
function boundedInterval(interval: Interval): Value {
  return Math.abs(approximateMs(interval)) <= 2 * maxTimestampMs ? interval : null
}
