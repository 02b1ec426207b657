/** Merges the texts of one path: dictionaries become one, plain texts are copied. */
import { assert } from '../../error.ts'
import type { TextColumn, Texts, UncompressedColumn } from '../../vector/column.ts'
import { elementsOf } from '../../vector/elements.ts'
import { isValid } from '../../vector/read-column.ts'
import { decompressed } from '../segment/decompressed.ts'
import { dictionaryPays, maximumTextBytes } from '../shred/shred-text.ts'
import { byteSource, TextPool } from '../shred/text-pool.ts'
import type { Runs } from './compaction-order.ts'

/**
 * Rows of a segment from which on its choice not to make a dictionary says that texts are mostly
 * distinct; in a smaller one, few of them may just have had no time to come again.
 */
const tellingRows = 4096

/** Up to so many texts they are copied faster one by one. */
const nearRows = 8

/** `sources` by number; of some source there must be one. The validity is that of the result. */
export function mergeTexts(
  runs: Runs,
  sources: readonly (TextColumn | undefined)[],
  validity: Uint8Array | undefined,
): UncompressedColumn {
  const columns = sources.map((column) => column && decompressed(column))
  if (mayRepeat(runs, columns)) {
    const merged = mergeDictionaries(runs, columns, validity)
    if (merged !== undefined) return merged
  }
  return { encoding: 'plain', texts: copyTexts(runs, columns), validity }
}

/** Whether at most half of the rows come from segments that found their texts to be distinct. */
function mayRepeat(runs: Runs, columns: readonly (UncompressedColumn | undefined)[]): boolean {
  let rows = 0
  let distinct = 0
  for (let run = 0; run < runs.count; run++) {
    const column = columns[runs.source[run]!]
    if (column === undefined) continue
    const count = runs.to[run]! - runs.from[run]!
    rows += count
    if (column.encoding === 'plain' && column.texts.offsets.length > tellingRows) distinct += count
  }
  return distinct * 2 <= rows
}

/** Undefined when the texts are too many for a dictionary. */
function mergeDictionaries(
  runs: Runs,
  columns: readonly (UncompressedColumn | undefined)[],
  validity: Uint8Array | undefined,
): UncompressedColumn | undefined {
  const { rowCount } = runs
  const pool = new TextPool(64)
  const codes = new Int32Array(rowCount).fill(-1)
  const encoders = columns.map((column) => column && textEncoder(pool, column))
  let at = 0
  for (let run = 0; run < runs.count; run++) {
    const encode = encoders[runs.source[run]!]
    const from = runs.from[run]!
    const to = runs.to[run]!
    if (encode !== undefined && !encode(from, to, codes, at)) return undefined
    at += to - from
    if (pool.count > rowCount || pool.probes > at * 16 + tellingRows) return undefined
  }
  if (!dictionaryPays(pool, rowCount)) return undefined
  return { encoding: 'dictionary', codes: elementsOf(codes), dictionary: pool.finish(), validity }
}

/** Writes the codes of rows; returns false when there are too many texts. */
type TextEncoder = (from: number, to: number, codes: Int32Array, at: number) => boolean

function textEncoder(pool: TextPool, column: UncompressedColumn): TextEncoder {
  if (column.encoding === 'dictionary') {
    const { offsets } = column.dictionary
    const source = byteSource(column.dictionary.bytes)
    const known = new Int32Array(offsets.length - 1).fill(-1)
    return (from, to, codes, at) => {
      for (let row = from, i = at; row < to; row++, i++) {
        const code = column.codes.at(row)
        if (code < 0) continue
        if (known[code] === -1)
          known[code] = pool.codeOf(source, offsets[code]!, offsets[code + 1]!)
        codes[i] = known[code]!
      }
      return true
    }
  }
  const { offsets } = column.texts
  const source = byteSource(column.texts.bytes)
  return (from, to, codes, at) => {
    for (let row = from, i = at; row < to; row++, i++) {
      if (!isValid(column.validity, row)) continue
      codes[i] = pool.codeOf(source, offsets[row]!, offsets[row + 1]!)
      if ((i & 0xfff) === 0 && !dictionaryPays(pool, codes.length)) return false
    }
    return true
  }
}

function copyTexts(runs: Runs, columns: readonly (UncompressedColumn | undefined)[]): Texts {
  const texts = new TextPool(runs.rowCount, textBytes(runs, columns))
  const sources = columns.map(
    (column) =>
      column &&
      byteSource(column.encoding === 'plain' ? column.texts.bytes : column.dictionary.bytes),
  )
  for (let run = 0; run < runs.count; run++) {
    const from = runs.from[run]!
    const to = runs.to[run]!
    const column = columns[runs.source[run]!]
    if (column === undefined) {
      for (let row = from; row < to; row++) texts.pushEmpty()
      continue
    }
    const source = sources[runs.source[run]!]!
    if (column.encoding === 'plain') {
      const { offsets } = column.texts
      if (to - from > nearRows) texts.pushAll(column.texts, from, to)
      else
        for (let row = from; row < to; row++) texts.push(source, offsets[row]!, offsets[row + 1]!)
    } else {
      const { offsets } = column.dictionary
      for (let row = from; row < to; row++) {
        const code = column.codes.at(row)
        if (code < 0) texts.pushEmpty()
        else texts.push(source, offsets[code]!, offsets[code + 1]!)
      }
    }
  }
  return texts.finish()
}

function textBytes(runs: Runs, columns: readonly (UncompressedColumn | undefined)[]): number {
  let bytes = 0
  for (let run = 0; run < runs.count; run++) {
    const from = runs.from[run]!
    const to = runs.to[run]!
    const column = columns[runs.source[run]!]
    if (column === undefined) continue
    if (column.encoding === 'plain') {
      bytes += column.texts.offsets[to]! - column.texts.offsets[from]!
      continue
    }
    const { offsets } = column.dictionary
    for (let row = from; row < to; row++) {
      const code = column.codes.at(row)
      if (code >= 0) bytes += offsets[code + 1]! - offsets[code]!
    }
  }
  assert(bytes <= maximumTextBytes, 'the texts of a path fit into one column')
  return bytes
}
