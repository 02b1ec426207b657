/**
 * Takes bodies that a cluster has out of the data directory. How far that goes is stored first; from then on queries read
 * these rows of the cluster. Then segments are written anew without them, and when nobody reads older segments any more,
 * values of the row store are replaced by what is kept of their rows. Each replacement and what tells of it are one transaction, so
 * that a process that ends at any moment leaves either the body of a row, or the note that a cluster has it.
 */
import { AssayError } from '../../error.ts'
import { ByteWriter } from '../../json/byte-writer.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { KeyColumns } from '../../vector/column.ts'
import { evictedFormat, readFormat, writeFormat } from '../directory/data-format.ts'
import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import { type EvictedMark, putEvictedMark, readEvictedMark } from '../read/evicted-mark.ts'
import { objectOf, rowVersionKey } from '../record-key.ts'
import { buildEvictedRow } from '../row/evicted-row.ts'
import type { RowView } from '../row/row.ts'
import { fullKeyRows, hasKeysAlone, packedBlock, RowBlock } from '../row/row-block.ts'
import { RowBuilder } from '../row/row-builder.ts'
import type { ManifestSegment } from '../segment/manifest.ts'
import type { SegmentLimits } from '../segment/segment-sink.ts'
import type { SegmentStore } from '../segment/segment-store.ts'
import { compact } from './compaction.ts'
import { noteWipe } from './wipe-free.ts'

/** Values that one transaction replaces: their pages are freed, which takes some ten milliseconds. */
const valuesPerTransaction = 64
/** After so long it is another step's turn. */
const stepMs = 200

/** Stores that rows up to the transaction, a snapshot that is flushed and that the database has, are to leave. */
export function noteEvicted(
  records: RecordsEnvironment,
  store: SegmentStore,
  { through, database }: Pick<EvictedMark, 'through' | 'database'>,
): boolean {
  const before = readEvictedMark(records.progress)
  if (through > store.manifest().flushedThrough || through <= (before?.through ?? 0)) return false
  // A service that knows nothing of it would take what is kept for whole records.
  if (readFormat(records.directory) < evictedFormat) writeFormat(records.directory, evictedFormat)
  const { rows, bytes } = before ?? { rows: 0, bytes: 0 }
  // What was begun before is looked at again: what is done already is passed over.
  const done = before?.areKeysAlone ? before.done : 0
  const mark = { through, database, done, next: undefined, areKeysAlone: true, rows, bytes }
  records.root.transactionSync(() => putEvictedMark(records.progress, mark))
  return true
}

/** Writes one segment anew without rows that are to leave; false when none has any. */
export function evictSegments(
  records: RecordsEnvironment,
  store: SegmentStore,
  limits: SegmentLimits,
  checkpoint?: () => void,
): boolean {
  const mark = readEvictedMark(records.progress)
  const found = mark && store.manifest().segments.find((segment) => mayHold(segment, mark))
  if (!found) return false
  const withoutRows = (keys: KeyColumns, row: number) => keys.transaction[row]! <= mark.through
  compact(records, store, [found.id], { limits, checkpoint, withoutRows })
  return true
}

function mayHold({ metadata }: ManifestSegment, { through }: EvictedMark): boolean {
  return metadata.objects.some(({ firstTransaction }) => firstTransaction <= through)
}

/**
 * Replaces values of the row store for a while. No manifest that is read may name a segment with rows that are to leave; where
 * the newest one does, nothing is done. True when nothing is left to do.
 */
export function evictRows(records: RecordsEnvironment, store: SegmentStore): boolean {
  const { root, progress } = records
  const end = performance.now() + stepMs
  for (;;) {
    root.resetReadTxn()
    const mark = readEvictedMark(progress)
    if (!mark || mark.done >= mark.through) return true
    if (store.manifest().segments.some((segment) => mayHold(segment, mark))) return false
    const part = nextPart(records, mark)
    const changed = { ...mark, ...sumsOf(mark, part), next: part?.next }
    root.transactionSync(() => {
      for (const key of part?.keys ?? []) records.rows.removeSync(key)
      for (const { key, value } of part?.blocks ?? []) records.rows.putSync(key, value)
      putEvictedMark(progress, part ? changed : { ...changed, done: mark.through })
    })
    if (!part) {
      // Space goes back to the file system with that.
      noteWipe(records, true)
      return true
    }
    letQueriesPass()
    if (performance.now() > end) return false
  }
}

function sumsOf(mark: EvictedMark, part: Part | undefined): Pick<EvictedMark, 'rows' | 'bytes'> {
  const kept = part?.blocks.reduce((sum, { value }) => sum + value.length, 0) ?? 0
  return {
    rows: mark.rows + (part?.evicted ?? 0),
    bytes: mark.bytes + (part?.bytes ?? 0) - kept,
  }
}

/** Values that follow each other, and what takes their place. */
interface Part {
  readonly keys: readonly Buffer[]
  readonly bytes: number
  readonly evicted: number
  readonly blocks: readonly { readonly key: Buffer; readonly value: Buffer }[]
  readonly next: NonNullable<EvictedMark['next']>
}

const lowest: RowKey = { transaction: 0, index: 0 }

/** Undefined behind the last. */
function nextPart(records: RecordsEnvironment, mark: EvictedMark): Part | undefined {
  const transaction = records.root.useReadTransaction()
  try {
    const begin = mark.next ?? { object: 0, version: lowest }
    for (let { object } = begin; ; object++) {
      const start = rowVersionKey(object, lowest)
      const [found] = records.rows.getKeys({ start, limit: 1, transaction })
      if (!found) return undefined
      object = objectOf(found)
      const from = object === begin.object ? begin.version : lowest
      const part = partOf(records, object, from, mark, transaction)
      if (part) return part
    }
  } finally {
    transaction.done()
  }
}

/** The next values of an object of which some rows are to leave; undefined where there are none. */
function partOf(
  records: RecordsEnvironment,
  object: number,
  from: RowKey,
  { through, done }: EvictedMark,
  transaction: ReadTransaction,
): Part | undefined {
  const undone = { transaction: done + 1, index: 0 }
  const first = compareRowKeys(from, undone) < 0 ? undone : from
  const start = lastKeyBefore(records, object, first, transaction)
  const end = rowVersionKey(object, { transaction: through + 1, index: 0 })
  let part = new OpenPart(object, through)
  for (const { key, value } of records.rows.getRange({ start, end, transaction })) {
    const found = readableValue(records, key, value)
    if (!found || !part.mayTake(found)) {
      if (part.hasAny) break
      part = new OpenPart(object, through)
    }
    if (found && part.mayTake(found)) part.take(found)
    if (part.isFull) break
  }
  return part.hasAny ? part.close() : undefined
}

/** Where the value begins that may have the version, or what was kept before it, which more may be added to. */
function lastKeyBefore(
  { rows }: RecordsEnvironment,
  object: number,
  version: RowKey,
  transaction: ReadTransaction,
): Buffer {
  const start = rowVersionKey(object, version)
  const end = rowVersionKey(object, lowest)
  const [found] = rows.getKeys({
    start,
    exclusiveStart: true,
    end,
    reverse: true,
    limit: 1,
    transaction,
  })
  return found ?? start
}

interface ReadRow {
  readonly version: RowKey
  readonly view: RowView
}

interface ReadValue {
  readonly key: Buffer
  readonly bytes: number
  /** Whether bodies of it have left, and keys alone are kept. */
  readonly areKeys: boolean
  readonly rows: readonly ReadRow[]
}

/** Undefined when some of the value cannot be read: it stays as it is. */
function readableValue(
  { checkedSince }: RecordsEnvironment,
  key: Buffer,
  value: Buffer,
): ReadValue | undefined {
  try {
    const block = new RowBlock(key, value, checkedSince)
    const rows: ReadRow[] = []
    for (let place = 0; place < block.rowCount; place++) {
      const view = block.rowAt(place)
      if (view) rows.push({ version: block.versionAt(place), view })
    }
    const areKeys = hasKeysAlone(value)
    return { key: Buffer.from(key), bytes: value.length, areKeys, rows }
  } catch (thrown) {
    if (thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT') return undefined
    throw thrown
  }
}

class OpenPart {
  readonly #object: number
  readonly #through: number
  readonly #keys: Buffer[] = []
  readonly #builder = new RowBuilder(new ByteWriter())
  readonly #starts: number[] = []
  readonly #versions: RowKey[] = []
  /** Rows of later transactions, which the last value has beside the others. */
  readonly #later: { readonly version: RowKey; readonly bytes: Buffer }[] = []
  #bytes = 0
  /** Whether it has values of which something leaves. */
  hasAny = false
  evicted = 0

  constructor(object: number, through: number) {
    this.#object = object
    this.#through = through
  }

  get isFull(): boolean {
    return this.#keys.length === valuesPerTransaction || this.#later.length > 0
  }

  /**
   * Whether some of its rows are to leave, or it stands beside others whose rows do, and there is room for what is kept of
   * all. What is kept already is the beginning of more as long as it is short.
   */
  mayTake({ areKeys, rows }: ReadValue): boolean {
    const count = this.#versions.length + rows.length
    if (this.#versions.length > 0 && count > fullKeyRows) return false
    if (!areKeys && rows.some((row) => this.#isToLeave(row))) return true
    const isBefore = rows.every(({ version }) => version.transaction <= this.#through)
    return isBefore && (this.hasAny || (areKeys && count < fullKeyRows / 2))
  }

  take({ key, bytes, areKeys, rows }: ReadValue): void {
    this.#keys.push(key)
    this.#bytes += bytes
    for (const row of rows) {
      const { version, view } = row
      if (version.transaction > this.#through) {
        this.#later.push({ version, bytes: Buffer.from(view.bytes) })
        continue
      }
      this.#versions.push(version)
      this.#starts.push(this.#builder.out.length)
      if (!areKeys && this.#isToLeave(row)) {
        buildEvictedRow(view, this.#builder)
        this.hasAny = true
        if (!view.isEvicted) this.evicted++
      } else this.#builder.out.copy(view.bytes)
    }
  }

  /** A deletion has no body. */
  #isToLeave({ version, view }: ReadRow): boolean {
    return version.transaction <= this.#through && !view.isTombstone
  }

  close(): Part {
    const all = this.#builder.out.view()
    const kept = this.#starts.map((start, i) => all.subarray(start, this.#starts[i + 1]))
    const blocks = [this.#block(this.#versions, kept)]
    if (this.#later.length > 0) {
      const versions = this.#later.map(({ version }) => version)
      const bytes = this.#later.map((each) => each.bytes)
      blocks.push(this.#block(versions, bytes))
    }
    return {
      keys: this.#keys,
      bytes: this.#bytes,
      evicted: this.evicted,
      blocks,
      next: { object: this.#object, version: after(this.#versions.at(-1)!) },
    }
  }

  #block(versions: readonly RowKey[], rows: readonly Uint8Array[]) {
    const key = rowVersionKey(this.#object, versions[0]!)
    return { key, value: packedBlock(key, versions, rows) }
  }
}

function after({ transaction, index }: RowKey): RowKey {
  return index < 0xffff
    ? { transaction, index: index + 1 }
    : { transaction: transaction + 1, index: 0 }
}
