/** Finds the rows that have one of a few texts at a path, where a look at a column's bytes tells. */
import { encodeUtf8 } from '../../json/utf8.ts'
import { maximumRows } from '../../kernel/arena.ts'
import { boundsOfIntegers } from '../../kernel/number-counts.ts'
import type { ColumnSet, TextColumn, Texts } from '../../vector/column.ts'
import { isValid, storedRows } from '../../vector/read-column.ts'
import { forEachWith } from '../column/texts-with.ts'

/**
 * Those of rows `from … to` of the set, ascending; undefined when columns of short texts do not tell all of
 * them. A row costs a few nanoseconds per text, whatever the size of the dictionary.
 */
export function rowsWithText(
  set: ColumnSet,
  path: readonly string[],
  texts: readonly string[],
  from: number,
  to: number,
): readonly number[] | undefined {
  if (set.residualMayBe(path) || storedRows(set, path).length > 0) return undefined
  const { text, json, timestamp } = set.columns(path) ?? {}
  // A string may equal a time, and JSON has strings that UTF-8 cannot hold.
  if (json || timestamp || text?.encoding === 'compressed') return undefined
  if (!text) return []
  const needles = texts.map(encodeUtf8)
  if (text.encoding === 'plain') return rowsAt(text, needles, from, to)
  const codes = text.codes.between(from, to - from)
  const { least: lowest, greatest: highest } = boundsOf(codes)
  if (highest < 0) return []
  const isShort = (highest + 1 - lowest) * rowsPerEntry <= codes.length
  if (!isShort || needles.some(({ length }) => length === 0)) {
    return rowsOfCodes(codes, from, (code) => isOneOf(needles, text.dictionary, code))
  }
  const wanted = codesOf(text.dictionary, lowest, highest, needles)
  const [only] = wanted
  if (only === undefined) return []
  if (wanted.size === 1) return rowsOfCode(codes, from, only)
  return rowsOfCodes(codes, from, (code) => wanted.has(code))
}

/**
 * Of entries that are so much fewer than the rows, those are searched natively. Dictionaries are in the order in
 * which rows name their entries first, so those of a granule's traces follow each other.
 */
const rowsPerEntry = 2

/** The lowest and the highest code; of nulls alone, the highest is negative. */
function boundsOf(codes: Int32Array): { readonly least: number; readonly greatest: number } {
  let [least, greatest] = [Number.MAX_SAFE_INTEGER, -1]
  for (let from = 0; from < codes.length; from += maximumRows) {
    const bounds = boundsOfIntegers(codes.subarray(from, from + maximumRows))!
    least = Math.min(least, bounds.least)
    greatest = Math.max(greatest, bounds.greatest)
  }
  // Ids and traces, which are looked for most, are never null.
  if (least >= 0) return { least, greatest }
  least = Number.MAX_SAFE_INTEGER
  for (const code of codes) if (code >= 0 && code < least) least = code
  return { least, greatest }
}

function rowsAt(
  { texts, validity }: Extract<TextColumn, { readonly encoding: 'plain' }>,
  needles: readonly Buffer[],
  from: number,
  to: number,
): number[] {
  const found: number[] = []
  for (let row = from; row < to; row++) {
    if (isOneOf(needles, texts, row) && isValid(validity, row)) found.push(row)
  }
  return found
}

/** Natively. */
function rowsOfCode(codes: Int32Array, from: number, wanted: number): number[] {
  const found: number[] = []
  for (let i = codes.indexOf(wanted); i >= 0; i = codes.indexOf(wanted, i + 1)) found.push(from + i)
  return found
}

function rowsOfCodes(
  codes: Int32Array,
  from: number,
  isWanted: (code: number) => boolean,
): number[] {
  const found: number[] = []
  for (let i = 0; i < codes.length; i++) {
    if (codes[i]! >= 0 && isWanted(codes[i]!)) found.push(from + i)
  }
  return found
}

/** Those of the entries from the first to the last that are one of the texts. */
function codesOf(
  { bytes, offsets }: Texts,
  first: number,
  last: number,
  needles: readonly Buffer[],
): ReadonlySet<number> {
  const found = new Set<number>()
  const ends = offsets.subarray(first, last + 2)
  const region = bytes.subarray(ends[0]!, ends.at(-1)!)
  for (const needle of needles) {
    forEachWith(
      (at) => region.indexOf(needle, at),
      needle.length,
      ends,
      (entry) => {
        // A longer entry may have it, too.
        if (ends[entry + 1]! - ends[entry]! === needle.length) found.add(first + entry)
      },
    )
  }
  return found
}

function isOneOf(needles: readonly Buffer[], { bytes, offsets }: Texts, index: number): boolean {
  const start = offsets[index]!
  const end = offsets[index + 1]!
  for (let i = 0; i < needles.length; i++) {
    const needle = needles[i]!
    if (needle.length === end - start && isAt(needle, bytes, start)) return true
  }
  return false
}

/** From the end on, since ids often begin alike. */
function isAt(needle: Buffer, bytes: Texts['bytes'], start: number): boolean {
  for (let i = needle.length - 1; i >= 0; i--) {
    if (bytes[start + i] !== needle[i]) return false
  }
  return true
}
