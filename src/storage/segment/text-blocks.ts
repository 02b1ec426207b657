/**
 * Long texts of a column, compressed. The rows are cut into blocks, and each block's texts, end to
 * end, are compressed by themselves. Rows have the end of their text: of two bytes among the texts of
 * its block, where none is longer than a block; else, and in older segments, of four bytes among the
 * texts of all rows.
 *
 *     directory = rows:Int32[blocks]  ends:Int32[blocks]  checksums:Int32[blocks]
 *     block     = size u32, little-endian, LZ4 of so many bytes       nothing, when it has no text
 *
 * Of each block the directory has the row after its last, the end of its bytes among those of all
 * blocks, and their CRC-32.
 */
import { crc32 } from 'node:zlib'
import { ByteWriter } from '../../json/byte-writer.ts'
import { noteLong } from '../../json/turn-limit.ts'
import { newCodes, newText } from '../../kernel/arena.ts'
import { decompressLz4, lz4Compressor } from '../../kernel/lz4.ts'
import type { CompressedTexts, Texts } from '../../vector/column.ts'
import { letQueriesPass } from '../give-way.ts'
import { LruBuffers } from './lru-buffers.ts'

/** Columns of fewer bytes are not worth it. */
const compressedFromBytes = 2 ** 16

/** Texts that are no longer, on average, are names and ids: `key-index.ts` reads them in place. */
const longTextBytes = 64

/**
 * A block has at most so many bytes, or one text. A search that has few candidates decompresses a block
 * for each, in some 60 to 90 µs: as much text as a block of the index of texts has. Twice as large, they
 * would take 1 to 3 % less together, since LZ4 looks back by 64 KiB. Per byte all sizes are as fast.
 */
const mostBlockBytes = 2 ** 16 - 1

/** A column that LZ4 leaves larger than this is kept as it is. */
const worthwhile = 0.9

/** Integers per block. */
const directoryFields = 3

export interface WrittenBlocks {
  readonly ends: TextEnds
  readonly directory: Uint8Array
  readonly blocks: Uint8Array
}

/** Where texts end: among those of their block, or of all rows. */
export type TextEnds = Uint16Array | Int32Array

/**
 * Undefined when the texts are too short or too few, or hardly become smaller.
 *
 * @param nullCount rows without a text
 */
export function compressTexts(
  { bytes, offsets }: Texts,
  nullCount: number,
): WrittenBlocks | undefined {
  const count = offsets.length - 1
  const byteLength = offsets[count]!
  if (byteLength < compressedFromBytes || byteLength <= (count - nullCount) * longTextBytes) {
    return undefined
  }
  const compress = lz4Compressor()
  const blocks = new ByteWriter(Math.ceil(byteLength / 2))
  const rows: number[] = []
  const ends: number[] = []
  const checksums: number[] = []
  const endsInBlocks = new Uint16Array(count)
  let isNarrow = true
  for (let from = 0; from < count; ) {
    letQueriesPass()
    const start = offsets[from]!
    let to = from + 1
    while (to < count && offsets[to + 1]! - start <= mostBlockBytes) to++
    if (offsets[to]! - start > mostBlockBytes) isNarrow = false
    for (let row = from; row < to; row++) endsInBlocks[row] = offsets[row + 1]! - start
    const text = bytes.subarray(start, offsets[to]!)
    const before = blocks.length
    if (text.length > 0) compress(text, blocks)
    if (blocks.length > byteLength * worthwhile) return undefined
    rows.push(to)
    ends.push(blocks.length)
    checksums.push(crc32(blocks.view(before)))
    from = to
  }
  const directory = Int32Array.from([...rows, ...ends, ...checksums])
  return {
    ends: isNarrow ? endsInBlocks : offsets.subarray(1),
    directory: new Uint8Array(directory.buffer),
    blocks: blocks.view(),
  }
}

/** What a thread knows of a column's blocks, for as long as it has the segment's metadata. */
export class BlockState {
  readonly number = nextNumber++
  readonly isChecked: Uint8Array

  constructor(directory: Int32Array) {
    this.isChecked = new Uint8Array(directory.length / directoryFields)
  }
}

let nextNumber = 0

/** Bytes of decompressed blocks that a thread keeps. */
const keptBytes = 2 ** 25
const kept = new LruBuffers(keptBytes)
/** Of more blocks that are read at a time none is kept: there are so many of a scan that each is gone when it comes again. */
const keptPerRead = 4
/** Of a block of which fewer of its rows are needed, one in so many, the others are not copied. */
const rowsPerFew = 8
/** More blocks than a column has. */
const numbersPerColumn = 2 ** 31

/** Throws what `corrupt` makes when a block is damaged. */
export class TextBlocks implements CompressedTexts {
  readonly count: number
  readonly areApart = false
  readonly #ends: TextEnds
  readonly #blockCount: number
  readonly #directory: Int32Array
  readonly #blocks: Buffer
  readonly #state: BlockState
  readonly #corrupt: () => Error
  /** The block of the row that was read last. */
  #block = 0

  constructor(
    ends: TextEnds,
    directory: Int32Array,
    blocks: Uint8Array,
    state: BlockState,
    corrupt: () => Error,
  ) {
    this.count = ends.length
    this.#ends = ends
    this.#blockCount = directory.length / directoryFields
    this.#directory = directory
    this.#blocks = Buffer.from(blocks.buffer, blocks.byteOffset, blocks.length)
    this.#state = state
    this.#corrupt = corrupt
  }

  get identity(): object {
    return this.#state
  }

  lengthAt(row: number): number {
    return this.#ends[row]! - this.#startOf(row, this.#blockOf(row))
  }

  textAt(row: number): Buffer {
    const block = this.#blockOf(row)
    const shift = this.#shiftOf(block)
    const start = this.#startOf(row, block) - shift
    return this.#bytesOf(block).subarray(start, this.#ends[row]! - shift)
  }

  between(from: number, count: number, selection: Int32Array | undefined): Texts {
    const to = from + count
    const offsets = newCodes(count + 1)
    offsets[0] = 0
    const parts: BlockPart[] = []
    let byteLength = 0
    const take = (block: number, start: number, end: number) => {
      parts.push({ block, start, end, at: byteLength })
      byteLength += end - start
    }
    let selected = 0
    for (let row = from, block = this.#blockOf(from); row < to; block++) {
      const end = Math.min(this.#directory[block]!, to)
      const start = this.#startOf(row, block)
      const before = selected
      if (selection) {
        while (selected < selection.length && selection[selected]! < end - from) selected++
      }
      const needed = selection ? selected - before : end - row
      const shift = this.#shiftOf(block)
      if (needed > 0 && needed * rowsPerFew < end - row) {
        for (let i = before; i < selected; i++) {
          const at = selection![i]!
          offsets.fill(byteLength, row - from + 1, at + 1)
          row = from + at + 1
          take(block, this.#startOf(row - 1, block) - shift, this.#ends[row - 1]! - shift)
          offsets[at + 1] = byteLength
        }
        offsets.fill(byteLength, row - from + 1, end - from + 1)
      } else if (needed > 0 && this.#ends[end - 1]! > start) {
        for (let i = row; i < end; i++) {
          offsets[i - from + 1] = byteLength + this.#ends[i]! - start
        }
        take(block, start - shift, this.#ends[end - 1]! - shift)
      } else {
        offsets.fill(byteLength, row - from + 1, end - from + 1)
      }
      row = end
    }
    return { bytes: this.#bytesOfParts(parts, byteLength), offsets }
  }

  *parts(): Generator<Texts> {
    for (let block = 0, row = 0; block < this.#blockCount; block++) {
      const end = this.#directory[block]!
      const start = this.#startOf(row, block)
      const offsets = new Int32Array(end - row + 1)
      for (let i = row; i < end; i++) offsets[i - row + 1] = this.#ends[i]! - start
      yield { bytes: this.#copyOf(block), offsets }
      row = end
    }
  }

  /** What ends are counted from, besides the block's own start. */
  #shiftOf(block: number): number {
    return block === 0 || this.#ends instanceof Uint16Array
      ? 0
      : this.#ends[this.#firstRow(block) - 1]!
  }

  /** @param block that of the row */
  #startOf(row: number, block: number): number {
    return row === this.#firstRow(block) ? this.#shiftOf(block) : this.#ends[row - 1]!
  }

  #firstRow(block: number): number {
    return block === 0 ? 0 : this.#directory[block - 1]!
  }

  #blockOf(row: number): number {
    let low = this.#block
    if (row < this.#directory[low]! && row >= this.#firstRow(low)) return low
    low = 0
    let high = this.#blockCount - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#directory[middle]! <= row) low = middle + 1
      else high = middle
    }
    this.#block = low
    return low
  }

  #bytesOfParts(parts: readonly BlockPart[], byteLength: number): Buffer {
    const [first] = parts
    if (!first) return nothing
    if (parts.length === 1) return this.#bytesOf(first.block).subarray(first.start, first.end)
    const bytes = newText(byteLength)
    const areKept =
      parts.filter(({ block }, i) => block !== parts[i - 1]?.block).length <= keptPerRead
    let last = -1
    let ofBlock: Buffer = nothing
    for (const { block, start, end, at } of parts) {
      if (block !== last) {
        ofBlock = areKept ? this.#bytesOf(block) : this.#decompress(block)
        last = block
      }
      ofBlock.copy(bytes, at, start, end)
    }
    return bytes
  }

  #lengthOf(block: number): number {
    return this.#ends[this.#directory[block]! - 1]! - this.#shiftOf(block)
  }

  #bytesOf(block: number): Buffer {
    const key = this.#state.number * numbersPerColumn + block
    let bytes = kept.get(key)
    if (bytes === undefined) {
      bytes = this.#copyOf(block)
      kept.set(key, bytes)
    }
    return bytes
  }

  #copyOf(block: number): Buffer {
    const bytes = this.#decompress(block)
    const copy = Buffer.allocUnsafeSlow(bytes.length)
    bytes.copy(copy)
    return copy
  }

  /** Good until the next loop of kernels begins. */
  #decompress(block: number): Buffer {
    const blockCount = this.#blockCount
    const from = block === 0 ? 0 : this.#directory[blockCount + block - 1]!
    const to = this.#directory[blockCount + block]!
    if (from === to) return nothing
    const bytes = this.#blocks.subarray(from, to)
    const length = this.#lengthOf(block)
    noteLong(length)
    const { isChecked } = this.#state
    if (isChecked[block] === 0) {
      if ((crc32(bytes) | 0) !== this.#directory[blockCount * 2 + block]) throw this.#corrupt()
      isChecked[block] = 1
    }
    const texts = decompressLz4(bytes, length)
    if (texts?.length !== length) throw this.#corrupt()
    return texts
  }
}

/** Bytes `start … end` of a block, which go to `at`. */
interface BlockPart {
  readonly block: number
  readonly start: number
  readonly end: number
  readonly at: number
}

const nothing = Buffer.alloc(0)
