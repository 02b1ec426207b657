/**
 * Bodies of blocks: rows without what can be made again. Integers are big-endian.
 *
 *     body   = head  created f64*  flags u8*  shape u16*  table  lengths  members
 *     head   = table bytes u32, lengths bytes u32
 *     table  = { field count u16, { rank u16, name length u32, kind u8 }* }*    one per shape
 *     lengths = varint*                        of the values of each row, in the order of its text
 *     members = { `"name":value` }             of each row, as in `storage/row/row.ts`, but for the kinds
 *
 * All but the table and the lengths have one entry per row. A shape is what the directories of rows
 * with the same fields in the same order have in common: for each member in the order of the text,
 * its rank by name, how long its name is, and of which kind its value is (`packed-value.ts`; older
 * bodies have no kinds). With the lengths of values, a directory is made again.
 */
import { ByteWriter } from '../../json/byte-writer.ts'
import { longBytes, noteLong, requireLeft } from '../../json/turn-limit.ts'
import { packRows } from '../../kernel/row-pack.ts'
import { readUint, writeUint } from '../big-endian.ts'
import { packedLength, plainValue, unpackValue } from './packed-value.ts'
import {
  directoryEntryBytes,
  headerBytes,
  type ObjectConstants,
  type RowHeader,
  RowView,
  rowFlags,
  writeRow,
  writeRowHeader,
} from './row.ts'
import { RowPrinting, type RowShape } from './row-printing.ts'
import { VarintReader, writeVarint } from './varint.ts'

const headBytes = 8
const createdBytes = 8
const shapeBytes = 2
const tableCountBytes = 2
const olderFieldBytes = 6
const tableFieldBytes = 7

/** Of rows that are read: mostly those of a shape have the same names, too. */
interface ReadShape extends RowShape {
  printing?: RowPrinting
}

export interface EncodedBody {
  /** All but the members. */
  readonly head: Buffer
  readonly members: Uint8Array
  /** Where among them those of each row end. */
  readonly ends: ArrayLike<number>
}

/** Encodes rows; of their headers, only `flags` and `createdMs`. What it gives is gone with the next call. */
export function encodeBody(rows: readonly Uint8Array[]): EncodedBody {
  const packed = packRows(rows)
  if (!packed) return encodeLarge(rows)
  const { fixed, table, lengths, members, ends } = packed
  return { head: headOf(fixed, table, lengths), members, ends }
}

function headOf(fixed: Buffer, table: Buffer, lengths: Buffer): Buffer {
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32BE(table.length, 0)
  head.writeUInt32BE(lengths.length, 4)
  return Buffer.concat([head, fixed, table, lengths])
}

/**
 * Of rows that are larger, or of more fields, than the loops in `kernel/row-pack.ts` take: each has a shape of its own,
 * and all values stand as they are.
 */
function encodeLarge(rows: readonly Uint8Array[]): EncodedBody {
  const views = rows.map((bytes) => new RowView(bytes))
  const shapes = views.map(shapeOf)
  const lengths = new ByteWriter(rows.length * 24)
  const members = new ByteWriter(rows.reduce((total, { length }) => total + length, 0))
  const fixed = Buffer.allocUnsafe(rows.length * (createdBytes + 1 + shapeBytes))
  const flagsAt = rows.length * createdBytes
  const shapesAt = flagsAt + rows.length
  const ends = views.map((view, row) => {
    fixed.writeDoubleBE(view.createdMs, row * createdBytes)
    fixed[flagsAt + row] = view.flags
    fixed.writeUInt16BE(row, shapesAt + row * shapeBytes)
    for (const rank of shapes[row]!.ranks) {
      const { end } = view.valueAt(rank)
      writeVarint(lengths, view.valueLength(rank))
      members.copy(view.bytes, view.memberStart(rank), end)
    }
    return members.length
  })
  const head = headOf(fixed, encodeTable(shapes), lengths.view())
  return { head, members: members.view(), ends }
}

function shapeOf(view: RowView): RowShape {
  const ranks = Array.from({ length: view.fieldCount }, (_, rank) => rank)
  ranks.sort((a, b) => view.memberStart(a) - view.memberStart(b))
  const nameLengths = ranks.map((rank) => view.nameLength(rank))
  return { ranks, nameLengths, kinds: ranks.map(() => plainValue) }
}

function encodeTable(shapes: readonly RowShape[]): Buffer {
  const fields = shapes.reduce((total, { ranks }) => total + ranks.length, 0)
  const table = Buffer.allocUnsafe(shapes.length * tableCountBytes + fields * tableFieldBytes)
  let at = 0
  for (const { ranks, nameLengths, kinds } of shapes) {
    at = table.writeUInt16BE(ranks.length, at)
    ranks.forEach((rank, i) => {
      at = table.writeUInt16BE(rank, at)
      at = table.writeUInt32BE(nameLengths[i]!, at)
      at = table.writeUInt8(kinds[i]!, at)
    })
  }
  return table
}

/** The bytes of a body, of which members are decompressed when they are asked for. */
export interface BlockBytes {
  /** The beginning, with all that comes before the members. */
  readonly first: Buffer
  readonly hasKinds: boolean
  /** What is in memory as long as this is, apart from chunks. */
  readonly keptBytes: number
  /** Whether the bytes at `place` are decompressed. */
  isAtHand(place: number): boolean
  /**
   * Bytes that have those of a row, at `place … end`, and the place of their first one. They may be written
   * over when the next row is asked for.
   *
   * @param stored the body as it is stored; needed for what is not at hand
   * @param keeps whether what is decompressed is kept if it is asked for again
   */
  chunkOf(
    place: number,
    end: number,
    stored: Buffer | undefined,
    keeps: boolean,
  ): { readonly bytes: Buffer; readonly start: number }
}

/** Makes rows again from a body: of one row, nothing after it is looked at. */
export class BlockRows {
  readonly #body: Buffer
  readonly #bytes: BlockBytes
  /** Where in the bytes the body begins. */
  readonly #from: number
  readonly #rowCount: number
  readonly #shapes: ReadShape[]
  /** Where in the body the lengths of each row's values begin, as far as `#reached`. */
  readonly #lengthStarts: Uint32Array
  /** Where in the body its members begin. */
  readonly #memberStarts: Uint32Array
  /** The last row of which both are known. */
  #reached = 0

  constructor(bytes: BlockBytes, from: number, rowCount: number) {
    const body = bytes.first.subarray(from)
    this.#body = body
    this.#bytes = bytes
    this.#from = from
    this.#rowCount = rowCount
    const tableStart = headBytes + rowCount * (createdBytes + 1 + shapeBytes)
    const tableEnd = tableStart + readUint(body, 0)
    this.#shapes = decodeTable(body, tableStart, tableEnd, bytes.hasKinds)
    this.#lengthStarts = new Uint32Array(rowCount + 1)
    this.#memberStarts = new Uint32Array(rowCount + 1)
    this.#lengthStarts[0] = tableEnd
    this.#memberStarts[0] = tableEnd + readUint(body, 4)
  }

  /** Whether the row can be made without the body as it is stored. */
  isAtHand(row: number): boolean {
    this.#reach(row)
    return this.#bytes.isAtHand(this.#from + this.#memberStarts[row]!)
  }

  /**
   * The row as `storage/row/row.ts` has it.
   *
   * @param stored the body; needed unless the row is at hand
   * @param memory where it is put if there is room; memory of its own otherwise
   */
  rowAt(
    row: number,
    { paginationKey, transaction, previous }: Omit<RowHeader, 'flags' | 'createdMs'>,
    stored: Buffer | undefined,
    memory?: Buffer,
  ): RowView {
    this.#reach(row + 1)
    const body = this.#body
    const { ranks, nameLengths, kinds } = this.#shapeOf(row)
    const valueLengths = this.#valueLengths(row, ranks.length)
    let directory = headerBytes
    for (let i = 0; i < ranks.length; i++) directory += nameLengths[i]! + 1 + valueLengths[i]!
    requireLeft(directory)
    const length = directory + ranks.length * directoryEntryBytes
    const hasRoom = memory !== undefined && length <= memory.length
    const bytes = hasRoom ? memory.subarray(0, length) : Buffer.allocUnsafe(length)
    writeRowHeader(bytes, 0, {
      paginationKey,
      transaction,
      previous,
      createdMs: body.readDoubleBE(headBytes + row * createdBytes),
      flags: this.#flagsOf(row),
    })
    writeUint(bytes, 4, ranks.length)
    const place = this.#from + this.#memberStarts[row]!
    const { bytes: source, start } = this.#bytes.chunkOf(
      place,
      this.#from + this.#memberStarts[row + 1]!,
      stored,
      true,
    )
    let from = place - start
    let copied = from
    let offset = headerBytes
    let written = headerBytes
    for (let i = 0; i < ranks.length; i++) {
      const at = directory + ranks[i]! * directoryEntryBytes
      const nameLength = nameLengths[i]!
      const valueLength = valueLengths[i]!
      writeUint(bytes, at, offset)
      writeUint(bytes, at + 4, nameLength)
      writeUint(bytes, at + 8, valueLength)
      offset += nameLength + 1 + valueLength
      from += nameLength + 1
      const kind = kinds[i]!
      if (kind !== plainValue) {
        source.copy(bytes, written, copied, from)
        unpackValue(kind, source, from, bytes, offset - valueLength, offset)
        written = offset
        copied = from + packedLength(kind, valueLength)
      }
      from += packedLength(kind, valueLength)
    }
    source.copy(bytes, written, copied, from)
    return new RowView(bytes)
  }

  /**
   * Appends the row as `writeRow` does, mostly without making it.
   *
   * @param keeps whether what is decompressed is kept if rows of it are printed again
   * @returns how many bytes the row has; undefined for a tombstone, of which nothing is printed
   */
  printAt(
    row: number,
    keys: Omit<RowHeader, 'flags' | 'createdMs'>,
    object: ObjectConstants,
    out: ByteWriter,
    stored: Buffer | undefined,
    keeps: boolean,
  ): number | undefined {
    const body = this.#body
    if ((this.#flagsOf(row) & rowFlags.tombstone) !== 0) return undefined
    this.#reach(row + 1)
    const shape = this.#shapeOf(row)
    if (!shape.printing?.isOf(object)) {
      const like = RowPrinting.like(object, shape)
      if (like) shape.printing = like
    }
    const { printing } = shape
    if (printing?.isOf(object)) {
      const place = this.#from + this.#memberStarts[row]!
      const end = this.#from + this.#memberStarts[row + 1]!
      if (end - place > longBytes) noteLong(end - place)
      const { bytes, start } = this.#bytes.chunkOf(place, end, stored, keeps)
      const members = { bytes, start: place - start, end: end - start }
      const [from, to] = [this.#lengthStarts[row]!, this.#lengthStarts[row + 1]!]
      const memberBytes = printing.print(members, body, from, to, keys, out)
      const directoryBytes = shape.ranks.length * directoryEntryBytes
      if (memberBytes !== undefined) return headerBytes + memberBytes + directoryBytes
    }
    const view = this.rowAt(row, keys, stored)
    const names = shape.ranks.map((_, rank) => {
      const { start, end } = view.nameAt(rank)
      return view.bytes.subarray(start, end)
    })
    shape.printing = RowPrinting.of(object, shape, names)
    writeRow(view, object, out)
    return view.bytes.length
  }

  isEvicted(row: number): boolean {
    return (this.#flagsOf(row) & rowFlags.evicted) !== 0
  }

  #flagsOf(row: number): number {
    return this.#body[headBytes + this.#rowCount * createdBytes + row]!
  }

  #valueLengths(row: number, count: number): number[] {
    const lengths = new VarintReader(this.#body, this.#lengthStarts[row]!)
    const found = new Array<number>(count)
    for (let i = 0; i < count; i++) found[i] = lengths.next()
    return found
  }

  #shapeOf(row: number): ReadShape {
    const at = headBytes + this.#rowCount * (createdBytes + 1) + row * shapeBytes
    return this.#shapes[(this.#body[at]! << 8) | this.#body[at + 1]!]!
  }

  /** Finds where rows begin, up to `row`. */
  #reach(row: number): void {
    if (row <= this.#reached) return
    const lengths = new VarintReader(this.#body, this.#lengthStarts[this.#reached]!)
    let memberStart = this.#memberStarts[this.#reached]!
    for (let i = this.#reached; i < row; i++) {
      const { nameLengths, kinds } = this.#shapeOf(i)
      for (let field = 0; field < nameLengths.length; field++) {
        memberStart += nameLengths[field]! + 1 + packedLength(kinds[field]!, lengths.next())
      }
      this.#lengthStarts[i + 1] = lengths.at
      this.#memberStarts[i + 1] = memberStart
    }
    this.#reached = row
  }
}

function decodeTable(body: Buffer, start: number, end: number, hasKinds: boolean): RowShape[] {
  const fieldBytes = hasKinds ? tableFieldBytes : olderFieldBytes
  const shapes: RowShape[] = []
  let at = start
  while (at < end) {
    const fieldCount = body.readUInt16BE(at)
    at += tableCountBytes
    const ranks: number[] = []
    const nameLengths: number[] = []
    const kinds: number[] = []
    for (let i = 0; i < fieldCount; i++, at += fieldBytes) {
      ranks.push((body[at]! << 8) | body[at + 1]!)
      nameLengths.push(readUint(body, at + 2))
      kinds.push(hasKinds ? body[at + 6]! : plainValue)
    }
    shapes.push({ ranks, nameLengths, kinds })
  }
  return shapes
}
