/** Builds rows of the form that `storage/row.ts` describes, one after the other, in one buffer. */
import { AssayError } from '../error.ts'
import type { ByteWriter } from '../json/byte-writer.ts'
import { compareBytes } from './compare-bytes.ts'
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

interface Member {
  start: number
  nameLength: number
  valueLength: number
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
  rawName(name: Uint8Array, start = 0, end = name.length): void {
    this.#open = { start: this.out.length, nameLength: end - start, valueLength: 0 }
    this.out.copy(name, start, end)
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
  restart(): void {
    this.out.truncate(this.#start)
    this.begin()
  }

  /** Where in `out` the last value given for `name` is; undefined when there is none but null. */
  value(name: string): ByteSpan | undefined {
    const member = this.#members.findLast((member) => this.#isNamed(member, name))
    if (!member) return undefined
    const start = member.start + member.nameLength + 1
    if (this.out.bytes[start] === 0x6e) return undefined
    return { start, end: start + member.valueLength }
  }

  /** Gives the value of `from`, if any, the name `to`, unless a value other than null has it. */
  rename(from: string, to: string): void {
    if (!this.value(from) || this.value(to)) return
    this.#members = this.#members.filter((member) => !this.#isNamed(member, to))
    for (const member of this.#members) {
      if (this.#isNamed(member, from)) this.#replaceName(member, fieldNameBytes(to))
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
    const members = this.#sortedMembers(keepNulls)
    const { out } = this
    const start = this.#start
    const rowBytes = out.length - start + members.length * directoryEntryBytes
    if (rowBytes > maximumRowBytes) {
      throw new AssayError('REQUEST_TOO_LARGE', `a record of ${rowBytes} bytes is too large`, {
        hint: 'a record may take 4 GiB',
      })
    }
    const directory = out.length
    out.skip(members.length * directoryEntryBytes)
    const { bytes } = out
    let at = directory
    for (const { start: memberStart, nameLength, valueLength } of members) {
      bytes.writeUInt32BE(memberStart - start, at)
      bytes.writeUInt32BE(nameLength, at + 4)
      bytes.writeUInt32BE(valueLength, at + 8)
      at += directoryEntryBytes
    }
    bytes.writeUInt32BE(members.length, start + 4)
    writeRowHeader(bytes, start, header)
    return start
  }

  #isNamed(member: Member, name: string): boolean {
    const bytes = fieldNameBytes(name)
    const nameEnd = member.start + member.nameLength
    return (
      member.nameLength === bytes.length &&
      compareBytes(this.out.bytes, member.start, nameEnd, bytes, 0, bytes.length) === 0
    )
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
    member.nameLength = name.length
  }

  #sortedMembers(keepNulls: boolean): Member[] {
    const { bytes } = this.out
    // Sorting is stable, so the last of equal names is the last that came.
    const sorted = this.#members.sort((a, b) => compareNames(bytes, a, b))
    return sorted.filter((member, i) => {
      const next = sorted[i + 1]
      if (next && compareNames(bytes, member, next) === 0) return false
      return keepNulls || bytes[member.start + member.nameLength + 1] !== 0x6e
    })
  }
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
