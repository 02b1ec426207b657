/** The indexes of a segment's texts, as columns of its file. */
import { assert } from '../../error.ts'
import type { PathColumns, TextColumn } from '../../vector/column.ts'
import type { ColumnTable } from '../../vector/column-table.ts'
import { countSet } from '../../vector/read-column.ts'
import { type ArrowColumn, bytesColumn } from './arrow-column.ts'
import { writeGrams } from './gram-writer.ts'
import { columnName, residualName } from './layout.ts'
import type { BufferPlace, GramIndexMetadata, TermIndexMetadata } from './metadata.ts'
import { writeTerms } from './term-writer.ts'

/** Bytes of a column's texts, or of its dictionary, from which they have an index. */
const indexedFromBytes = 2 ** 16

/**
 * Texts that are shorter on average are identifiers if they have too many different words: those are
 * asked for as wholes (`key-index.ts`), and an index of their parts would be half as large as they.
 */
const identifierBytes = 64

type Place = Pick<GramIndexMetadata, 'path' | 'type'>

/** The columns of an index, and what its metadata is when it is known where they lie, in their order. */
export interface TextIndexColumns {
  readonly columns: readonly ArrowColumn<BufferPlace>[]
  describe(places: readonly BufferPlace[]): {
    readonly terms?: TermIndexMetadata
    readonly grams?: GramIndexMetadata
  }
}

/**
 * One for each column, and for the residual, that has enough text.
 *
 * @param ofRows given if columns without a dictionary have one; called before each
 */
export function textIndexColumns(table: ColumnTable, ofRows?: () => void): TextIndexColumns[] {
  const indexes = table.pathsBelow([]).flatMap((path) => {
    const { text, json }: PathColumns = table.columns(path) ?? {}
    return [
      indexOf(table, ofRows, columnName(path, 'text'), { path, type: 'text' }, text),
      indexOf(table, ofRows, columnName(path, 'json'), { path, type: 'json' }, json),
    ]
  })
  const residual = { path: [], type: 'residual' } as const
  indexes.push(indexOf(table, ofRows, residualName, residual, table.residual))
  return indexes.flatMap((index) => index ?? [])
}

function indexOf(
  { rowCount }: ColumnTable,
  ofRows: (() => void) | undefined,
  name: string,
  of: Place,
  column: TextColumn | undefined,
): TextIndexColumns | undefined {
  if (!column) return undefined
  assert(column.encoding !== 'compressed', 'texts are indexed before they are compressed')
  const isDictionary = column.encoding === 'dictionary'
  const texts = isDictionary ? column.dictionary : column.texts
  const byteLength = texts.offsets.at(-1)!
  if (byteLength < indexedFromBytes || !(isDictionary || ofRows)) return undefined
  ofRows?.()
  const content = of.type === 'text' ? 'text' : 'json'
  // A dictionary is small, and each of its texts is looked at once.
  const terms = isDictionary ? undefined : writeTerms(texts, content)
  if (terms) {
    const { bytes, beside, ...shape } = terms
    const words = bytesColumn(`${name}:words`, bytes, rowCount)
    if (!beside) {
      return {
        columns: [words],
        describe: ([place]) => ({ terms: { ...of, ...shape, place: place! } }),
      }
    }
    const { bytes: parts, ...besideShape } = beside
    return {
      columns: [words, bytesColumn(`${name}:index`, parts, rowCount)],
      describe: ([place, besidePlace]) => ({
        terms: {
          ...of,
          ...shape,
          place: place!,
          beside: { ...besideShape, place: besidePlace! },
        },
      }),
    }
  }
  const count = column.validity ? countSet(column.validity) : rowCount
  if (!isDictionary && byteLength <= count * identifierBytes) return undefined
  const { bytes, ...shape } = writeGrams(texts, content)
  return {
    columns: [bytesColumn(`${name}:index`, bytes, rowCount)],
    describe: ([place]) => ({ grams: { ...of, ...shape, place: place! } }),
  }
}
