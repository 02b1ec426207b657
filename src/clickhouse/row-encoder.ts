/** Row versions as rows of the table of records, in the order of its columns. */

import type { ByteWriter } from '../json/byte-writer.ts'
import { jsonKind } from '../json/scan.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import type { ByteSpan, RowView } from '../storage/row/row.ts'
import { isStoredField } from '../type/record.ts'
import type { RowKey } from '../type/transaction.ts'
import { BinaryRows } from './binary-rows.ts'
import { cutWords } from './cut-words.ts'
import { isString, stringOf, withoutEscapes } from './json-string.ts'
import { FieldShredder, hasHalf } from './shred-fields.ts'
import { valueKinds } from './tables.ts'

export interface EncodedVersion {
  readonly object: number
  readonly version: RowKey
  readonly view: RowView
  /** The trace that the version is kept with. */
  readonly trace: string
  /** The transaction of the version after it; undefined while it is current. */
  readonly by: number | undefined
}

/** Fields with columns of their own, besides those that keys tell. */
const columnFields: ReadonlySet<string> = new Set([
  'id',
  'span_id',
  'root_span_id',
  'is_root',
  'created',
  'tags',
  'input',
  'output',
  'expected',
])

const otherSearched = ['expected', 'error', 'metadata', 'span_attributes', 'tags']

/** What a column of times holds, in ms since 1970. */
const firstTime = Date.UTC(1900, 0, 1)
const lastTime = Date.UTC(2299, 11, 31)

const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d

const noKey: RowKey = { transaction: 0, index: 0 }

export class RowEncoder {
  readonly rows: BinaryRows
  readonly #shredder = new FieldShredder()

  constructor(out?: ByteWriter) {
    this.rows = new BinaryRows(out)
  }

  add({ object, version, view, trace, by }: EncodedVersion): void {
    const { rows } = this
    rows.uint32(object)
    rows.rowKey(view.paginationKey)
    rows.rowKey(version)
    rows.uint64(view.transaction)
    if (by === undefined) rows.greatestUint64()
    else rows.uint64(by)
    rows.flag(view.isTombstone)
    rows.byte(view.flags)
    rows.rowKey(view.previous ?? noKey)
    this.#shredder.begin()
    this.#name(textOf(view, 'id') ?? '', 'id')
    this.#name(textOf(view, 'span_id') ?? '', 'span_id')
    this.#name(trace, 'root_span_id')
    rows.flag(view.fieldText('is_root') === 'true')
    this.#created(view)
    this.#tags(view)
    for (const field of ['input', 'output', 'expected']) this.#text(view, field)
    this.#document(view)
    this.#words(view, ['input'])
    this.#words(view, ['output'])
    this.#words(view, otherSearched)
    const members = membersOf(view)
    rows.count(lengthOf(members))
    writeMembers(view, members, rows.out)
    for (const field of ['input', 'output', 'expected', 'tags']) this.#kind(view, field)
  }

  #kind(view: RowView, field: string): void {
    const span = view.field(field)
    this.rows.byte(valueKinds.indexOf(span ? jsonKind(view.bytes[span.start]!) : 'null'))
  }

  #name(text: string, field: string): void {
    this.rows.text(text)
    if (hasHalf(text)) this.#shredder.list(field)
  }

  #created(view: RowView): void {
    const ms = view.createdMs
    const within = Math.min(Math.max(ms, firstTime), lastTime)
    if (within !== ms) this.#shredder.list('created')
    this.rows.int64(BigInt(Math.round(within * 1000)))
  }

  #tags(view: RowView): void {
    const span = view.field('tags')
    const value = span ? (JSON.parse(decodeUtf8(view.bytes, span.start, span.end)) as unknown) : []
    const tags = Array.isArray(value) ? value.filter((tag) => typeof tag === 'string') : []
    const areWhole = Array.isArray(value) && tags.length === value.length && !tags.some(hasHalf)
    if (!areWhole) this.#shredder.list('tags')
    this.rows.count(tags.length)
    for (const tag of tags) this.rows.text(tag)
  }

  #text(view: RowView, field: string): void {
    const span = view.field(field)
    this.rows.flag(span === undefined)
    if (span === undefined) return
    if (isString(view.bytes, span.start)) {
      this.#name(stringOf(view.bytes, span.start, span.end), field)
    } else this.rows.bytes(view.bytes, span.start, span.end)
  }

  #document(view: RowView): void {
    for (const { name, value } of view.fields()) {
      if (columnFields.has(name) || !isStoredField(name)) continue
      this.#shredder.add(name, view.bytes, value.start, value.end)
    }
    this.#shredder.writeDocument(this.rows)
    this.#shredder.writeListed(this.rows)
  }

  #words(view: RowView, fields: readonly string[]): void {
    const words = new Set<string>()
    for (const field of fields) {
      const span = view.field(field)
      if (!span) continue
      const { start, end } = span
      const isText = isString(view.bytes, start)
      cutWords(
        isText
          ? stringOf(view.bytes, start, end)
          : withoutEscapes(decodeUtf8(view.bytes, start, end)),
        words,
      )
    }
    this.rows.count(words.size)
    for (const word of words) this.rows.text(word)
  }
}

/** The record as the column `body` has it: all members, in the order in which they were written. */
export function writeBody(view: RowView, out: ByteWriter): void {
  writeMembers(view, membersOf(view), out)
}

function writeMembers({ bytes }: RowView, members: readonly ByteSpan[], out: ByteWriter): void {
  out.byte(openBrace)
  members.forEach(({ start, end }, place) => {
    if (place > 0) out.byte(comma)
    out.copy(bytes, start, end)
  })
  out.byte(closeBrace)
}

/** With braces, and commas between them. */
function lengthOf(members: readonly ByteSpan[]): number {
  return members.reduce((sum, { start, end }) => sum + end - start, 1 + Math.max(1, members.length))
}

/** Between them may be what a merge has taken out. */
function membersOf(view: RowView): ByteSpan[] {
  const members = Array.from({ length: view.fieldCount }, (_, field) => {
    const start = view.memberStart(field)
    return { start, end: start + view.nameLength(field) + 1 + view.valueLength(field) }
  })
  return members.sort((a, b) => a.start - b.start)
}

/** A field that is a string; undefined when there is none. */
export function textOf(view: RowView, field: string): string | undefined {
  const span = view.field(field)
  if (!span || !isString(view.bytes, span.start)) return undefined
  return stringOf(view.bytes, span.start, span.end)
}
