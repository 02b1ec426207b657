/**
 * Makes the index of a column's texts (`vector/gram-index.ts`), and reads it in place. Its bytes:
 *
 *     index = bits:Int32[hash count × row length]  checksum:Int32 per page of 4,096 bytes of them
 *
 * A search reads a few rows of bits, so pages are checked one by one, when they are first used.
 */
import { crc32 } from 'node:zlib'
import { assert } from '../../error.ts'
import type { Texts } from '../../vector/column.ts'
import { type GramIndex, unitTexts } from '../../vector/gram-index.ts'
import { GramScanner } from './gram-scanner.ts'

/** Bytes of a column's texts from which an index is made. */
export const indexedFromBytes = 2 ** 16

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
const minimumHashBits = 8
const maximumHashBits = 17
/** Blocks from which the share is told. */
const sampledBlocks = 8

const pageBytes = 4096

export interface GramShape {
  readonly blockTexts: number
  readonly hashBits: number
}

export interface WrittenGrams extends GramShape {
  readonly bytes: Uint8Array
}

/** @param content `json` when each text is JSON, of which the strings and numbers are indexed */
export function writeGrams(
  texts: Texts,
  content: 'text' | 'json',
  bytesPerBlock = Math.min(blockBytes, texts.offsets.at(-1)! / leastBlocks),
): WrittenGrams {
  const textCount = texts.offsets.length - 1
  const byteLength = texts.offsets[textCount]!
  const perText = Math.max(1, byteLength / textCount)
  let blockTexts = unitTexts
  while (blockTexts < maximumBlockTexts && blockTexts * perText < bytesPerBlock) blockTexts *= 2
  const blocks = Math.ceil(textCount / blockTexts)
  const hashBits = chooseHashBits(texts, content, blockTexts, blocks)
  const rowLength = (blocks + 31) >> 5
  const rows = new Int32Array((rowLength << hashBits) + pageCount((rowLength << hashBits) * 4))
  const scanner = new GramScanner(hashBits)
  const { marks } = scanner
  for (let group = 0; group < rowLength; group++) {
    marks.fill(0)
    const end = Math.min(blocks, (group + 1) * 32)
    for (let block = group * 32; block < end; block++) {
      scanner.useBit(block & 31)
      addBlock(scanner, texts, content, block, blockTexts)
    }
    for (let hash = 0, at = group; hash < marks.length; hash++, at += rowLength) {
      rows[at] = marks[hash]!
    }
  }
  const bits = new Uint8Array(rows.buffer, 0, (rowLength << hashBits) * 4)
  for (let page = 0, at = rowLength << hashBits; at < rows.length; page++, at++) {
    rows[at] = crc32(bits.subarray(page * pageBytes, (page + 1) * pageBytes))
  }
  return { blockTexts, hashBits, bytes: new Uint8Array(rows.buffer) }
}

function addBlock(
  scanner: GramScanner,
  { bytes, offsets }: Texts,
  content: 'text' | 'json',
  block: number,
  blockTexts: number,
): void {
  const end = Math.min(offsets.length - 1, (block + 1) * blockTexts)
  for (let i = block * blockTexts; i < end; i++) {
    if (content === 'text') scanner.addText(bytes, offsets[i]!, offsets[i + 1]!)
    else scanner.addJson(bytes, offsets[i]!, offsets[i + 1]!)
  }
}

function chooseHashBits(
  texts: Texts,
  content: 'text' | 'json',
  blockTexts: number,
  blocks: number,
): number {
  const scanner = new GramScanner(maximumHashBits)
  const sampled = Math.min(sampledBlocks, blocks)
  for (let i = 0; i < sampled; i++) {
    scanner.useBit(i)
    addBlock(scanner, texts, content, Math.floor((i * blocks) / sampled), blockTexts)
  }
  let marked = 0
  for (const mark of scanner.marks) {
    for (let bits = mark; bits !== 0; bits &= bits - 1) marked++
  }
  let hashBits = minimumHashBits
  while (hashBits < maximumHashBits && marked / sampled / 2 ** hashBits > maximumDensity) hashBits++
  return hashBits
}

/**
 * The index that `bytes` are.
 *
 * @param corrupt makes the error that is thrown when a page of it was damaged
 */
export function openGrams(
  bytes: Uint8Array,
  { blockTexts, hashBits }: GramShape,
  textCount: number,
  corrupt: () => Error,
): GramIndex {
  const rowLength = (Math.ceil(textCount / blockTexts) + 31) >> 5
  const length = rowLength << hashBits
  const pages = pageCount(length * 4)
  assert(bytes.byteLength === (length + pages) * 4, 'an index of texts has the size of its shape')
  const rows = new Int32Array(bytes.buffer, bytes.byteOffset, length)
  const checksums = new Int32Array(bytes.buffer, bytes.byteOffset + length * 4, pages)
  const checked = new Uint8Array(pages)
  const check = (page: number) => {
    const end = Math.min(length * 4, (page + 1) * pageBytes)
    if ((crc32(bytes.subarray(page * pageBytes, end)) | 0) !== checksums[page]) throw corrupt()
    checked[page] = 1
  }
  return {
    blockTexts,
    textCount,
    hashBits,
    row: (hash) => {
      const from = hash * rowLength
      const lastPage = Math.floor(((from + rowLength) * 4 - 1) / pageBytes)
      for (let page = Math.floor((from * 4) / pageBytes); page <= lastPage; page++) {
        if (checked[page] === 0) check(page)
      }
      return rows.subarray(from, from + rowLength)
    },
  }
}

function pageCount(byteLength: number): number {
  return Math.ceil(byteLength / pageBytes)
}
