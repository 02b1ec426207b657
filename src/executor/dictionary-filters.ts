/**
 * Blocks of a dictionary in which a text may be, by the index of its parts; and a filter of all its parts,
 * once that index has led to blocks without the text several times: its hashes are shared by many parts.
 */
import type { Texts } from '../vector/column.ts'
import { blocksWithGrams, type GramIndex } from '../vector/gram-index.ts'
import { KeptValues } from './kept-values.ts'
import { PartFilter } from './part-filter.ts'

/** Of dictionaries, by their identity. */
const filters = new KeptValues<PartFilter>()

/** Searches that found nothing where the index led them, before a filter is made: it takes some as long. */
const misledBefore = 4
const misled = new WeakMap<object, number>()

const noBlocks: readonly number[] = []

/** @param grams those of what is looked for */
export function blocksWithParts(
  index: GramIndex,
  grams: Int32Array,
  { identity }: Texts,
): readonly number[] {
  const blocks = blocksWithGrams(index, grams)
  if (!blocks) return noBlocks
  const filter = identity && filters.get(identity)
  return filter?.mayHaveAll(grams) === false ? noBlocks : blocks
}

/** To be called when none of the blocks had it. */
export function noteMisled(dictionary: Texts, content: 'text' | 'json'): void {
  const { identity } = dictionary
  if (!identity || filters.get(identity)) return
  const times = (misled.get(identity) ?? 0) + 1
  misled.set(identity, times % misledBefore)
  if (times < misledBefore) return
  const filter = PartFilter.ofTexts(dictionary, content)
  filters.set(identity, filter, filter.byteLength)
}
