/** Puts the rows of requests together, one request after the other, while they are checked and encoded. */
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
import { PlainRows } from './plain-rows.ts'
import type { RowOptions } from './prepare-row.ts'
import { RowPreparer } from './prepare-row.ts'

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

/** Of this thread. */
let plainRows: PlainRows | undefined

/** Requests are begun and ended one by one; what one that fails has left is to be dropped with all. */
export class RowCollector {
  readonly #out: ByteWriter
  readonly #blocks: ByteWriter
  readonly #preparer: RowPreparer
  readonly #plain: PlainRows
  readonly #ids: string[] = []
  readonly #ends: number[] = []
  readonly #actions: number[] = []
  readonly #objectOf: number[] = []
  readonly #objects = new Map<string, KnownObject>()
  readonly #controls: RowControl[] = []
  readonly #requestEnds: number[] = []
  #scanner!: JsonScanner
  #mostRows = mostRowsPerRequest

  /** @param out what rows are written to, and `blocks` their blocks, from the beginning on */
  constructor(out: ByteWriter, blocks = new ByteWriter(0)) {
    out.truncate(0)
    this.#out = out
    this.#blocks = blocks
    this.#preparer = new RowPreparer(new RowBuilder(out))
    plainRows ??= new PlainRows()
    this.#plain = plainRows
    this.#plain.beginCollection()
  }

  begin(scanner: JsonScanner, options: RowOptions): void {
    this.#scanner = scanner
    this.#mostRows = options.mostRows ?? mostRowsPerRequest
    this.#preparer.begin(scanner, options)
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

  #addPlain(count: number): void {
    const plain = this.#plain
    const start = this.#out.length
    this.#out.copy(plain.bytes)
    let object: ObjectReference | undefined
    let place = 0
    for (let row = 0; row < count; row++) {
      const named = plain.object(row)
      if (named !== object) place = this.#known(named).place
      object = named
      this.#ids.push(plain.id(row))
      this.#ends.push(start + plain.rowEnd(row))
      this.#actions.push(rowActions.replace)
      this.#objectOf.push(place)
    }
    for (const { row, extraField, shape } of plain.news()) {
      const { fields } = this.#known(plain.object(row))
      if (extraField !== undefined) fields.addExtra(extraField)
      if (shape) fields.addShape(shape)
    }
  }

  /** @param path names the row in errors */
  #addRow(path: string): void {
    const row = this.#preparer.prepare(this.#ids.length, path)
    this.#plain.leftRow(row.object)
    const known = this.#known(row.object)
    this.#ids.push(row.id)
    this.#ends.push(this.#out.length)
    this.#actions.push(row.action)
    this.#objectOf.push(known.place)
    for (const name of row.extraFields) known.fields.addExtra(name)
    for (const shape of row.shapes) known.fields.addShape(shape)
    if (row.control) this.#controls.push(row.control)
  }

  end(): void {
    this.#plain.end()
    this.#requestEnds.push(this.#ids.length)
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
