/**
 * Makes an index of the parts of texts (`vector/gram-index.ts`), and reads it in place. Its bytes, with
 * the checksums of their pages:
 *
 *     index = bits:Int32[hash count × row length]  [all: a bit per longer hash]
 *
 * Of words that no other index has, it also says which parts are in any of them, by a hash of so many bits that
 * few of a part that none has are taken for another: then no row of bits need be read, and no text.
 */
import { assert } from '../../error.ts'
import type { Texts } from '../../vector/column.ts'
import { type GramIndex, hashGram, unitTexts } from '../../vector/gram-index.ts'
import { type CheckedBytes, withChecksums } from './checked-pages.ts'
import { FoldedText } from './folded-text.ts'
import { GramScanner } from './gram-scanner.ts'

/**
 * Bytes of a block, more or less. A block that may match is searched in some 50 µs; smaller ones
 * share fewer of their parts, so that the index grows.
 */
const blockBytes = 65_536
const maximumBlockTexts = 2048
/** A row of bits has room for 32 blocks at least, so that few texts are in smaller ones. */
const leastBlocks = 32

/** Of all hashes, the share that a block may have: the chance of a part to be found by mistake. */
const maximumDensity = 0.3
/** Of words that no index has, which are few, so that the others' rows need not be looked at. */
const maximumDensityBeside = 0.12
const minimumHashBits = 8
/** 32 KiB of bits for a segment, and the share of them beyond which they are as few as that needs. */
const maximumAllBits = 18
const maximumDensityOfAll = 1 / 16
/** A set that is fuller than this rules nothing out. */
const uselessDensityOfAll = 1 / 2
const maximumHashBits = 17
/** Blocks from which the share is told. */
const sampledBlocks = 8

export interface GramShape {
  readonly blockTexts: number
  readonly hashBits: number
  /** Whether texts have characters of several code points that others write as one. */
  readonly hasComposed?: true
  /** How many bits of a hash count among the parts of all texts; absent when those are not there. */
  readonly allBits?: number
}

export interface WrittenGrams extends GramShape {
  readonly bytes: Uint8Array
}

/** How many texts blocks have, by the bytes of the texts that a search of a block would read. */
export function blockTextsOf(
  { offsets }: Texts,
  bytesPerBlock = Math.min(blockBytes, offsets.at(-1)! / leastBlocks),
): number {
  const textCount = offsets.length - 1
  const perText = Math.max(1, offsets[textCount]! / textCount)
  let blockTexts = unitTexts
  while (blockTexts < maximumBlockTexts && blockTexts * perText < bytesPerBlock) blockTexts *= 2
  return blockTexts
}

/** @param content `json`: each text is JSON; `folded`: folded already */
export function writeGrams(
  texts: Texts,
  content: 'text' | 'json' | 'folded',
  blockTexts = blockTextsOf(texts),
): WrittenGrams {
  const textCount = texts.offsets.length - 1
  const blocks = Math.ceil(textCount / blockTexts)
  const hashBits = chooseHashBits(texts, content, blockTexts, blocks)
  const rowLength = (blocks + 31) >> 5
  const rows = new Int32Array(rowLength << hashBits)
  const scanner = new GramScanner(hashBits)
  const { marks } = scanner
  const folded = new FoldedText('accents')
  for (let group = 0; group < rowLength; group++) {
    marks.fill(0)
    const end = Math.min(blocks, (group + 1) * 32)
    for (let block = group * 32; block < end; block++) {
      scanner.useBit(block & 31)
      addBlock(scanner, folded, texts, content, block, blockTexts)
    }
    for (let hash = 0, at = group; hash < marks.length; hash++, at += rowLength) {
      rows[at] = marks[hash]!
    }
  }
  const all = content === 'folded' ? partsOfAll(texts) : undefined
  const shape: GramShape = {
    blockTexts,
    hashBits,
    ...(folded.hasComposed && { hasComposed: true }),
    ...(all && { allBits: all.hashBits }),
  }
  const index = new Uint8Array(gramBytesOf(shape, textCount))
  index.set(new Uint8Array(rows.buffer))
  if (all) index.set(all.bits, rows.byteLength)
  return { ...shape, bytes: withChecksums(index) }
}

interface PartsOfAll {
  readonly hashBits: number
  /** Bit `hash & 7` of byte `hash >> 3`. */
  readonly bits: Uint8Array
}

/** The parts of folded texts; undefined when they are too many to rule others out. */
function partsOfAll({ bytes, offsets }: Texts): PartsOfAll | undefined {
  // There are no more parts than bytes.
  const enough = Math.ceil(Math.log2(offsets.at(-1)! / maximumDensityOfAll + 1))
  let hashBits = Math.max(minimumHashBits, Math.min(maximumAllBits, enough))
  const scanner = new GramScanner(hashBits)
  for (let i = 0; i + 1 < offsets.length; i++) scanner.add(bytes, offsets[i]!, offsets[i + 1]!)
  let { marks } = scanner
  if (shareOf(marks) > uselessDensityOfAll) return undefined
  for (; hashBits > minimumHashBits; hashBits--) {
    const halved = withShorterHash(marks)
    if (shareOf(halved) > maximumDensityOfAll) break
    marks = halved
  }
  const bits = new Uint8Array(marks.length / 8)
  for (let hash = 0; hash < marks.length; hash++) bits[hash >> 3]! |= marks[hash]! << (hash & 7)
  return { hashBits, bits }
}

/** By hashes of one bit less, which are the beginnings of the others. */
function withShorterHash(marks: Int32Array): Int32Array {
  const halved = new Int32Array(marks.length / 2)
  for (let hash = 0; hash < halved.length; hash++) {
    halved[hash] = marks[hash * 2]! | marks[hash * 2 + 1]!
  }
  return halved
}

/** @param marks 0 or 1 each */
function shareOf(marks: Int32Array): number {
  let marked = 0
  for (let i = 0; i < marks.length; i++) marked += marks[i]!
  return marked / marks.length
}

function addBlock(
  scanner: GramScanner,
  folded: FoldedText,
  { bytes, offsets }: Texts,
  content: 'text' | 'json' | 'folded',
  block: number,
  blockTexts: number,
): void {
  const end = Math.min(offsets.length - 1, (block + 1) * blockTexts)
  for (let i = block * blockTexts; i < end; i++) {
    const [from, to] = [offsets[i]!, offsets[i + 1]!]
    if (content === 'folded') {
      scanner.add(bytes, from, to)
      continue
    }
    if (content === 'text') folded.setText(bytes, from, to)
    else folded.setJson(bytes, from, to)
    scanner.add(folded.bytes, 0, folded.length)
  }
}

function chooseHashBits(
  texts: Texts,
  content: 'text' | 'json' | 'folded',
  blockTexts: number,
  blocks: number,
): number {
  const scanner = new GramScanner(maximumHashBits)
  const folded = new FoldedText('accents')
  const sampled = Math.min(sampledBlocks, blocks)
  for (let i = 0; i < sampled; i++) {
    scanner.useBit(i)
    addBlock(scanner, folded, texts, content, Math.floor((i * blocks) / sampled), blockTexts)
  }
  let marked = 0
  for (const mark of scanner.marks) {
    for (let bits = mark; bits !== 0; bits &= bits - 1) marked++
  }
  const density = content === 'folded' ? maximumDensityBeside : maximumDensity
  let hashBits = minimumHashBits
  while (hashBits < maximumHashBits && marked / sampled / 2 ** hashBits > density) hashBits++
  return hashBits
}

/** Bytes of the bits of an index, without their checksums. */
export function gramBytesOf(shape: GramShape, textCount: number): number {
  const { allBits } = shape
  return rowBytesOf(shape, textCount) + (allBits === undefined ? 0 : 2 ** allBits / 8)
}

function rowBytesOf({ blockTexts, hashBits }: GramShape, textCount: number): number {
  return (((Math.ceil(textCount / blockTexts) + 31) >> 5) << hashBits) * 4
}

/** The index that `bytes` are. */
export function openGrams(
  bytes: CheckedBytes,
  shape: GramShape,
  textCount: number,
  isOlder = false,
): GramIndex {
  const { blockTexts, hashBits, hasComposed = false, allBits } = shape
  assert(
    bytes.byteLength === gramBytesOf(shape, textCount),
    'an index of texts has the size of its shape',
  )
  const allAt = rowBytesOf(shape, textCount)
  const rowBytes = allAt >> hashBits
  return {
    blockTexts,
    textCount,
    hashBits,
    isOlder,
    hasComposed,
    mayHave: (gram) => {
      if (allBits === undefined) return true
      const hash = hashGram(gram, allBits)
      const at = allAt + (hash >> 3)
      return (bytes.view(at, at + 1)[0]! & (1 << (hash & 7))) !== 0
    },
    row: (hash) => {
      const { buffer, byteOffset } = bytes.view(hash * rowBytes, (hash + 1) * rowBytes)
      return new Int32Array(buffer, byteOffset, rowBytes / 4)
    },
  }
}
