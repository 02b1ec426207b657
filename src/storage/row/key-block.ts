/**
 * Bodies of blocks of rows whose bodies have left for a cluster: some bytes of each are kept, its keys and its trace. A deletion
 * has no body that could leave, and stands among them as it is. Numbers are varints.
 *
 *     body   = { flags u8 }*  { form u8 }*  trace*  keys*  whole*  texts
 *     trace  = 0: the next of `texts`, n: that which began n texts ago   of each row that is not whole
 *     keys   = what `form` names of: transactions since the row before, row of the transaction (or rows since the row before);
 *              transactions since the pagination key, its row; the same of the previous version; transaction that is shown, less
 *              that of the version
 *     whole  = length, a row as `row.ts` has it
 *     texts  = { kind u8, length, bytes }*       as JSON, perhaps packed (`packed-value.ts`); of no bytes where there is none
 *
 * All of one kind stand together, so that what most rows have alike takes next to nothing when it is compressed.
 */
import { ByteWriter } from '../../json/byte-writer.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import { writeRowKey } from '../record-key.ts'
import { keysBytes } from './block-places.ts'
import {
  packDigits,
  packedKindOf,
  packedLength,
  plainValue,
  unpackedLength,
  unpackValue,
} from './packed-value.ts'
import { type ObjectConstants, type RowHeader, RowView, rowFlags, writeRow } from './row.ts'
import { RowBuilder } from './row-builder.ts'
import { VarintReader, writeVarint } from './varint.ts'

/** Bits of a row's form: what of its keys does not follow from the row before. */
const forms = {
  /** It is not the next row of the transaction. */
  version: 1,
  /** It is not the first version of its record. */
  paginationKey: 2,
  /** It follows a version of its id … */
  previous: 4,
  /** … which is the first one of its record. */
  previousIsFirst: 8,
  /** It shows another transaction than that of its version, by another difference than the row before. */
  shown: 16,
  /** It stands as it is. */
  whole: 32,
} as const

const traceField = 'root_span_id'
const none: RowKey = { transaction: 0, index: 0 }
/** In memory, of each row beside its keys. */
const bytesPerRow = 4

/** Encodes rows by their versions, ascending. */
export function encodeKeys(versions: readonly RowKey[], rows: readonly Uint8Array[]): Buffer {
  const flags = Buffer.allocUnsafe(rows.length)
  const rowForms = Buffer.allocUnsafe(rows.length)
  const traces = new TraceWriter()
  const keys = new ByteWriter()
  const whole = new ByteWriter(0)
  let before = none
  let shownBefore = 0
  rows.forEach((bytes, i) => {
    const view = new RowView(bytes)
    const version = versions[i]!
    flags[i] = view.flags
    if (view.isEvicted) traces.add(view)
    else {
      writeVarint(whole, bytes.length)
      whole.copy(bytes)
    }
    const shown = view.transaction - version.transaction
    const form = formOf(view, version, before) | (shown === shownBefore ? 0 : forms.shown)
    rowForms[i] = form
    writeKeys(keys, form, view, version, before)
    if ((form & forms.shown) !== 0) writeVarint(keys, shown)
    before = version
    shownBefore = shown
  })
  const { codes, texts } = traces
  return Buffer.concat([flags, rowForms, codes.view(), keys.view(), whole.view(), texts.view()])
}

function formOf(view: RowView, version: RowKey, before: RowKey): number {
  const { paginationKey, previous } = view
  const isNext = version.transaction === before.transaction && version.index === before.index + 1
  return (
    (isNext ? 0 : forms.version) |
    (isSame(paginationKey, version) ? 0 : forms.paginationKey) |
    (previous ? forms.previous : 0) |
    (previous && isSame(previous, paginationKey) ? forms.previousIsFirst : 0) |
    (view.isEvicted ? 0 : forms.whole)
  )
}

function writeKeys(
  out: ByteWriter,
  form: number,
  { paginationKey, previous = none }: RowView,
  version: RowKey,
  before: RowKey,
): void {
  if ((form & forms.version) !== 0) {
    const transactions = version.transaction - before.transaction
    writeVarint(out, transactions)
    writeVarint(out, transactions === 0 ? version.index - before.index : version.index)
  }
  if ((form & forms.paginationKey) !== 0) {
    writeVarint(out, version.transaction - paginationKey.transaction)
    writeVarint(out, paginationKey.index)
  }
  if ((form & (forms.previous | forms.previousIsFirst)) === forms.previous) {
    writeVarint(out, version.transaction - previous.transaction)
    writeVarint(out, previous.index)
  }
}

function isSame(a: RowKey, b: RowKey): boolean {
  return compareRowKeys(a, b) === 0
}

/** Which trace each row is of: rows of a trace mostly stand near each other. */
class TraceWriter {
  readonly codes = new ByteWriter()
  readonly texts = new ByteWriter()
  readonly #known = new Map<string, number>()

  add(view: RowView): void {
    const { start, end } = view.field(traceField) ?? { start: 0, end: 0 }
    const name = view.bytes.toString('latin1', start, end)
    const known = this.#known.get(name)
    writeVarint(this.codes, known === undefined ? 0 : this.#known.size - known)
    if (known !== undefined) return
    this.#known.set(name, this.#known.size)
    const kind = packedKindOf(view.bytes, start, end)
    const length = packedLength(kind, end - start)
    this.texts.byte(kind)
    writeVarint(this.texts, length)
    if (kind === plainValue) this.texts.copy(view.bytes, start, end)
    else {
      const at = this.texts.length
      this.texts.skip(length)
      packDigits(view.bytes, start + 1, end - 1, this.texts.bytes, at)
    }
  }
}

type RowKeys = Omit<RowHeader, 'flags' | 'createdMs'>

/** Makes what is kept of rows again; of the same form as `BlockRows`. */
export class KeyRows {
  /** Of all rows, as packed blocks have them (`row-block.ts`). */
  readonly places: Buffer
  readonly keptBytes: number
  readonly #flags: Buffer
  /** Where in `#texts` the trace of a row begins and ends. */
  readonly #traces: readonly (Buffer | undefined)[]
  readonly #whole = new Map<number, Buffer>()

  constructor(body: Buffer, rowCount: number) {
    const rowForms = body.subarray(rowCount, 2 * rowCount)
    const reader = new VarintReader(body, 2 * rowCount)
    this.#flags = Buffer.from(body.subarray(0, rowCount))
    const codes = readTraceCodes(reader, rowForms)
    this.places = readPlaces(reader, rowForms)
    rowForms.forEach((form, row) => {
      if ((form & forms.whole) === 0) return
      this.#whole.set(row, Buffer.from(takeBytes(reader, body)))
    })
    const texts: (Buffer | undefined)[] = []
    while (reader.at < body.length) texts.push(readText(reader, body))
    this.#traces = codes.map((code) => (code < 0 ? undefined : texts[code]))
    this.keptBytes = rowCount * (keysBytes + bytesPerRow) + body.length
  }

  isAtHand(): boolean {
    return true
  }

  isEvicted(row: number): boolean {
    return (this.#flags[row]! & rowFlags.evicted) !== 0
  }

  /** The row with these keys, which are those that `places` has of it. */
  rowAt(row: number, keys: RowKeys): RowView {
    const whole = this.#whole.get(row)
    if (whole) return new RowView(whole)
    const builder = new RowBuilder(new ByteWriter(128))
    builder.begin()
    const trace = this.#traces[row]
    if (trace) builder.copy(traceField, trace, 0, trace.length)
    builder.finish({ ...keys, flags: this.#flags[row]!, createdMs: 0 })
    return new RowView(builder.out.view())
  }

  /** As `BlockRows` does; a row without its body is not printed. */
  printAt(row: number, _: RowKeys, object: ObjectConstants, out: ByteWriter): number | undefined {
    const whole = this.#whole.get(row)
    const view = whole && new RowView(whole)
    if (!view || view.isTombstone) return undefined
    writeRow(view, object, out)
    return view.bytes.length
  }
}

/** Of each row, which of the texts its trace is; -1 of those that stand as they are. */
function readTraceCodes(reader: VarintReader, rowForms: Buffer): number[] {
  let count = 0
  return Array.from(rowForms, (form) => {
    if ((form & forms.whole) !== 0) return -1
    const code = reader.next()
    return code === 0 ? count++ : count - code
  })
}

function readPlaces(reader: VarintReader, rowForms: Buffer): Buffer {
  const places = Buffer.allocUnsafe(rowForms.length * keysBytes)
  let version = none
  let shown = 0
  rowForms.forEach((form, row) => {
    version = readVersion(reader, form, version)
    const { transaction } = version
    const readKey = (): RowKey => {
      return { transaction: transaction - reader.next(), index: reader.next() }
    }
    const paginationKey = (form & forms.paginationKey) === 0 ? version : readKey()
    const previous = (form & forms.previous) === 0 ? none : undefined
    const isFirst = (form & forms.previousIsFirst) !== 0
    const at = row * keysBytes
    writeRowKey(places, at, version)
    writeRowKey(places, at + 8, paginationKey)
    writeRowKey(places, at + 24, previous ?? (isFirst ? paginationKey : readKey()))
    if ((form & forms.shown) !== 0) shown = reader.next()
    writeRowKey(places, at + 16, { transaction: transaction + shown, index: 0 })
  })
  return places
}

function readVersion(reader: VarintReader, form: number, before: RowKey): RowKey {
  const { transaction, index } = before
  if ((form & forms.version) === 0) return { transaction, index: index + 1 }
  const transactions = reader.next()
  const row = reader.next()
  return { transaction: transaction + transactions, index: transactions === 0 ? index + row : row }
}

function takeBytes(reader: VarintReader, body: Buffer): Buffer {
  const length = reader.next()
  const bytes = body.subarray(reader.at, reader.at + length)
  reader.at += length
  return bytes
}

function readText(reader: VarintReader, body: Buffer): Buffer | undefined {
  const kind = body[reader.at++]!
  const packed = takeBytes(reader, body)
  if (packed.length === 0) return undefined
  if (kind === plainValue) return Buffer.from(packed)
  const text = Buffer.allocUnsafe(unpackedLength(kind, packed.length))
  unpackValue(kind, packed, 0, text, 0, text.length)
  return text
}
