/**
 * The rows that are in no segment yet, as queries find them: memtables that are columns already, and
 * log ranges: transactions whose rows of an object are still to be read from the row store and shredded.
 *
 * Rows of large requests, and of many small ones that came together, come with their memtable. Others are
 * log ranges, until there are enough of them to be sealed, which makes a memtable of them. So are all rows after a
 * start, however many there are: of these, some are sealed at a time. All memtables and log ranges up to one
 * transaction are flushed together, the oldest first, and leave when the manifest says that they were.
 */
import type { LogRange, PreparedMemtable } from '../../storage/prepare/memtable.ts'
import type { LogEntry } from '../../storage/record-log.ts'
import { SharedMemory } from '../../storage/shared-memory.ts'
import { objectRuns } from '../../storage/shred/shred-keys.ts'
import type { Written } from '../../storage/write/record-writer.ts'
import type { RowKey } from '../../type/transaction.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { setKeys, sharedBytes, sharedKeys } from '../../vector/shared-columns.ts'
import { RetiredMemory } from './memtable-memory.ts'

/** Rows of one object in a memtable, with the bounds of their pagination keys. */
export interface MemtableRows {
  readonly object: number
  readonly from: number
  readonly to: number
  readonly oldest: RowKey
  readonly newest: RowKey
}

export interface Memtable {
  /** No two memtables of an engine have the same, nor a memtable and a segment. */
  readonly id: number
  readonly memory: SharedArrayBuffer
  readonly first: number
  readonly last: number
  readonly rowCount: number
  /** Bytes of its rows. */
  readonly rowBytes: number
  readonly objects: readonly MemtableRows[]
}

export interface RowCount {
  readonly rows: number
  readonly bytes: number
}

/** What a flush takes: everything that was written up to `through`. */
export interface FlushInput {
  readonly through: number
  readonly memtables: readonly Pick<Memtable, 'memory' | 'rowBytes'>[]
  readonly logRanges: readonly LogRange[]
  /** Objects whose rows in memtables are not to be written. */
  readonly without: readonly number[]
}

/** Makes a memtable of the rows of log ranges. */
export type Seal = (
  logRanges: readonly LogRange[],
  bytes: number,
) => Promise<SharedArrayBuffer | undefined>

export interface FreshRowsOptions {
  /** Without it log ranges stay log ranges. */
  readonly seal?: Seal | undefined
  /** Told when sealing has failed; the rows are still read as log ranges. */
  readonly onError?: (thrown: unknown) => void
  /** Where the memory of memtables comes from, if they have any of it; it is given back. */
  readonly memory?: SharedMemory
}

/** Log ranges are sealed when they have so many rows or bytes. */
const sealedRows = 1000
const sealedBytes = 2 ** 20

/** No further log range is sealed along with those that have so many bytes, which a thread shreds at once. */
const mostSealedBytes = 8 * 2 ** 20

/** Nor is any flushed along with so many, while which nobody seals what is flushed. */
const mostFlushedBytes = 64 * 2 ** 20

/** Of log ranges that one task shreds for a query, beyond which another begins. */
const mostReadBytes = 16 * 2 ** 20

/** More than this in memtables is left to the row store, as when flushing does not keep up. */
const keptBytes = 256 * 2 ** 20

/** Greater than the id of any segment. */
const firstMemtableId = 2 ** 30

interface OpenRange extends LogRange {
  through: number
  rows: number
  bytes: number
  /** Whether it is being sealed or flushed, so that nothing may be added to it. */
  isTaken: boolean
}

export class FreshRows {
  readonly #seal: Seal | undefined
  readonly #onError: (thrown: unknown) => void
  #memtables: readonly Memtable[] = []
  #memtableBytes = 0
  #nextMemtable = firstMemtableId
  #logRanges: OpenRange[] = []
  /** What flushes have left out, since some of it is damaged: it is read for good, and never flushed. */
  #leftOut: readonly LogRange[] = []
  /** The log range that rows of an object may still be added to. */
  readonly #open = new Map<number, OpenRange>()
  /** Objects that were removed since the start, all of whose rows are gone. */
  readonly #dropped = new Set<number>()
  #last = 0
  #flushedThrough = 0
  #isSealing = false
  readonly #retired: RetiredMemory

  constructor(options: FreshRowsOptions = {}) {
    const { seal, onError = () => undefined, memory = new SharedMemory(0) } = options
    this.#seal = seal
    this.#onError = onError
    this.#retired = new RetiredMemory(memory)
  }

  /** Takes what was written before a start. */
  restore(log: Iterable<LogEntry>): void {
    for (const { transaction, first, objects } of log) {
      for (const { object, rows, bytes } of objects) {
        const logRange = this.#addRange(object, { first, last: transaction, rows, bytes })
        if (isEnough(logRange)) this.#open.delete(object)
      }
      this.#last = transaction
    }
    this.#sealSoon()
  }

  /** Takes what was written together, in the order of transactions. */
  add(
    written: Written,
    prepared: readonly PreparedMemtable[],
    objectNumbers: readonly number[],
  ): void {
    const { first, transaction, objects } = written
    this.#last = Math.max(this.#last, transaction)
    const unchanged = new Set(written.unchanged)
    const taken = new Set<PreparedMemtable>()
    for (const { object, rows, bytes } of objects) {
      const memtable = prepared.find(
        (each) => objectNumbers[each.object] === object && each.rowCount === rows,
      )
      const fits = this.#memtableBytes + (memtable ? sharedBytes(memtable.memory) : 0) <= keptBytes
      if (memtable && unchanged.has(object) && fits) {
        taken.add(memtable)
        setKeys(memtable.memory, object, first)
        this.#addMemtable(memtable.memory, bytes)
        // Whatever is written after it begins a log range of its own.
        this.#open.delete(object)
      } else {
        this.#addRange(object, { first, last: transaction, rows, bytes })
      }
    }
    this.#retired.retire(
      prepared.filter((memtable) => !taken.has(memtable)).map(({ memory }) => memory),
    )
    this.#sealSoon()
  }

  /**
   * Forgets the rows of objects that are removed for good: no flush writes them any more. Memtables that have rows of others,
   * too, stay, and flushes leave those out.
   */
  drop(objects: Iterable<number>): void {
    for (const object of objects) {
      this.#dropped.add(object)
      this.#open.delete(object)
    }
    this.#logRanges = this.#logRanges.filter(({ object }) => !this.#dropped.has(object))
    this.#keepMemtables(
      (memtable) => !memtable.objects.every(({ object }) => this.#dropped.has(object)),
    )
  }

  /**
   * What a query of the snapshot `transaction` reads, until it is released.
   *
   * @param since what has no row of a later transaction is left out
   */
  at(transaction: number, since = 0): FreshSnapshot {
    const memtables = this.#memtables.filter(({ last }) => last > since)
    const leftOut = this.#leftOut.map((logRange) => ({ ...logRange, bytes: 0 }))
    const logRanges = [...leftOut, ...this.#logRanges].flatMap((logRange) =>
      logRange.through > since ? [{ ...logRange, after: Math.max(logRange.after, since) }] : [],
    )
    return new FreshSnapshot(transaction, memtables, logRanges, this.#retired.addReader())
  }

  /** Takes all that flushes up to `through` have left out. */
  leaveOut(logRanges: readonly LogRange[], through: number): void {
    this.#leftOut = logRanges.filter((logRange) => logRange.through <= through)
  }

  /** Transactions, or stretches of them, that are in no segment since some of their rows are damaged. */
  get leftOut(): number {
    return this.#leftOut.length
  }

  /** The last transaction that it knows of. */
  get last(): number {
    return this.#last
  }

  /** The oldest rows, for a flush. Its log ranges are not sealed any more, even if it fails. */
  take(): FlushInput {
    const through = this.#flushEnd()
    const taken = this.#logRanges.filter((logRange) => logRange.through <= through)
    for (const logRange of taken) this.#close(logRange)
    const memtables = this.#memtables.filter(({ last }) => last <= through)
    const objects = new Set(
      memtables.flatMap((memtable) => memtable.objects.map(({ object }) => object)),
    )
    return {
      through,
      memtables,
      without: [...this.#dropped].filter((object) => objects.has(object)),
      logRanges: taken.map(({ object, after, through }) => ({ object, after, through })),
    }
  }

  /** How much was written after a transaction that a flush has taken everything through. */
  after(transaction: number): RowCount {
    const memtables = this.#memtables.filter(({ last }) => last > transaction)
    const logRanges = this.#logRanges.filter(({ through }) => through > transaction)
    return sumOf([
      ...memtables.map(({ rowCount, rowBytes }) => ({ rows: rowCount, bytes: rowBytes })),
      ...logRanges,
    ])
  }

  /** Forgets what is in segments. */
  flushed(through: number): void {
    this.#flushedThrough = through
    this.#keepMemtables(({ last }) => last > through)
    this.#logRanges = this.#logRanges.filter((logRange) => logRange.through > through)
  }

  /** Lets go of all other memtables. */
  #keepMemtables(passes: (memtable: Memtable) => boolean): void {
    const gone = this.#memtables.filter((memtable) => !passes(memtable))
    this.#memtables = this.#memtables.filter(passes)
    this.#memtableBytes = this.#memtables.reduce((sum, { memory }) => sum + sharedBytes(memory), 0)
    this.#retired.retire(gone.map(({ memory }) => memory))
  }

  /** Up to where the oldest rows are to be flushed: no memtable and no log range has rows on both sides of it. */
  #flushEnd(): number {
    const all = [
      ...this.#memtables.map(({ first, last, rowBytes }) => ({ first, last, bytes: rowBytes })),
      ...this.#logRanges.map(({ after, through, bytes }) => ({
        first: after + 1,
        last: through,
        bytes,
      })),
    ].sort((a, b) => a.first - b.first)
    let [end, bytes] = [0, 0]
    for (const each of all) {
      if (each.first > end && bytes >= mostFlushedBytes) return end
      end = Math.max(end, each.last)
      bytes += each.bytes
    }
    return this.#last
  }

  /** Nothing is added to it any more, and nobody else seals or flushes it. */
  #close(logRange: OpenRange): void {
    logRange.isTaken = true
    if (this.#open.get(logRange.object) === logRange) this.#open.delete(logRange.object)
  }

  #addRange(
    object: number,
    written: { first: number; last: number; rows: number; bytes: number },
  ): OpenRange {
    const { first, last, rows, bytes } = written
    let logRange = this.#open.get(object)
    if (!logRange) {
      logRange = { object, after: first - 1, through: last, rows: 0, bytes: 0, isTaken: false }
      this.#logRanges.push(logRange)
      this.#open.set(object, logRange)
    }
    logRange.through = last
    logRange.rows += rows
    logRange.bytes += bytes
    return logRange
  }

  #addMemtable(memory: SharedArrayBuffer, rowBytes: number): void {
    this.#memtables = [...this.#memtables, describe(this.#nextMemtable++, memory, rowBytes)]
    this.#memtableBytes += sharedBytes(memory)
  }

  #sealSoon(): void {
    if (!this.#seal || this.#isSealing || this.#memtableBytes > keptBytes) return
    const logRanges = firstOf(this.#logRanges.filter(({ isTaken }) => !isTaken))
    const size = sumOf(logRanges)
    if (!isEnough(size)) return
    this.#isSealing = true
    for (const logRange of logRanges) this.#close(logRange)
    this.#sealAll(this.#seal, logRanges, size.bytes)
      .catch(this.#onError)
      .finally(() => {
        this.#isSealing = false
        this.#sealSoon()
      })
  }

  /** Log ranges that could not be sealed stay what they are, until they are flushed. */
  async #sealAll(seal: Seal, logRanges: readonly OpenRange[], rowBytes: number): Promise<void> {
    const memory = await seal(
      logRanges.map(({ object, after, through }) => ({ object, after, through })),
      rowBytes,
    )
    // A flush may have been faster.
    if (logRanges.some(({ through }) => through <= this.#flushedThrough)) {
      if (memory) this.#retired.retire([memory])
      return
    }
    const sealed = new Set(logRanges)
    this.#logRanges = this.#logRanges.filter((logRange) => !sealed.has(logRange))
    if (!memory) return
    this.#addMemtable(memory, rowBytes)
    // An object may have been removed meanwhile.
    if (logRanges.some(({ object }) => this.#dropped.has(object))) this.drop([])
  }
}

/** The fresh rows of one moment. */
export class FreshSnapshot {
  readonly memtables: readonly Memtable[]
  /** To be called once nothing of the memtables is read any more. */
  readonly release: () => void
  readonly #logRanges: readonly SizedRange[]

  constructor(
    transaction: number,
    memtables: readonly Memtable[],
    logRanges: readonly SizedRange[],
    release: () => void = () => undefined,
  ) {
    this.release = release
    this.memtables = memtables.filter(({ first }) => first <= transaction)
    this.#logRanges = logRanges.flatMap(({ object, after, through, bytes }) =>
      after < transaction
        ? [{ object, after, through: Math.min(through, transaction), bytes }]
        : [],
    )
  }

  /**
   * The transactions whose rows of an object are in no memtable, by as many as are read at once: after a start with no
   * segments that may be all there is.
   */
  logRangesOf(object: number): readonly (readonly LogRange[])[] {
    const groups: LogRange[][] = []
    let bytes = mostReadBytes
    for (const { bytes: further, ...logRange } of this.#logRanges) {
      if (logRange.object !== object) continue
      if (bytes >= mostReadBytes) {
        groups.push([])
        bytes = 0
      }
      groups.at(-1)!.push(logRange)
      bytes += further
    }
    return groups
  }
}

type SizedRange = LogRange & Pick<RowCount, 'bytes'>

function isEnough({ rows, bytes }: RowCount): boolean {
  return rows >= sealedRows || bytes >= sealedBytes
}

/** As many log ranges as are sealed together. */
function firstOf(logRanges: readonly OpenRange[]): OpenRange[] {
  let bytes = 0
  return logRanges.filter((logRange) => {
    if (bytes >= mostSealedBytes) return false
    bytes += logRange.bytes
    return true
  })
}

function sumOf(counts: readonly RowCount[]): RowCount {
  return {
    rows: counts.reduce((sum, { rows }) => sum + rows, 0),
    bytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

function describe(id: number, memory: SharedArrayBuffer, rowBytes: number): Memtable {
  const keys = sharedKeys(memory)
  let [first, last] = [keys.transaction[0]!, 0]
  for (const transaction of keys.transaction) {
    if (transaction < first) first = transaction
    if (transaction > last) last = transaction
  }
  const objects = objectRuns(keys.object).map(({ from, to }) => ({
    object: keys.object[from]!,
    from,
    to,
    oldest: paginationKeyAt(keys, from),
    newest: paginationKeyAt(keys, to - 1),
  }))
  return { id, memory, first, last, rowCount: keys.object.length, rowBytes, objects }
}
