/** Puts the rows of requests together, one request after the other, while they are checked and encoded. */
import { randomUUID } from 'node:crypto'
import { AssayError, assert } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import type { JsonScanner } from '../../json/scan.ts'
import type { ObjectReference } from '../../type/record.ts'
import { rowsPerTransaction } from '../../type/transaction.ts'
import { letQueriesPass } from '../give-way.ts'
import { idHashBytes, writeIdHash } from '../id/id-run.ts'
import { ObjectFields } from '../row/field-shapes.ts'
import { type BlockLimits, prepareBlocks } from '../row/prepared-blocks.ts'
import { type PreparedRows, type RowControl, rowActions } from '../row/prepared-rows.ts'
import { RowBuilder } from '../row/row-builder.ts'
import { AttachmentNames, type NamedAttachments } from './named-attachments.ts'
import { type NormalRow, RowNormalizer, type RowOptions } from './normal-row.ts'
import { fieldsOf, PlainRows, type RowNews } from './plain-rows.ts'
import { finishComment, finishDeletion, finishLarge, writeUsual } from './write-row.ts'

interface KnownObject {
  readonly place: number
  readonly object: ObjectReference
  readonly fields: ObjectFields
}

/**
 * A row of two bytes takes some 300, and 7 µs. Clients send thousands at a time.
 */
export const mostRowsPerRequest = 100_000

export function tooManyRows(what: string, most: number): AssayError {
  return new AssayError(
    'REQUEST_TOO_LARGE',
    `"${what}" has more than ${most.toLocaleString('en')} rows, which is the most of a request`,
    { path: what, hint: 'send them in several requests' },
  )
}

/** A larger unusual row costs too much to be read twice. */
const mostUsualBytes = 256 * 1024

/** Of this thread. */
let plainRows: PlainRows | undefined

/** Requests are begun and ended one by one; what one that fails has left is to be dropped with all. */
export class RowCollector {
  readonly #out: ByteWriter
  readonly #blocks: ByteWriter
  readonly #builder: RowBuilder
  readonly #normalizer: RowNormalizer
  readonly #plain: PlainRows
  /** An unusual row as a usual one. */
  readonly #usual = new ByteWriter(0)
  readonly #ids: string[] = []
  readonly #ends: number[] = []
  readonly #actions: number[] = []
  readonly #objectOf: number[] = []
  readonly #objects = new Map<string, KnownObject>()
  readonly #controls: RowControl[] = []
  readonly #requestEnds: number[] = []
  readonly #attachments: (readonly NamedAttachments[])[] = []
  #named = new AttachmentNames()
  #scanner!: JsonScanner
  #mostRows = mostRowsPerRequest
  #nowMs = 0

  /** @param out what rows are written to, and `blocks` their blocks, from the beginning on */
  constructor(out: ByteWriter, blocks = new ByteWriter(0)) {
    out.truncate(0)
    this.#out = out
    this.#blocks = blocks
    this.#builder = new RowBuilder(out)
    this.#normalizer = new RowNormalizer(this.#builder)
    plainRows ??= new PlainRows()
    this.#plain = plainRows
    this.#plain.beginCollection()
  }

  begin(scanner: JsonScanner, options: RowOptions): void {
    this.#scanner = scanner
    this.#mostRows = options.mostRows ?? mostRowsPerRequest
    this.#nowMs = options.nowMs
    this.#named = new AttachmentNames()
    this.#normalizer.begin(scanner, options)
    this.#plain.begin(options)
    // A large row takes no more encoded than as text, a small one up to twice as much.
    const textBytes = scanner.end - scanner.position
    this.#out.reserve(textBytes + Math.min(textBytes, 1 << 24) + 4096)
  }

  /** Takes the elements of the array that the scanner has entered. */
  readRows(member: string): void {
    const first = this.#ids.length
    while (this.#scanner.nextElement()) {
      letQueriesPass()
      const taken = this.#plain.take(this.#scanner)
      if (taken > 0) this.#addPlain(taken)
      else this.#addRow(`${member}[${this.#ids.length - first}]`)
      if (this.#ids.length - first > this.#mostRows) throw tooManyRows(member, this.#mostRows)
    }
  }

  /** Takes `count` rows as they were scanned, of `own`, if it is given: of what they name otherwise. */
  #addPlain(count: number, own?: NormalRow): void {
    const plain = this.#plain
    const start = this.#out.length
    this.#out.copy(plain.bytes)
    let object: ObjectReference | undefined
    let place = 0
    for (let row = 0; row < count; row++) {
      const named = own?.object ?? plain.object(row)
      if (named !== object) place = this.#known(named).place
      object = named
      this.#ids.push(own?.id ?? plain.id(row))
      this.#ends.push(start + plain.rowEnd(row))
      this.#actions.push(plain.merges(row) ? rowActions.merge : rowActions.replace)
      this.#objectOf.push(place)
      if (plain.hasAttachment(row)) this.#named.add(named, this.#lastRow())
    }
    for (const news of plain.news(own?.object)) {
      this.#tell(this.#known(own?.object ?? plain.object(news.row)), news)
    }
  }

  #tell({ fields }: KnownObject, { extraField, shape }: Omit<RowNews, 'row'>): void {
    if (extraField !== undefined) fields.addExtra(extraField)
    if (shape) fields.addShape(shape)
  }

  /** @param path names the row in errors */
  #addRow(path: string): void {
    const row = this.#normalizer.read(this.#ids.length, path)
    this.#plain.leftRow(row.object)
    if (row.control) this.#controls.push(row.control)
    if (this.#takeUsual(row)) {
      this.#builder.drop()
      this.#addPlain(1, row)
    } else this.#addBuilt(row)
  }

  /** Whether the row went the way of all. */
  #takeUsual(row: NormalRow): boolean {
    if (row.action === rowActions.delete || row.action === rowActions.comment) return false
    if (this.#out.length - (this.#ends.at(-1) ?? 0) > mostUsualBytes) return false
    this.#usual.truncate(0)
    writeUsual(row, this.#builder, this.#usual)
    const { place } = this.#known(row.object)
    return this.#plain.takeAlone(this.#usual.view(), place, row.created?.ms)
  }

  #addBuilt(row: NormalRow): void {
    const known = this.#known(row.object)
    const id = row.id ?? randomUUID()
    if (row.action === rowActions.delete) finishDeletion(id, this.#nowMs, this.#builder)
    else if (row.action === rowActions.comment) finishComment(row, id, this.#nowMs, this.#builder)
    else finishLarge(row, id, this.#nowMs, this.#builder)
    this.#ids.push(id)
    this.#ends.push(this.#out.length)
    this.#actions.push(row.action)
    this.#objectOf.push(known.place)
    if (row.action === rowActions.delete) return
    this.#named.add(row.object, this.#lastRow())
    if (row.action === rowActions.comment) return
    for (const news of fieldsOf(row.object, this.#builder)) this.#tell(known, news)
  }

  /** The last row of those whose end is known. */
  #lastRow(): Buffer {
    return this.#out.view(this.#ends.at(-2) ?? 0, this.#ends.at(-1))
  }

  end(): void {
    this.#attachments.push(this.#named.list())
    this.#plain.end()
    this.#requestEnds.push(this.#ids.length)
  }

  /** What the rows of each request name. */
  get attachments(): readonly (readonly NamedAttachments[])[] {
    return this.#attachments
  }

  finish(limits?: BlockLimits): PreparedRows {
    const ids = this.#ids
    const idHashes = Buffer.alloc(ids.length * idHashBytes)
    ids.forEach((id, row) => {
      writeIdHash(id, idHashes, row * idHashBytes)
    })
    const known = [...this.#objects.values()]
    const rows = {
      bytes: this.#out.view(),
      ends: Float64Array.from(this.#ends),
      requestEnds: Uint32Array.from(this.#requestEnds),
      numbers: this.#numbers(),
      ids,
      idHashes,
      actions: Uint8Array.from(this.#actions),
      objects: known.map(({ object }) => object),
      objectOf: Uint32Array.from(this.#objectOf),
      fieldPaths: known.map(({ fields }) => fields.paths()),
      controls: this.#controls,
    }
    return { ...rows, ...prepareBlocks(rows, this.#blocks, limits) }
  }

  #known(object: ObjectReference): KnownObject {
    const name = `${object.type}:${object.id}`
    const known = this.#objects.get(name)
    if (known) return known
    const fields = new ObjectFields(object.type)
    const added = { place: this.#objects.size, object, fields }
    this.#objects.set(name, added)
    return added
  }

  #numbers(): Uint32Array {
    const numbers = new Uint32Array(this.#ids.length)
    let start = 0
    this.#requestEnds.forEach((end, request) => {
      assert(
        this.#requestEnds.length === 1 || end - start <= rowsPerTransaction,
        'rows are too many',
      )
      for (let row = start; row < end; row++) {
        numbers[row] = request * rowsPerTransaction + row - start
      }
      start = end
    })
    return numbers
  }
}
