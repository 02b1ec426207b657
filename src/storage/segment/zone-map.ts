/**
 * Computes what is known of a column unread: bounds of the whole, and bounds, sums and counts of each
 * granule of numbers.
 */
import { decodeUtf8 } from '../../json/utf8.ts'
import { countAll, maxAll, minAll } from '../../kernel/aggregate.ts'
import { sumAsPair } from '../../kernel/group-sums.ts'
import { granuleRows, type UncompressedColumn } from '../../vector/column.ts'
import { bytesOfText, isValid } from '../../vector/read-column.ts'
import { compareBytes } from '../compare-bytes.ts'
import type { NumberZones, TextBounds } from './metadata.ts'

/** Bytes of a text that its bound keeps. */
const boundBytes = 64

const lastCodePoint = 0x10ffff

/** The column must have a value. */
export function numberZones(
  values: Float64Array,
  validity: Uint8Array | undefined,
  type: 'number' | 'timestamp',
): NumberZones {
  const granuleMinimums: (number | null)[] = []
  const granuleMaximums: (number | null)[] = []
  const granuleCounts: number[] = []
  const granuleSums: (number | null)[] = []
  const granuleRests: number[] = []
  let minimum = Number.POSITIVE_INFINITY
  let maximum = Number.NEGATIVE_INFINITY
  for (let from = 0; from < values.length; from += granuleRows) {
    const granule = values.subarray(from, from + granuleRows)
    const rows = granule.length
    const least = minAll(granule, rows)
    const greatest = maxAll(granule, rows)
    const isEmpty = Number.isNaN(least)
    granuleMinimums.push(isEmpty ? null : least)
    granuleMaximums.push(isEmpty ? null : greatest)
    if (least < minimum) minimum = least
    if (greatest > maximum) maximum = greatest
    if (validity) granuleCounts.push(countAll(granule, rows))
    if (type === 'timestamp') continue
    const known = sumAsPair(granule, rows)
    granuleSums.push(known ? known.sum : null)
    granuleRests.push(known ? known.rest : 0)
  }
  return {
    minimum,
    maximum,
    granuleMinimums,
    granuleMaximums,
    ...(validity && { granuleCounts }),
    ...(type === 'number' && { granuleSums }),
    ...(granuleRests.some((each) => each !== 0) && { granuleRests }),
  }
}

/** The column must have a value. */
export function textBounds(column: UncompressedColumn, rowCount: number): TextBounds {
  const texts = column.encoding === 'dictionary' ? column.dictionary : column.texts
  const { bytes, offsets } = texts
  // In a dictionary, every text is one of the column's.
  const validity = column.encoding === 'dictionary' ? undefined : column.validity
  const count = column.encoding === 'dictionary' ? offsets.length - 1 : rowCount
  let least = -1
  let greatest = -1
  for (let i = 0; i < count; i++) {
    if (!isValid(validity, i)) continue
    const start = offsets[i]!
    const end = offsets[i + 1]!
    if (least < 0) {
      least = i
      greatest = i
    } else if (compareBytes(bytes, start, end, bytes, offsets[least]!, offsets[least + 1]!) < 0) {
      least = i
    } else if (
      compareBytes(bytes, start, end, bytes, offsets[greatest]!, offsets[greatest + 1]!) > 0
    ) {
      greatest = i
    }
  }
  const maximum = shortenUp(bytesOfText(texts, greatest))
  return {
    minimum: shortenDown(bytesOfText(texts, least)),
    ...(maximum !== undefined && { maximum }),
  }
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
