/** Finds the indexes of a column's texts in the metadata of its segment. */
import { samePath } from '../../type/value.ts'
import type { GramIndexMetadata, SegmentMetadata, TermIndexMetadata } from './metadata.ts'

export interface TextIndexes {
  readonly grams: GramIndexMetadata | undefined
  readonly terms: TermIndexMetadata | undefined
  readonly kind: IndexKind
}

/** Where indexes are: beside the segment or in it; there, they may be cut as older versions did. */
export type IndexKind = 'beside' | 'within' | 'older'

export function indexesOf(
  { textIndexes, partIndexes, wordIndexes, gramIndexes, termIndexes }: SegmentMetadata,
  path: readonly string[],
  type: GramIndexMetadata['type'],
): TextIndexes {
  const isOfColumn = (index: Pick<GramIndexMetadata, 'path' | 'type'>): boolean =>
    index.type === type && samePath(index.path, path)
  const grams = textIndexes?.partIndexes.find(isOfColumn)
  const terms = textIndexes?.wordIndexes.find(isOfColumn)
  if (grams || terms) return { grams, terms, kind: 'beside' }
  const isOlder = gramIndexes !== undefined || termIndexes !== undefined
  return {
    grams: (partIndexes ?? gramIndexes)?.find(isOfColumn),
    terms: (wordIndexes ?? termIndexes)?.find(isOfColumn),
    kind: isOlder ? 'older' : 'within',
  }
}
