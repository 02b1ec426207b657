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

/** Of this thread, which encodes one batch after the other: new memory for each would cost as much as to fill it. */
let loops: ExportRows | undefined
let kept = new ByteWriter(0)
const keptBytes = 64 * 2 ** 20

/** What it gives is gone with the next one of the thread. */
export class VersionEncoder {
  readonly #out: ByteWriter
  readonly #loops: ExportRows
  readonly #others: RowEncoder
  readonly #traceOf: (version: ExportedVersion) => string

  /** @param traceOf tells the trace that a version is kept with */
  constructor(traceOf: (version: ExportedVersion) => string) {
    if (kept.bytes.length > keptBytes) kept = new ByteWriter(0)
    kept.truncate(0)
    this.#out = kept
    this.#others = new RowEncoder(this.#out)
    this.#traceOf = traceOf
    loops ??= new ExportRows(
      recordColumns.filter(({ origin }) => origin !== 'stored').map(({ name }) => name),
    )
    this.#loops = loops
  }

  /** Where a row is best put before it is added. */
  get memory(): Buffer {
    return this.#loops.rowMemory
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
