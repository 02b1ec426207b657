/** Encodes row versions for the table of records: usual ones by loops in WebAssembly, the others by `row-encoder.ts`. */
import { ByteWriter } from '../json/byte-writer.ts'
import { ExportRows } from '../kernel/export-rows.ts'
import type { RowView } from '../storage/row/row.ts'
import { recordColumns } from '../type/record.ts'
import type { RowKey } from '../type/transaction.ts'
import { RowEncoder } from './row-encoder.ts'

export interface ExportedVersion {
  readonly object: number
  readonly version: RowKey
  readonly view: RowView
  /** The transaction of the version after it; undefined while it is current. */
  readonly by: number | undefined
}

/** Of this thread: it has one task after the other. */
let loops: ExportRows | undefined

export class VersionEncoder {
  readonly #out: ByteWriter
  readonly #loops: ExportRows
  readonly #others: RowEncoder
  readonly #traceOf: (version: ExportedVersion) => string

  /** @param traceOf tells the trace that a version is kept with */
  constructor(capacity: number, traceOf: (version: ExportedVersion) => string) {
    this.#out = new ByteWriter(capacity)
    this.#others = new RowEncoder(this.#out)
    this.#traceOf = traceOf
    loops ??= new ExportRows(
      recordColumns.filter(({ origin }) => origin !== 'stored').map(({ name }) => name),
    )
    this.#loops = loops
  }

  /** Of all versions that were added. */
  get length(): number {
    return this.#out.length + this.#loops.pending
  }

  add(exported: ExportedVersion): void {
    const { object, version, view, by } = exported
    if (this.#loops.add(view.bytes, object, version, by, this.#out)) return
    this.#loops.take(this.#out)
    this.#others.add({ ...exported, trace: this.#traceOf(exported) })
  }

  /** Ends it. */
  finish(): Buffer {
    this.#loops.take(this.#out)
    return this.#out.view()
  }
}
