/**
 * Blocks of a dictionary in which a text may be, by the index of its parts; and a filter of all its parts,
 * once that index has led to blocks without the text several times: its hashes are shared by many parts.
 */
import { LRUCache } from 'lru-cache'
import type { Texts } from '../vector/column.ts'
import { blocksWithGrams, type GramIndex } from '../vector/gram-index.ts'
import { PartFilter } from './part-filter.ts'

/** Bytes of filters that a thread keeps, of dictionaries by their identity. */
const keptFilterBytes = 2 ** 25
const filters = new LRUCache<object, PartFilter>({
  maxSize: keptFilterBytes,
  sizeCalculation: ({ byteLength }) => byteLength,
})

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
  if (!identity || filters.has(identity)) return
  const times = (misled.get(identity) ?? 0) + 1
  misled.set(identity, times % misledBefore)
  if (times === misledBefore) filters.set(identity, PartFilter.ofTexts(dictionary, content))
}
