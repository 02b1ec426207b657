/**
 * The bytes of a block in pieces that are decompressed when a row of them is asked for. Integers are
 * big-endian.
 *
 *     pieces = count u16, { plain length u32, length u32, checksum u32 }*, bytes*
 *
 * Older pieces have no checksums. A checksum is that of a piece's bytes as they are stored, and verified whenever they are
 * read. A piece is LZ4, or plain if both lengths are the same. The first has all that comes before the
 * members of rows, and is the dictionary of the others, which have members of whole rows alone. So a
 * row costs two pieces, and all take little more than if they were compressed as one.
 */
import { uncompressSync } from 'lz4-napi'
import { AssayError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { requireLeft } from '../../json/turn-limit.ts'
import { type Compress, decompressLz4, lz4Compressor, plainLength } from '../../kernel/lz4.ts'
import { checksumOf } from '../checksum.ts'
import type { BlockBytes } from './row-block-body.ts'

const pieceBytes = 16 * 1024
/** Of the first piece, its last bytes: LZ4 looks back by 64 KiB, over what it has of the piece itself. */
const dictionaryBytes = 32 * 1024
/** What is larger is one huge row, and kept as it is: LZ4 takes less than 2 GiB. */
const compressibleBytes = 2 ** 30

const countBytes = 2
const entryBytes = 12
const olderEntryBytes = 8
/** In memory, of where a piece is, by estimate. */
const bytesPerPiece = 64

/** What the next block is written to, if it is no larger. */
let kept = new ByteWriter(0)
const keptBytes = 2 ** 20

/**
 * The result is gone with the next call.
 *
 * @param head what comes before the members
 * @param ends where among the members those of each row end
 */
export function compressPieces(head: Buffer, members: Uint8Array, ends: ArrayLike<number>): Buffer {
  const cuts = cutsOf(head.length, ends)
  if (kept.bytes.length > keptBytes) kept = new ByteWriter(0)
  const out = kept
  out.truncate(0)
  out.skip(countBytes + cuts.length * entryBytes)
  const directory: number[] = []
  const add = (plain: Uint8Array, compress: Compress) => {
    const start = out.length
    const length = addPiece(plain, compress, out)
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

/** Where among the members the pieces end. */
function cutsOf(headBytes: number, ends: ArrayLike<number>): number[] {
  const cuts: number[] = []
  let start = -headBytes
  for (let row = 0; row < ends.length; row++) {
    const end = ends[row]!
    if (end - start < pieceBytes) continue
    cuts.push(end)
    start = end
  }
  const last = ends[ends.length - 1] ?? 0
  if (cuts.at(-1) !== last) cuts.push(last)
  return cuts
}

/** Returns how many bytes it takes. */
function addPiece(plain: Uint8Array, compress: Compress, out: ByteWriter): number {
  const start = out.length
  if (plain.length <= compressibleBytes && compress(plain, out) < plain.length) {
    return out.length - start
  }
  out.truncate(start)
  out.copy(plain)
  return plain.length
}

/** Where in pieces their directory ends; undefined when there is no directory. */
export function directoryEnd(bytes: Buffer): number | undefined {
  if (bytes.length < countBytes) return undefined
  const end = countBytes + bytes.readUInt16BE(0) * entryBytes
  return end > countBytes && end <= bytes.length ? end : undefined
}

/** The bytes of an older block, which are not in pieces. */
export function decompressWhole(bytes: Buffer): Buffer {
  return uncompressSync(bytes)
}

/** Where decompressed pieces are kept, by objects that stand for them. */
export interface KeptPieces {
  get(piece: object): Buffer | undefined
  set(piece: object, bytes: Buffer): unknown
}

export interface PiecesForm {
  /** Of all pieces together. */
  readonly plainLength: number
  readonly hasChecksums: boolean
}

export class BlockPieces implements BlockBytes {
  readonly first: Buffer
  readonly hasKinds = true
  readonly #corrupt: () => Error
  /** Where the first piece begins. */
  readonly #start: number
  /** Where each piece ends, plain and as it is stored. */
  readonly #plainEnds: Float64Array
  readonly #ends: Float64Array
  readonly #checksums: Uint32Array | undefined
  readonly #dictionary: Buffer
  readonly #kept: KeptPieces
  readonly #pieces: readonly object[]
  /** The piece of which a row was asked for last, and which is not kept. */
  #asked = 0

  /**
   * Decompresses the first piece; the bytes are not used any more after that.
   *
   * @param corrupt makes the error that is thrown when the bytes are not pieces of that form, and when one is damaged
   */
  constructor(
    bytes: Buffer,
    { plainLength, hasChecksums }: PiecesForm,
    kept: KeptPieces,
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
    this.#pieces = Array.from({ length: count }, () => ({}))
    this.first = Buffer.from(this.#decompress(0, this.#lengthOf(0), bytes))
    this.#dictionary = this.first.subarray(-dictionaryBytes)
  }

  get keptBytes(): number {
    return this.first.length + this.#pieces.length * bytesPerPiece
  }

  isAtHand(place: number): boolean {
    const piece = this.#pieceWith(place)
    return piece === 0 || this.#kept.get(this.#pieces[piece]!) !== undefined
  }

  pieceOf(
    place: number,
    end: number,
    stored: Buffer | undefined,
    keeps: boolean,
  ): { readonly bytes: Buffer; readonly start: number } {
    const piece = this.#pieceWith(place)
    if (piece === 0) return { bytes: this.first, start: 0 }
    const start = this.#plainEnds[piece - 1]!
    return { bytes: this.#pieceAt(piece, end - start, stored, keeps), start }
  }

  #pieceWith(place: number): number {
    let piece = 0
    while (piece < this.#plainEnds.length - 1 && place >= this.#plainEnds[piece]!) piece++
    return piece
  }

  /** Of a piece that is asked for once, no more than the first `length` bytes; the second time it is kept. */
  #pieceAt(piece: number, length: number, stored: Buffer | undefined, keeps: boolean): Buffer {
    const known = this.#kept.get(this.#pieces[piece]!)
    if (known) return known
    if (!stored) throw new AssayError('INTERNAL', 'a row was read without the bytes of its block')
    if (!keeps) return this.#decompress(piece, length, stored)
    if (this.#asked !== piece) {
      this.#asked = piece
      return this.#decompress(piece, length, stored)
    }
    const plain = Buffer.from(this.#decompress(piece, this.#lengthOf(piece), stored))
    this.#kept.set(this.#pieces[piece]!, plain)
    return plain
  }

  #lengthOf(piece: number): number {
    return this.#plainEnds[piece]! - (piece === 0 ? 0 : this.#plainEnds[piece - 1]!)
  }

  /** The first `length` bytes of a piece; they are written over by what is decompressed next. */
  #decompress(piece: number, length: number, stored: Buffer): Buffer {
    const start = piece === 0 ? this.#start : this.#ends[piece - 1]!
    const bytes = stored.subarray(start, this.#ends[piece])
    requireLeft(Math.max(bytes.length, length))
    const checksums = this.#checksums
    if (checksums && checksumOf(bytes, 0) !== checksums[piece]) throw this.#corrupt()
    const whole = this.#lengthOf(piece)
    if (bytes.length === whole) return bytes
    const dictionary = piece === 0 ? undefined : this.#dictionary
    const plain = decompressLz4(bytes, length, dictionary)
    if (!plain || plainLength(bytes) !== whole) throw this.#corrupt()
    return plain
  }
}
