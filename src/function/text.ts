/** Functions of texts. Lengths and positions count characters, that is code points. */
import { asNumber } from '../type/arithmetic.ts'
import { isObject, type Value } from '../type/value.ts'

/** Characters of a string, elements of an array, keys of an object; null for anything else. */
export function lengthOf(value: Value): number | null {
  if (typeof value === 'string') return codePointCount(value)
  if (Array.isArray(value)) return value.length
  return isObject(value) ? Object.keys(value).length : null
}

/**
 * `count` characters from position `start`, where the first is 1; without a count, all that follow.
 * Positions before the first are there but empty, as in SQL.
 */
export function substring(text: string, start: Value, count: Value | undefined): string | null {
  const from = asNumber(start)
  const length = count === undefined ? Number.POSITIVE_INFINITY : asNumber(count)
  if (from === null || length === null) return null
  const first = Math.trunc(from) - 1
  const end = first + Math.max(0, Math.trunc(length))
  return sliceCodePoints(text, Math.max(0, first), Math.max(0, end))
}

function codePointCount(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    if (text.codePointAt(i)! > 0xffff) i++
    count++
  }
  return count
}

function sliceCodePoints(text: string, start: number, end: number): string {
  let position = 0
  let from = text.length
  for (let unit = 0; unit < text.length; position++) {
    if (position === start) from = unit
    if (position >= end) return text.slice(from, Math.max(from, unit))
    unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  }
  return text.slice(from)
}
