/** Builds rows of the form that `storage/row/row.ts` describes, one after the other, in one buffer. */
import { AssayError } from '../../error.ts'
import type { ByteWriter } from '../../json/byte-writer.ts'
import { writeUint } from '../big-endian.ts'
import { compareBytes } from '../compare-bytes.ts'
import {
  type ByteSpan,
  directoryEntryBytes,
  fieldNameBytes,
  headerBytes,
  type RowHeader,
  writeRowHeader,
} from './row.ts'

/** A header's offsets have 32 bits. */
const maximumRowBytes = 2 ** 32 - 1

/** Orders of members that are kept: rows of a request have few. */
const keptOrders = 8

interface Member {
  /** The memory that the name was copied from: rows mostly take it from the same. */
  name: Uint8Array
  start: number
  nameLength: number
  valueLength: number
}

/** How the members of a row were sorted. */
interface MemberOrder {
  readonly names: readonly Uint8Array[]
  /** For each place by name, the member. */
  readonly order: readonly number[]
  /** The same members as they came. */
  readonly inText: readonly number[]
}

/** Where in `out` a member is. */
export interface MemberSpan {
  readonly start: number
  /** Behind its name and colon. */
  readonly valueStart: number
  readonly end: number
}

/**
 * Appends rows to `out`:
 *
 *     builder.begin()
 *     builder.name('input')
 *     …write the compact JSON text of the value to builder.out…
 *     builder.endValue()
 *     builder.finish(header)
 */
export class RowBuilder {
  readonly out: ByteWriter
  #start = 0
  #members: Member[] = []
  #open: Member | undefined
  readonly #orders: MemberOrder[] = []

  constructor(out: ByteWriter) {
    this.out = out
  }

  begin(): void {
    this.#start = this.out.length
    this.#members = []
    this.out.skip(headerBytes)
  }

  /** Opens a member; its value's text is what is written to `out` until `endValue`. */
  name(name: string): void {
    this.rawName(fieldNameBytes(name))
  }

  /** As `name`, with the quoted and escaped bytes that `fieldNameBytes` would give. */
  rawName(name: Uint8Array): void {
    this.#open = { name, start: this.out.length, nameLength: name.length, valueLength: 0 }
    this.out.copy(name)
    this.out.byte(0x3a)
  }

  endValue(): void {
    const member = this.#open!
    member.valueLength = this.out.length - member.start - member.nameLength - 1
    this.#members.push(member)
  }

  /** Adds a member whose value is the JSON text `text`. */
  text(name: string, text: string): void {
    this.name(name)
    this.out.text(text)
    this.endValue()
  }

  /** Adds a member whose value is the JSON text in `bytes`. */
  copy(name: string, bytes: Uint8Array, start: number, end: number): void {
    this.name(name)
    this.out.copy(bytes, start, end)
    this.endValue()
  }

  /** Drops what was written since `begin`. */
  drop(): void {
    this.out.truncate(this.#start)
  }

  /** The same, to begin anew. */
  restart(): void {
    this.drop()
    this.begin()
  }

  /** Where in `out` the last value given for `name` is; undefined when there is none but null. */
  value(name: string): ByteSpan | undefined {
    const bytes = fieldNameBytes(name)
    for (let i = this.#members.length - 1; i >= 0; i--) {
      const member = this.#members[i]!
      if (!this.#isNamed(member, bytes)) continue
      const start = member.start + member.nameLength + 1
      return this.out.bytes[start] === 0x6e ? undefined : { start, end: start + member.valueLength }
    }
    return undefined
  }

  /** Gives the value of `from`, if any, the name `to`, unless a value other than null has it. */
  rename(from: string, to: string): void {
    if (!this.value(from) || this.value(to)) return
    const [fromBytes, toBytes] = [fieldNameBytes(from), fieldNameBytes(to)]
    this.#members = this.#members.filter((member) => !this.#isNamed(member, toBytes))
    for (const member of this.#members) {
      if (this.#isNamed(member, fromBytes)) this.#replaceName(member, toBytes)
    }
  }

  /** The members that `finish` would keep, as they came. */
  *kept(keepNulls = false): Generator<MemberSpan> {
    const members = this.#members
    for (const place of this.#orderOf(members).inText) {
      const member = members[place]!
      if (!keepNulls && this.#isNull(member)) continue
      const valueStart = member.start + member.nameLength + 1
      yield { start: member.start, valueStart, end: valueStart + member.valueLength }
    }
  }

  /** How many members were added. */
  get memberCount(): number {
    return this.#members.length
  }

  /**
   * Closes the row: of members with one name the last stays, and null ones only with `keepNulls`.
   * Returns where the row starts in `out`.
   */
  finish(header: RowHeader, keepNulls = false): number {
    const members = this.#members
    const { order } = this.#orderOf(members)
    const { out } = this
    const start = this.#start
    let count = 0
    for (const place of order) if (keepNulls || !this.#isNull(members[place]!)) count++
    const rowBytes = out.length - start + count * directoryEntryBytes
    if (rowBytes > maximumRowBytes) {
      throw new AssayError('REQUEST_TOO_LARGE', `a record of ${rowBytes} bytes is too large`, {
        hint: 'a record may take 4 GiB',
      })
    }
    const directory = out.length
    out.skip(count * directoryEntryBytes)
    const { bytes } = out
    let at = directory
    for (const place of order) {
      const member = members[place]!
      if (!keepNulls && this.#isNull(member)) continue
      writeUint(bytes, at, member.start - start)
      writeUint(bytes, at + 4, member.nameLength)
      writeUint(bytes, at + 8, member.valueLength)
      at += directoryEntryBytes
    }
    writeUint(bytes, start + 4, count)
    writeRowHeader(bytes, start, header)
    return start
  }

  #isNamed(member: Member, bytes: Uint8Array): boolean {
    if (member.name === bytes) return true
    const nameEnd = member.start + member.nameLength
    return (
      member.nameLength === bytes.length &&
      compareBytes(this.out.bytes, member.start, nameEnd, bytes, 0, bytes.length) === 0
    )
  }

  #isNull({ start, nameLength }: Member): boolean {
    return this.out.bytes[start + nameLength + 1] === 0x6e
  }

  #replaceName(member: Member, name: Uint8Array): void {
    const shift = name.length - member.nameLength
    const nameEnd = member.start + member.nameLength
    const length = this.out.length
    if (shift > 0) this.out.skip(shift)
    const { bytes } = this.out
    bytes.copyWithin(nameEnd + shift, nameEnd, length)
    bytes.set(name, member.start)
    this.out.truncate(length + shift)
    for (const other of this.#members) if (other.start > member.start) other.start += shift
    member.name = name
    member.nameLength = name.length
  }

  #orderOf(members: readonly Member[]): MemberOrder {
    const known = this.#orders.find(({ names }) => haveNames(members, names))
    if (known) return known
    const order = orderOf(this.out.bytes, members)
    if (this.#orders.length === keptOrders) this.#orders.shift()
    this.#orders.push(order)
    return order
  }
}

function haveNames(members: readonly Member[], names: readonly Uint8Array[]): boolean {
  if (names.length !== members.length) return false
  for (let i = 0; i < names.length; i++) if (members[i]!.name !== names[i]) return false
  return true
}

function orderOf(bytes: Uint8Array, members: readonly Member[]): MemberOrder {
  const names = members.map(({ name }) => name)
  // Sorting is stable, so the last of equal names is the last that came.
  const sorted = names
    .map((_, place) => place)
    .sort((a, b) => compareNames(bytes, members[a]!, members[b]!))
  const order = sorted.filter((place, i) => {
    const next = sorted[i + 1]
    return next === undefined || compareNames(bytes, members[place]!, members[next]!) !== 0
  })
  return { names, order, inText: order.toSorted((a, b) => a - b) }
}

function compareNames(bytes: Uint8Array, a: Member, b: Member): number {
  return compareBytes(
    bytes,
    a.start,
    a.start + a.nameLength,
    bytes,
    b.start,
    b.start + b.nameLength,
  )
}
