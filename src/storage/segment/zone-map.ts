/** Computes what pruning knows of a column: bounds of the whole, and of each granule of numbers. */
import { decodeUtf8 } from '../../json/utf8.ts'
import { granuleRows, type NumberColumn, type TextColumn, type Texts } from '../../vector/column.ts'
import { bytesOfText, isValid } from '../../vector/read-column.ts'
import type { NumberZones, TextBounds } from './metadata.ts'

/** Bytes of a text that its bound keeps. */
const boundBytes = 64

const lastCodePoint = 0x10ffff

/** The column must have a value. */
export function numberZones({ values, validity }: NumberColumn): NumberZones {
  const granuleMinimums: (number | null)[] = []
  const granuleMaximums: (number | null)[] = []
  let minimum = Number.POSITIVE_INFINITY
  let maximum = Number.NEGATIVE_INFINITY
  for (let from = 0; from < values.length; from += granuleRows) {
    const to = Math.min(from + granuleRows, values.length)
    let least = Number.POSITIVE_INFINITY
    let greatest = Number.NEGATIVE_INFINITY
    for (let row = from; row < to; row++) {
      if (!isValid(validity, row)) continue
      const value = values[row]!
      if (value < least) least = value
      if (value > greatest) greatest = value
    }
    const empty = least > greatest
    granuleMinimums.push(empty ? null : least)
    granuleMaximums.push(empty ? null : greatest)
    if (least < minimum) minimum = least
    if (greatest > maximum) maximum = greatest
  }
  return { minimum, maximum, granuleMinimums, granuleMaximums }
}

/** The column must have a value. */
export function textBounds(column: TextColumn, rowCount: number): TextBounds {
  let least: Uint8Array | undefined
  let greatest: Uint8Array | undefined
  const see = (texts: Texts, index: number) => {
    const bytes = bytesOfText(texts, index)
    if (least === undefined || Buffer.compare(bytes, least) < 0) least = bytes
    if (greatest === undefined || Buffer.compare(bytes, greatest) > 0) greatest = bytes
  }
  if (column.encoding === 'dictionary') {
    for (let code = 0; code < column.dictionary.offsets.length - 1; code++) {
      see(column.dictionary, code)
    }
  } else {
    for (let row = 0; row < rowCount; row++) {
      if (isValid(column.validity, row)) see(column.texts, row)
    }
  }
  const maximum = shortenUp(greatest!)
  return { minimum: shortenDown(least!), ...(maximum !== undefined && { maximum }) }
}

function shortenDown(bytes: Uint8Array): string {
  return decodeUtf8(bytes, 0, wholeCharacters(bytes))
}

/** A short text that is not before any text that begins like this one; undefined if there is none. */
function shortenUp(bytes: Uint8Array): string | undefined {
  const text = shortenDown(bytes)
  if (bytes.length <= boundBytes) return text
  const points = Array.from(text, (character) => character.codePointAt(0)!)
  while (points.at(-1) === lastCodePoint) points.pop()
  if (points.length === 0) return undefined
  const next = points.pop()! + 1
  // No text holds half of a surrogate pair.
  points.push(next === 0xd800 ? 0xe000 : next)
  return String.fromCodePoint(...points)
}

/** Where to cut, so that no character is cut apart. */
function wholeCharacters(bytes: Uint8Array): number {
  if (bytes.length <= boundBytes) return bytes.length
  let end = boundBytes
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return end
}
