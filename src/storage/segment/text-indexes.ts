/**
 * Makes the indexes of a segment's texts: those of dictionaries, which are small and stand in its
 * file, and those of rows, which take as long as all the rest and are stored beside it later.
 */
import { crc32 } from 'node:zlib'
import type { PathColumns, TextColumn, Texts } from '../../vector/column.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import { countSet } from '../../vector/read-column.ts'
import { decompressed } from './decompressed.ts'
import { type WrittenGrams, writeGrams } from './gram-writer.ts'
import { type AlignedBytes, bufferAlignment } from './layout.ts'
import type {
  BufferPlace,
  GramIndexMetadata,
  GramPlace,
  TermIndexMetadata,
  TextIndexMetadata,
} from './metadata.ts'
import { writeTerms } from './term-writer.ts'

/** Bytes of a column's texts, or of its dictionary, from which they have an index. */
const indexedFromBytes = 2 ** 16

/**
 * Texts that are shorter on average are identifiers if they have too many different words: those are
 * asked for as wholes (`key-index.ts`), and an index of their parts would be half as large as they.
 */
const identifierBytes = 64

type Column = Pick<GramIndexMetadata, 'path' | 'type'>

/** An index for the file: `of` becomes its metadata together with its place. */
export interface DictionaryIndex {
  readonly bytes: Uint8Array
  readonly of: Omit<GramIndexMetadata, 'place'>
}

/** One for each dictionary that has enough text. */
export function dictionaryIndexes(table: ColumnTable): DictionaryIndex[] {
  const indexes: DictionaryIndex[] = []
  for (const [of, column] of textColumns(table)) {
    if (column.encoding !== 'dictionary' || !isLong(column.dictionary)) continue
    const { bytes, ...shape } = writeGrams(column.dictionary, contentOf(of))
    indexes.push({ bytes, of: { ...of, ...shape } })
  }
  return indexes
}

export interface WrittenTextIndexes {
  readonly bytes: Uint8Array
  readonly metadata: TextIndexMetadata
}

/**
 * Indexes of the texts of rows, one for each column, and for the residual, that has enough of them.
 *
 * @param withDictionaries whether those in the file are to be replaced
 * @param checkpoint called before each column; may throw to give up
 */
export function rowIndexes(
  table: ColumnTable,
  withDictionaries: boolean,
  checkpoint: () => void,
): WrittenTextIndexes {
  const partIndexes: GramIndexMetadata[] = []
  const wordIndexes: TermIndexMetadata[] = []
  const bytes = new IndexBytes()
  for (const [of, column] of textColumns(table)) {
    if (column.encoding === 'dictionary' && !withDictionaries) continue
    checkpoint()
    const uncompressed = decompressed(column)
    const isDictionary = uncompressed.encoding === 'dictionary'
    const texts = isDictionary ? uncompressed.dictionary : uncompressed.texts
    if (!isLong(texts)) continue
    const count = column.validity ? countSet(column.validity) : table.rowCount
    const areShort = texts.offsets.at(-1)! <= count * identifierBytes
    // A dictionary is small, and each of its texts is looked at once.
    const terms = isDictionary ? undefined : writeTerms(texts, contentOf(of), areShort)
    if (terms) {
      const { bytes: words, beside, ...shape } = terms
      const place = bytes.add(words)
      wordIndexes.push({
        ...of,
        ...shape,
        place,
        ...(beside && { beside: bytes.addGrams(beside) }),
      })
      continue
    }
    if (!isDictionary && areShort) continue
    partIndexes.push({ ...of, ...bytes.addGrams(writeGrams(texts, contentOf(of))) })
  }
  const all = bytes.finish()
  return { bytes: all, metadata: { byteLength: all.length, partIndexes, wordIndexes } }
}

/** Columns are opened one by one, since those of a segment may have to be decompressed. */
function* textColumns(table: ColumnTable): Generator<readonly [Column, TextColumn]> {
  for (const path of table.pathsBelow([])) {
    const { text, json }: PathColumns = table.columns(path) ?? {}
    if (text) yield [{ path, type: 'text' }, text]
    if (json) yield [{ path, type: 'json' }, json]
  }
  if (table.residual) yield [{ path: [], type: 'residual' }, table.residual]
}

function contentOf({ type }: Column): 'text' | 'json' {
  return type === 'text' ? 'text' : 'json'
}

function isLong({ offsets }: Texts): boolean {
  return offsets.at(-1)! >= indexedFromBytes
}

/** Buffers end to end, each from an aligned place on. */
class IndexBytes {
  readonly #buffers: AlignedBytes[] = []
  #end = 0

  add(bytes: Uint8Array): BufferPlace {
    const offset = this.#end
    this.#buffers.push({ bytes, offset })
    this.#end += Math.ceil(bytes.length / bufferAlignment) * bufferAlignment
    return [offset, bytes.length, crc32(bytes)]
  }

  addGrams({ bytes, ...shape }: WrittenGrams): GramPlace {
    return { ...shape, place: this.add(bytes) }
  }

  finish(): Uint8Array {
    const all = new Uint8Array(this.#end)
    for (const { bytes, offset } of this.#buffers) all.set(bytes, offset)
    return all
  }
}
