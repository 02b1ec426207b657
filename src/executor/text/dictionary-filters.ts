/**
 * Blocks of a dictionary in which a text may be, by the index of its parts; and a filter of all the parts of a
 * block, once that index has led to it several times without the text: its hashes are shared by many parts.
 */
import type { Texts } from '../../vector/column.ts'
import { blocksWithGrams, type GramIndex } from '../../vector/gram-index.ts'
import { ValueCache } from '../thread/value-cache.ts'
import { NgramFilter } from './ngram-filter.ts'

/** Of blocks of dictionaries, by their identity and the number of the block. */
const filters = new ValueCache<NgramFilter>()

/** Searches of a block that found nothing before a filter is made: it takes as long as these. */
const misledBefore = 8
const misled = new WeakMap<object, Map<number, number>>()

const noBlocks: readonly number[] = []

/** @param grams those of what is looked for */
export function blocksWithNgrams(
  index: GramIndex,
  grams: Int32Array,
  { identity }: Texts,
): readonly number[] {
  const blocks = blocksWithGrams(index, grams)
  if (!blocks) return noBlocks
  if (!identity) return blocks
  return blocks.filter((block) => {
    return filters.get(identity, String(block))?.mayHaveAll(grams) !== false
  })
}

/** To be called when a block of so many texts did not have it. */
export function noteMisled(
  block: number,
  blockTexts: number,
  dictionary: Texts,
  content: 'text' | 'json',
): void {
  const { identity, offsets } = dictionary
  const name = String(block)
  if (!identity || filters.get(identity, name)) return
  const ofBlocks = misled.get(identity) ?? new Map<number, number>()
  misled.set(identity, ofBlocks)
  const times = (ofBlocks.get(block) ?? 0) + 1
  ofBlocks.set(block, times % misledBefore)
  if (times < misledBefore) return
  const from = block * blockTexts
  const to = Math.min(offsets.length - 1, from + blockTexts)
  const filter = NgramFilter.ofBlock(dictionary, from, to, content)
  filters.set(identity, filter, filter.byteLength, name)
}
