/**
 * Writes prepared rows: the one place that gives transactions and changes rows, ids, log and
 * supersessions, always together. There is one writer per data directory.
 */
import { AssayError, toAssayError, type WireError } from '../error.ts'
import { ByteWriter } from '../json/byte-writer.ts'
import { nextTransaction, type RowKey, rowKey, rowsPerTransaction } from '../type/transaction.ts'
import type { RecordsEnvironment } from './environment.ts'
import { FieldPathStore } from './field-path-store.ts'
import { addComment, applyChange } from './merge.ts'
import { type PreparedRows, type RowControl, rowActions } from './prepared-rows.ts'
import {
  type CurrentVersion,
  decodeCurrentVersion,
  encodeCurrentVersion,
  recordIdKey,
  rowVersionKey,
  supersessionKey,
  transactionKey,
  transactionOf,
} from './record-key.ts'
import { encodeLogEntry, encodeSpill, endOfLog, type ObjectWrite } from './record-log.ts'
import { RowView, rowFlags, writeRowHeader } from './row.ts'
import { RowBuilder } from './row-builder.ts'

export interface WriteRequest {
  /** Its memory is written to. */
  readonly rows: PreparedRows
  /** The number of each of `rows.objects`. */
  readonly objectNumbers: readonly number[]
}

export interface Written {
  /** The `_xact_id` of all rows of the request, and the first snapshot that sees them. */
  readonly transaction: number
  readonly objects: readonly ObjectWrite[]
  /** Numbers of the objects whose rows have fields that they did not have before. */
  readonly newFields: readonly number[]
}

export type WriteOutcome = { readonly written: Written } | { readonly error: WireError }

/** A buffer grown beyond this by one large row is not kept for the next. */
const keptBufferBytes = 1 << 20

const noControl: Partial<RowControl> = {}

type Mutable<T> = { -readonly [name in keyof T]: T[name] }

export class RecordWriter {
  readonly #records: RecordsEnvironment
  readonly #now: () => number
  readonly #fieldPaths: FieldPathStore
  #last: number

  /** `records` must be open for writing. */
  constructor(records: RecordsEnvironment, now: () => number = Date.now) {
    this.#records = records
    this.#now = now
    this.#last = lastLogged(records)
    this.#fieldPaths = new FieldPathStore(records)
    records.root.transactionSync(() => this.#fieldPaths.rebuildIfMissing())
    // The writer's thread may not come to the end of its turn, where the read would end by itself.
    records.root.resetReadTxn()
  }

  /**
   * Writes all requests in one commit, each with a transaction of its own; they are on disk when
   * this returns. A request that cannot be written has an error and leaves nothing behind.
   */
  write(requests: readonly WriteRequest[]): WriteOutcome[] {
    const last = this.#last
    try {
      return this.#records.root.transactionSync(() =>
        requests.map((request) => ({ written: this.#writeRequest(request) })),
      )
    } catch (thrown) {
      this.#last = last
      this.#fieldPaths.forget()
      if (requests.length === 1) return [{ error: storageError(thrown).toWire() }]
      // Nothing of the group was kept; alone, each shows whether the fault is its own.
      return requests.flatMap((request) => this.write([request]))
    }
  }

  #writeRequest({ rows, objectNumbers }: WriteRequest): Written {
    const rowCount = rows.ids.length
    const first = nextTransaction(this.#last, this.#now())
    const last = first + Math.max(0, Math.ceil(rowCount / rowsPerTransaction) - 1)
    const request = new RequestWriter(this.#records, rows, objectNumbers, first, last)
    for (let i = 0; i < rowCount; i++) request.writeRow(i)
    const objects = request.finish()
    const newFields = objectNumbers.filter((object, place) =>
      this.#fieldPaths.add(object, rows.fieldPaths[place] ?? []),
    )
    const { log } = this.#records
    const entry = encodeLogEntry({ transaction: last, first, objects })
    log.putSync(entry.key, entry.value)
    if (last > first) {
      const spill = encodeSpill({ first, last })
      log.putSync(spill.key, spill.value)
    }
    this.#last = last
    return { transaction: last, objects, newFields }
  }
}

function lastLogged({ log }: RecordsEnvironment): number {
  for (const key of log.getKeys({
    start: endOfLog,
    end: transactionKey(0),
    reverse: true,
    limit: 1,
  }))
    return transactionOf(key)
  return 0
}

function storageError(thrown: unknown): AssayError {
  if (!(thrown instanceof Error) || thrown instanceof AssayError || !('code' in thrown)) {
    return toAssayError(thrown)
  }
  return new AssayError('STORAGE_UNAVAILABLE', `the records cannot be written: ${thrown.message}`, {
    hint: 'check the space and the rights of the data directory, then try again',
    cause: thrown,
  })
}

/** The writing of one request, within a write transaction. */
class RequestWriter {
  readonly #records: RecordsEnvironment
  readonly #rows: PreparedRows
  readonly #bytes: Buffer
  readonly #objectNumbers: readonly number[]
  readonly #first: number
  readonly #last: number
  readonly #writes: Mutable<ObjectWrite>[]
  #builder = new RowBuilder(new ByteWriter())
  #nextControl = 0

  constructor(
    records: RecordsEnvironment,
    rows: PreparedRows,
    objectNumbers: readonly number[],
    first: number,
    last: number,
  ) {
    this.#records = records
    this.#rows = rows
    const { buffer, byteOffset, byteLength } = rows.bytes
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.#objectNumbers = objectNumbers
    this.#first = first
    this.#last = last
    this.#writes = objectNumbers.map((object) => ({ object, rows: 0, supersessions: 0, bytes: 0 }))
  }

  writeRow(i: number): void {
    const rows = this.#rows
    const control = this.#control(i)
    const patch = new RowView(this.#bytes.subarray(i === 0 ? 0 : rows.ends[i - 1]!, rows.ends[i]!))
    const action = rows.actions[i]!
    const id = action === rowActions.comment ? control.commentOn! : rows.ids[i]!
    const object = this.#objectNumbers[rows.objectOf[i]!]!
    const idKey = recordIdKey(object, id)
    const known = this.#records.ids.get(idKey)
    const current = known && decodeCurrentVersion(known)
    const live = current?.isDeleted ? undefined : current
    if (!live && (action === rowActions.delete || action === rowActions.comment)) return
    const version = rowKey(this.#first, i)
    const paginationKey = live?.paginationKey ?? version
    const keys = { paginationKey, transaction: this.#last, previous: current?.version }
    const bytes = this.#versionBytes(action, patch, object, live, control, keys)
    this.#put(this.#writes[rows.objectOf[i]!]!, version, bytes, live)
    const isDeleted = action === rowActions.delete
    this.#records.ids.putSync(idKey, encodeCurrentVersion({ version, paginationKey, isDeleted }))
  }

  /** What was written to each object. */
  finish(): ObjectWrite[] {
    return this.#writes.filter(({ rows }) => rows > 0)
  }

  #control(i: number): Partial<RowControl> {
    const control = this.#rows.controls[this.#nextControl]
    if (control?.row !== i) return noControl
    this.#nextControl++
    return control
  }

  #versionBytes(
    action: number,
    patch: RowView,
    object: number,
    live: CurrentVersion | undefined,
    control: Partial<RowControl>,
    keys: { paginationKey: RowKey; transaction: number; previous: RowKey | undefined },
  ): Buffer {
    const generated = rowFlags.createdGenerated | rowFlags.spanGenerated | rowFlags.rootGenerated
    const isComplete =
      action === rowActions.delete ||
      (action === rowActions.replace &&
        control === noControl &&
        (!live || (patch.flags & generated) === 0))
    if (isComplete) {
      // The prepared row is the version already, but for its keys.
      writeRowHeader(patch.bytes, 0, { ...keys, flags: patch.flags, createdMs: patch.createdMs })
      return patch.bytes
    }
    const base = live && this.#row(object, live.version)
    const { out } = this.#builder
    if (out.length > keptBufferBytes) this.#builder = new RowBuilder(new ByteWriter())
    else out.truncate(0)
    if (action === rowActions.comment) addComment(base!, patch, keys, this.#builder)
    else {
      const isMerge = action === rowActions.merge
      const parent = this.#parent(object, control)
      applyChange({ base, patch, isMerge, control, parent, keys }, this.#builder)
    }
    return this.#builder.out.view()
  }

  #row(object: number, version: RowKey): RowView {
    const bytes = this.#records.rows.get(rowVersionKey(object, version))
    if (!bytes) {
      throw new AssayError('STORAGE_CORRUPT', 'the current version of a record is missing')
    }
    return new RowView(bytes)
  }

  #parent(object: number, control: Partial<RowControl>): RowView | undefined {
    if (control.parentId === undefined) return undefined
    const known = this.#records.ids.get(recordIdKey(object, control.parentId))
    const current = known && decodeCurrentVersion(known)
    return current && !current.isDeleted ? this.#row(object, current.version) : undefined
  }

  #put(
    write: Mutable<ObjectWrite>,
    version: RowKey,
    bytes: Buffer,
    live: CurrentVersion | undefined,
  ): void {
    const { rows, supersessions } = this.#records
    rows.putSync(rowVersionKey(write.object, version), bytes)
    write.rows++
    write.bytes += bytes.length
    if (!live) return
    const key = supersessionKey(write.object, live.paginationKey, live.version)
    supersessions.putSync(key, transactionKey(this.#last))
    write.supersessions++
  }
}
