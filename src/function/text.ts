/** Functions of texts. Lengths and positions count characters, that is code points. */
import { AssayError } from '../error.ts'
import { requireRoomForValues } from '../json/heap-room.ts'
import { stretchesOf } from '../json/utf8.ts'
import { asNumber } from '../type/arithmetic.ts'
import { isObject, type Value } from '../type/value.ts'
import { checkTextLength } from './bounded-text.ts'

/** Texts whose lengths multiply to more take seconds to compare. */
const maximumDistanceCells = 25_000_000

/** A text is taken apart, and put together, in such stretches: all of the parts of 100 MB need gigabytes. */
const [stretchUnits, stretchParts] = [2 ** 16, 2 ** 12]

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

/** The first `count` characters; of a negative count, all but the last so many. */
export function leftOf(text: string, count: Value): string | null {
  const number = asNumber(count)
  if (number === null) return null
  const end = Math.trunc(number)
  return sliceCodePoints(text, 0, end < 0 ? Math.max(0, codePointCount(text) + end) : end)
}

/** The last `count` characters; of a negative count, all but the first so many. */
export function rightOf(text: string, count: Value): string | null {
  const number = asNumber(count)
  if (number === null) return null
  const length = Math.trunc(number)
  const start = length < 0 ? -length : Math.max(0, codePointCount(text) - length)
  return sliceCodePoints(text, start, Number.POSITIVE_INFINITY)
}

/** The place of the first occurrence, where the first character is 1; 0 if there is none. */
export function positionOf(text: string, part: string): number {
  const index = text.indexOf(part)
  return index < 0 ? 0 : codePointCount(text.slice(0, index)) + 1
}

/** The parts between separators; its characters when the separator is empty. Throws LIMIT_MEMORY for more than fit. */
export function splitText(text: string, separator: string): string[] {
  requireRoomForValues(separator === '' ? text.length : countOccurrences(text, separator) + 1)
  return separator === '' ? [...text] : text.split(separator)
}

/** The part of that number, counted from 1, or from the end when negative; null if there is none. */
export function splitPart(text: string, separator: string, index: Value): string | null {
  const number = asNumber(index)
  if (number === null || !Number.isInteger(number) || number === 0) return null
  const place = number < 0 ? countParts(text, separator) + number : number - 1
  if (place < 0) return null
  if (separator === '') return sliceCodePoints(text, place, place + 1) || null
  let from = 0
  for (let part = 0; part < place; part++) {
    const at = text.indexOf(separator, from)
    if (at < 0) return null
    from = at + separator.length
  }
  const end = text.indexOf(separator, from)
  return text.slice(from, end < 0 ? text.length : end)
}

function countParts(text: string, separator: string): number {
  return separator === '' ? codePointCount(text) : countOccurrences(text, separator) + 1
}

/** How often a text that is not empty is found in another, each time behind the one before. */
function countOccurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** The text without these characters at its ends; white space if none are named. */
export function trimText(
  text: string,
  characters: string | undefined,
  ends: 'both' | 'start' | 'end',
): string {
  if (characters === undefined) {
    return ends === 'both' ? text.trim() : ends === 'start' ? text.trimStart() : text.trimEnd()
  }
  const removed = new Set(characters)
  let [start, end] = [0, text.length]
  while (ends !== 'end' && start < end) {
    const character = String.fromCodePoint(text.codePointAt(start)!)
    if (!removed.has(character)) break
    start += character.length
  }
  while (ends !== 'start' && end > start) {
    const before = end - 2 >= start ? text.codePointAt(end - 2)! : 0
    const character = before > 0xffff ? String.fromCodePoint(before) : text[end - 1]!
    if (!removed.has(character)) break
    end -= character.length
  }
  return text.slice(start, end)
}

/** The text at exactly this length: filled up at one end, or cut to its first characters. */
export function padText(
  text: string,
  length: Value,
  fill: string,
  end: 'start' | 'end',
): string | null {
  const number = asNumber(length)
  if (number === null) return null
  const wanted = Math.max(0, Math.trunc(number))
  const missing = wanted - codePointCount(text)
  if (missing <= 0) return sliceCodePoints(text, 0, wanted)
  if (fill === '') return text
  checkTextLength(end === 'start' ? 'lpad' : 'rpad', wanted)
  const fillLength = codePointCount(fill)
  const filler = sliceCodePoints(fill.repeat(Math.ceil(missing / fillLength)), 0, missing)
  return end === 'start' ? filler + text : text + filler
}

export function repeatText(text: string, count: Value): string | null {
  const number = asNumber(count)
  if (number === null) return null
  const times = Math.max(0, Math.trunc(number))
  if (text === '') return ''
  checkTextLength('repeat', text.length * times)
  return text.repeat(times)
}

export function reverseText(text: string): string {
  const stretches = stretchesOf(text, stretchUnits)
  return stretches
    .reverse()
    .map((stretch) => [...stretch].reverse().join(''))
    .join('')
}

/** Replacing the empty text would never end; it changes nothing. */
export function replaceText(text: string, from: string, to: string): string {
  if (from === '') return text
  const count = countOccurrences(text, from)
  checkTextLength('replace', text.length + count * (to.length - from.length))
  const stretches: string[] = []
  let parts: string[] = []
  let start = 0
  for (let part = 0; part < count; part++) {
    const end = text.indexOf(from, start)
    parts.push(text.slice(start, end))
    start = end + from.length
    if (parts.length < stretchParts) continue
    stretches.push(parts.join(to), to)
    parts = []
  }
  stretches.push([...parts, text.slice(start)].join(to))
  return stretches.join('')
}

/**
 * How many characters must be inserted, removed or replaced to make one text of the other. Throws
 * LIMIT_MEMORY for texts too long to compare in this way.
 */
export function levenshtein(left: string, right: string): number {
  if (left === right) return 0
  const [leftLength, rightLength] = [codePointCount(left), codePointCount(right)]
  if (leftLength * rightLength > maximumDistanceCells) {
    throw new AssayError(
      'LIMIT_MEMORY',
      `levenshtein() compares no texts as long as ${leftLength} and ${rightLength} characters`,
      { hint: 'compare their beginnings: levenshtein(left(a, 1000), left(b, 1000))' },
    )
  }
  const [a, b] = [[...left], [...right]]
  // Distances of the prefixes of `b` to the prefix of `a` so far.
  const distances = Int32Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 0; i < a.length; i++) {
    let diagonal = distances[0]!
    distances[0] = i + 1
    for (let j = 0; j < b.length; j++) {
      const replaced = diagonal + (a[i] === b[j] ? 0 : 1)
      diagonal = distances[j + 1]!
      distances[j + 1] = Math.min(replaced, diagonal + 1, distances[j]! + 1)
    }
  }
  return distances[b.length]!
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
