/**
 * The bytes of a block in chunks that are decompressed when a row of them is asked for. Integers are
 * big-endian.
 *
 *     chunks = count u16, { plain length u32, length u32, checksum u32 }*, bytes*
 *
 * Older chunks have no checksums. A checksum is that of a chunk's bytes as they are stored, and verified whenever they are
 * read. A chunk is LZ4, or plain if both lengths are the same. The first has all that comes before the
 * members of rows, and is the dictionary of the others, which have members of whole rows alone. So a
 * row costs two chunks, and all take little more than if they were compressed as one.
 */
import { uncompressSync } from 'lz4-napi'
import { AssayError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { requireLeft } from '../../json/turn-limit.ts'
import { type Compress, decompressLz4, lz4Compressor, plainLength } from '../../kernel/lz4.ts'
import { checksumOf } from '../checksum.ts'
import type { BlockBytes } from './row-block-body.ts'

const chunkBytes = 16 * 1024
/** Of the first chunk, its last bytes: LZ4 looks back by 64 KiB, over what it has of the chunk itself. */
const dictionaryBytes = 32 * 1024
/** What is larger is one huge row, and kept as it is: LZ4 takes less than 2 GiB. */
const compressibleBytes = 2 ** 30

const countBytes = 2
const entryBytes = 12
const olderEntryBytes = 8
/** In memory, of where a chunk is, by estimate. */
const bytesPerChunk = 64

/** What the next block is written to, if it is no larger. */
let kept = new ByteWriter(0)
const keptBytes = 2 ** 20

/**
 * The result is gone with the next call.
 *
 * @param head what comes before the members
 * @param ends where among the members those of each row end
 */
export function compressChunks(head: Buffer, members: Uint8Array, ends: ArrayLike<number>): Buffer {
  const cuts = cutsOf(head.length, ends)
  if (kept.bytes.length > keptBytes) kept = new ByteWriter(0)
  const out = kept
  out.truncate(0)
  out.skip(countBytes + cuts.length * entryBytes)
  const directory: number[] = []
  const add = (plain: Uint8Array, compress: Compress) => {
    const start = out.length
    const length = addChunk(plain, compress, out)
    directory.push(plain.length, length, checksumOf(out.bytes.subarray(start, out.length), 0))
  }
  const first = Buffer.concat([head, members.subarray(0, cuts[0])])
  add(first, lz4Compressor())
  if (cuts.length > 1) {
    const compress = lz4Compressor(first.subarray(-dictionaryBytes))
    for (let i = 1; i < cuts.length; i++) add(members.subarray(cuts[i - 1], cuts[i]), compress)
  }
  const bytes = out.view()
  bytes.writeUInt16BE(cuts.length, 0)
  directory.forEach((length, i) => {
    bytes.writeUInt32BE(length, countBytes + i * 4)
  })
  return bytes
}

/** Where among the members the chunks end. */
function cutsOf(headBytes: number, ends: ArrayLike<number>): number[] {
  const cuts: number[] = []
  let start = -headBytes
  for (let row = 0; row < ends.length; row++) {
    const end = ends[row]!
    if (end - start < chunkBytes) continue
    cuts.push(end)
    start = end
  }
  const last = ends[ends.length - 1] ?? 0
  if (cuts.at(-1) !== last) cuts.push(last)
  return cuts
}

/** Returns how many bytes it takes. */
function addChunk(plain: Uint8Array, compress: Compress, out: ByteWriter): number {
  const start = out.length
  if (plain.length <= compressibleBytes && compress(plain, out) < plain.length) {
    return out.length - start
  }
  out.truncate(start)
  out.copy(plain)
  return plain.length
}

/** Where in chunks their directory ends; undefined when there is no directory. */
export function directoryEnd(bytes: Buffer): number | undefined {
  if (bytes.length < countBytes) return undefined
  const end = countBytes + bytes.readUInt16BE(0) * entryBytes
  return end > countBytes && end <= bytes.length ? end : undefined
}

/** The bytes of an older block, which are not in chunks. */
export function decompressWhole(bytes: Buffer): Buffer {
  return uncompressSync(bytes)
}

/** Where decompressed chunks are kept, by objects that stand for them. */
export interface CachedChunks {
  get(chunk: object): Buffer | undefined
  set(chunk: object, bytes: Buffer): unknown
}

export interface ChunksForm {
  /** Of all chunks together. */
  readonly plainLength: number
  readonly hasChecksums: boolean
}

export class BlockChunks implements BlockBytes {
  readonly first: Buffer
  readonly hasKinds = true
  readonly #corrupt: () => Error
  /** Where the first chunk begins. */
  readonly #start: number
  /** Where each chunk ends, plain and as it is stored. */
  readonly #plainEnds: Float64Array
  readonly #ends: Float64Array
  readonly #checksums: Uint32Array | undefined
  readonly #dictionary: Buffer
  readonly #kept: CachedChunks
  readonly #chunks: readonly object[]
  /** The chunk of which a row was asked for last, and which is not kept. */
  #asked = 0

  /**
   * Decompresses the first chunk; the bytes are not used any more after that.
   *
   * @param corrupt makes the error that is thrown when the bytes are not chunks of that form, and when one is damaged
   */
  constructor(
    bytes: Buffer,
    { plainLength, hasChecksums }: ChunksForm,
    kept: CachedChunks,
    corrupt: () => Error,
  ) {
    const count = bytes.length < countBytes ? 0 : bytes.readUInt16BE(0)
    const stride = hasChecksums ? entryBytes : olderEntryBytes
    const directoryBytes = countBytes + count * stride
    if (count === 0 || bytes.length < directoryBytes) throw corrupt()
    this.#corrupt = corrupt
    this.#plainEnds = new Float64Array(count)
    this.#ends = new Float64Array(count)
    this.#checksums = hasChecksums ? new Uint32Array(count) : undefined
    this.#start = directoryBytes
    let plainEnd = 0
    let end = directoryBytes
    for (let i = 0; i < count; i++) {
      const at = countBytes + i * stride
      plainEnd += bytes.readUInt32BE(at)
      end += bytes.readUInt32BE(at + 4)
      if (this.#checksums) this.#checksums[i] = bytes.readUInt32BE(at + 8)
      this.#plainEnds[i] = plainEnd
      this.#ends[i] = end
    }
    if (plainEnd !== plainLength || end !== bytes.length) throw corrupt()
    this.#kept = kept
    this.#chunks = Array.from({ length: count }, () => ({}))
    this.first = Buffer.from(this.#decompress(0, this.#lengthOf(0), bytes))
    this.#dictionary = this.first.subarray(-dictionaryBytes)
  }

  get keptBytes(): number {
    return this.first.length + this.#chunks.length * bytesPerChunk
  }

  isAtHand(place: number): boolean {
    const chunk = this.#chunkWith(place)
    return chunk === 0 || this.#kept.get(this.#chunks[chunk]!) !== undefined
  }

  chunkOf(
    place: number,
    end: number,
    stored: Buffer | undefined,
    keeps: boolean,
  ): { readonly bytes: Buffer; readonly start: number } {
    const chunk = this.#chunkWith(place)
    if (chunk === 0) return { bytes: this.first, start: 0 }
    const start = this.#plainEnds[chunk - 1]!
    return { bytes: this.#chunkAt(chunk, end - start, stored, keeps), start }
  }

  #chunkWith(place: number): number {
    let chunk = 0
    while (chunk < this.#plainEnds.length - 1 && place >= this.#plainEnds[chunk]!) chunk++
    return chunk
  }

  /** Of a chunk that is asked for once, no more than the first `length` bytes; the second time it is kept. */
  #chunkAt(chunk: number, length: number, stored: Buffer | undefined, keeps: boolean): Buffer {
    const known = this.#kept.get(this.#chunks[chunk]!)
    if (known) return known
    if (!stored) throw new AssayError('INTERNAL', 'a row was read without the bytes of its block')
    if (!keeps) return this.#decompress(chunk, length, stored)
    if (this.#asked !== chunk) {
      this.#asked = chunk
      return this.#decompress(chunk, length, stored)
    }
    const plain = Buffer.from(this.#decompress(chunk, this.#lengthOf(chunk), stored))
    this.#kept.set(this.#chunks[chunk]!, plain)
    return plain
  }

  #lengthOf(chunk: number): number {
    return this.#plainEnds[chunk]! - (chunk === 0 ? 0 : this.#plainEnds[chunk - 1]!)
  }

  /** The first `length` bytes of a chunk; they are written over by what is decompressed next. */
  #decompress(chunk: number, length: number, stored: Buffer): Buffer {
    const start = chunk === 0 ? this.#start : this.#ends[chunk - 1]!
    const bytes = stored.subarray(start, this.#ends[chunk])
    requireLeft(Math.max(bytes.length, length))
    const checksums = this.#checksums
    if (checksums && checksumOf(bytes, 0) !== checksums[chunk]) throw this.#corrupt()
    const whole = this.#lengthOf(chunk)
    if (bytes.length === whole) return bytes
    const dictionary = chunk === 0 ? undefined : this.#dictionary
    const plain = decompressLz4(bytes, length, dictionary)
    if (!plain || plainLength(bytes) !== whole) throw this.#corrupt()
    return plain
  }
}
