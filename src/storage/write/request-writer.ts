/** Writes the rows of one request, or of several small ones, within a write transaction. */
import { AssayError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { type RowKey, rowKey, rowsPerTransaction } from '../../type/transaction.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { fullHash, fullHashIn, hashId, type IdHash } from '../id/id-run.ts'
import type { IdWriter } from '../id/id-writer.ts'
import { isRecordDamage } from '../record-damage.ts'
import {
  type CurrentVersion,
  rowVersionKey,
  supersessionKey,
  transactionKey,
} from '../record-key.ts'
import type { ObjectWrite } from '../record-log.ts'
import { EvictedVersions } from '../row/evicted-row.ts'
import { rowBytes, rowLength } from '../row/prepared-blocks.ts'
import {
  type PreparedBlock,
  type PreparedRows,
  type RowControl,
  rowActions,
} from '../row/prepared-rows.ts'
import { RowView, rowFlags, writeRowKeys } from '../row/row.ts'
import { packedBlock, requestBlock, singleRow } from '../row/row-block.ts'
import { RowBuilder } from '../row/row-builder.ts'
import type { RowException } from '../row/row-exceptions.ts'
import type { StoredRows } from '../row/stored-rows.ts'
import { addComment, applyChange } from './merge.ts'

/** A buffer grown beyond this by one large row is not kept for the next. */
const keptBufferBytes = 1 << 20

const noControl: Partial<RowControl> = {}
const generatedFlags = rowFlags.createdGenerated | rowFlags.spanGenerated | rowFlags.rootGenerated

type Mutable<T> = { -readonly [name in keyof T]: T[name] }

interface RowKeys {
  readonly paginationKey: RowKey
  readonly transaction: number
  readonly previous: RowKey | undefined
}

/** What becomes of a row of the request. */
interface NewVersion {
  readonly version: RowKey
  readonly keys: RowKeys
  /** The row, unless it is the prepared one with its keys filled in. */
  readonly changed: Buffer | undefined
}

export interface NumberedRequest {
  readonly rows: PreparedRows
  /** The number of each of `rows.objects`. */
  readonly objectNumbers: readonly number[]
  /** The transactions of its rows' keys; of several requests, one each. */
  readonly first: number
  readonly last: number
}

/** What a writer has for all its requests. */
export interface RequestStorage {
  readonly records: RecordsEnvironment
  readonly ids: IdWriter
  readonly storedRows: StoredRows
}

export class RequestWriter {
  readonly #records: RecordsEnvironment
  readonly #ids: IdWriter
  readonly #storedRows: StoredRows
  readonly #rows: PreparedRows
  readonly #objectNumbers: readonly number[]
  readonly #first: number
  readonly #last: number
  readonly #isOneRequest: boolean
  /** By request, then by place of the object. */
  readonly #writes: Mutable<ObjectWrite>[][]
  readonly #controls: ReadonlyMap<number, RowControl>
  /** Places of the objects of which some row is not what was prepared, or not a new record. */
  readonly #changedObjects = new Set<number>()
  /** Versions of the block that is being put together, which is not stored yet; by row. */
  readonly #unstored = new Map<number, NewVersion>()
  #builder = new RowBuilder(new ByteWriter())
  /** Without these nothing is written. */
  readonly #evicted = new EvictedVersions()

  constructor(
    { records, ids, storedRows }: RequestStorage,
    { rows, objectNumbers, first, last }: NumberedRequest,
  ) {
    this.#records = records
    this.#ids = ids
    this.#storedRows = storedRows
    this.#rows = rows
    this.#objectNumbers = objectNumbers
    this.#first = first
    this.#last = last
    this.#isOneRequest = rows.requestEnds.length === 1
    this.#writes = Array.from(rows.requestEnds, () =>
      objectNumbers.map((object) => ({ object, rows: 0, supersessions: 0, bytes: 0 })),
    )
    this.#controls = new Map(rows.controls.map((control) => [control.row, control]))
  }

  /** Returns what each request has written to each object. The ids are not stored yet. */
  write(): ObjectWrite[][] {
    const { blocks, objectOf } = this.#rows
    for (const block of blocks) this.#writeBlock(block)
    const inBlocks = new Set(blocks.map(({ object }) => object))
    for (let row = 0; row < objectOf.length; row++) {
      if (!inBlocks.has(objectOf[row]!)) this.#writeSingle(row)
    }
    this.#evicted.throwIfAny()
    return this.#writes.map((writes) => writes.filter(({ rows }) => rows > 0))
  }

  /** Numbers of the objects whose rows all became new records, just as they were prepared. */
  get unchanged(): number[] {
    return this.#objectNumbers.filter((_, place) => !this.#changedObjects.has(place))
  }

  #writeSingle(row: number): void {
    const written = this.#writeVersion(row)
    if (!written) return
    const bytes = this.#bytesOf(row, written)
    const key = this.#rowKey(row)
    this.#records.rows.putSync(key, singleRow(key, bytes))
    this.#writeOf(row).bytes += bytes.length
  }

  #writeBlock(block: PreparedBlock): void {
    const { rows } = block
    const exceptions: RowException[] = []
    let isAsPrepared = true
    rows.forEach((row, place) => {
      const written = this.#writeVersion(row)
      if (!written) {
        exceptions.push({ row: place, keys: undefined })
        return
      }
      this.#unstored.set(row, written)
      if (written.changed) isAsPrepared = false
      if (written.keys.previous) exceptions.push({ row: place, keys: written.keys })
    })
    if (this.#unstored.size > 0) {
      if (isAsPrepared) this.#putPrepared(block, exceptions)
      else this.#putChanged(this.#objectNumbers[block.object]!)
    }
    this.#unstored.clear()
  }

  #putPrepared(
    { rows, codec, length, start, end }: PreparedBlock,
    exceptions: readonly RowException[],
  ): void {
    const bytes = this.#rows.blockBytes.subarray(start, end)
    const body = { rowCount: rows.length, codec, length, bytes }
    const transaction = this.#isOneRequest ? this.#last : undefined
    const key = this.#rowKey(rows[0]!)
    this.#records.rows.putSync(key, requestBlock(key, body, transaction, exceptions))
    for (const row of this.#unstored.keys()) {
      this.#writeOf(row).bytes += rowLength(this.#rows, row)
    }
  }

  #putChanged(object: number): void {
    const versions: RowKey[] = []
    const rows: Buffer[] = []
    for (const [row, written] of this.#unstored) {
      versions.push(written.version)
      rows.push(this.#bytesOf(row, written))
      this.#writeOf(row).bytes += rows.at(-1)!.length
    }
    const key = rowVersionKey(object, versions[0]!)
    this.#records.rows.putSync(key, packedBlock(key, versions, rows))
  }

  #rowKey(row: number): Buffer {
    const object = this.#objectNumbers[this.#rows.objectOf[row]!]!
    return rowVersionKey(object, this.#version(row))
  }

  #version(row: number): RowKey {
    return rowKey(this.#first, this.#rows.numbers[row]!)
  }

  /** What `_xact_id` shows. */
  #transactionOf(row: number): number {
    return this.#isOneRequest ? this.#last : this.#version(row).transaction
  }

  #writeOf(row: number): Mutable<ObjectWrite> {
    const request = this.#isOneRequest ? 0 : this.#version(row).transaction - this.#first
    return this.#writes[request]![this.#rows.objectOf[row]!]!
  }

  /** The row as it is stored by itself. */
  #bytesOf(row: number, { keys, changed }: NewVersion): Buffer {
    if (changed) return changed
    const { bytes } = this.#prepared(row)
    writeRowKeys(bytes, 0, keys)
    return bytes
  }

  #prepared(row: number): RowView {
    return new RowView(rowBytes(this.#rows, row))
  }

  #hash(row: number, object: number, { commentOn }: Partial<RowControl>): IdHash {
    if (this.#rows.actions[row] === rowActions.comment) return fullHash(object, hashId(commentOn!))
    return fullHashIn(object, this.#rows.idHashes, row)
  }

  /** Writes all that a row changes but itself; undefined when it changes nothing. */
  #writeVersion(row: number): NewVersion | undefined {
    const written = this.#tryNewVersion(row)
    if (!written || written.keys.previous || written.changed) {
      this.#changedObjects.add(this.#rows.objectOf[row]!)
    }
    return written
  }

  /** What is damaged is told of by the id of the record that cannot be written. */
  #tryNewVersion(row: number): NewVersion | undefined {
    try {
      return this.#evicted.tried(() => this.#newVersion(row))
    } catch (thrown) {
      if (!isRecordDamage(thrown)) throw thrown
      const error = thrown as AssayError
      const id = this.#controls.get(row)?.commentOn ?? this.#rows.ids[row]!
      const message = `the record ${JSON.stringify(id)} cannot be changed, as ${error.message}`
      throw AssayError.fromWire({ ...error.toWire(), message })
    }
  }

  #newVersion(row: number): NewVersion | undefined {
    const rows = this.#rows
    const control = this.#controls.get(row) ?? noControl
    const action = rows.actions[row]!
    const id = action === rowActions.comment ? control.commentOn! : rows.ids[row]!
    const write = this.#writeOf(row)
    const hash = this.#hash(row, write.object, control)
    const current = this.#ids.find(write.object, id, hash)
    const live = current?.isDeleted ? undefined : current
    if (!live && (action === rowActions.delete || action === rowActions.comment)) return undefined
    const version = this.#version(row)
    const transaction = this.#transactionOf(row)
    const paginationKey = live?.paginationKey ?? version
    const keys = { paginationKey, transaction, previous: current?.version }
    const changed = this.#changed(row, write.object, live, control, keys)
    const isDeleted = action === rowActions.delete
    const next = { version, paginationKey, isDeleted }
    this.#ids.put(write.object, id, hash, next, current !== undefined)
    if (live) this.#supersede(write, live, transaction)
    write.rows++
    return { version, keys, changed }
  }

  /** The row that comes of what the record is now; undefined when it is the prepared one. */
  #changed(
    row: number,
    object: number,
    live: CurrentVersion | undefined,
    control: Partial<RowControl>,
    keys: RowKeys,
  ): Buffer | undefined {
    const action = this.#rows.actions[row]!
    if (action === rowActions.delete) return undefined
    const isReplacement = action === rowActions.replace && control === noControl
    if (isReplacement && !live) return undefined
    const patch = this.#prepared(row)
    if (isReplacement && (patch.flags & generatedFlags) === 0) return undefined
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
    // Later rows are built in the same memory.
    return Buffer.from(this.#builder.out.view())
  }

  #row(object: number, version: RowKey): RowView {
    const row = this.#rowOf(version)
    const unstored = this.#unstored.get(row)
    if (unstored) return new RowView(this.#bytesOf(row, unstored))
    const view = this.#storedRows.rowAt(object, version)
    if (!view) {
      throw new AssayError('STORAGE_CORRUPT', 'the current version of a record is missing')
    }
    return view
  }

  /** Which row of the request, or of the several, has the version; any number where none has. */
  #rowOf({ transaction, index }: RowKey): number {
    const ahead = transaction - this.#first
    if (this.#isOneRequest) return ahead * rowsPerTransaction + index
    return (ahead > 0 ? this.#rows.requestEnds[ahead - 1]! : 0) + (ahead < 0 ? -1 : index)
  }

  #parent(object: number, control: Partial<RowControl>): RowView | undefined {
    if (control.parentId === undefined) return undefined
    const hash = fullHash(object, hashId(control.parentId))
    const current = this.#ids.find(object, control.parentId, hash)
    return current && !current.isDeleted ? this.#row(object, current.version) : undefined
  }

  #supersede(write: Mutable<ObjectWrite>, live: CurrentVersion, transaction: number): void {
    const key = supersessionKey(write.object, live.paginationKey, live.version)
    this.#records.supersessions.putSync(key, transactionKey(transaction))
    write.supersessions++
  }
}
