/**
 * The rows that are in no segment yet, as queries find them: parts that are columns already, and
 * spans of transactions whose rows are still to be read from the row store and shredded.
 *
 * Rows of large requests, and of many small ones that came together, come with their part. Others are
 * spans, until there are enough of them to be sealed, which makes a part of them. So are all rows after a
 * start, however many there are: of these, some are sealed at a time. All parts and spans up to one
 * transaction are flushed together, the oldest first, and leave when the manifest says that they were.
 */
import type { FreshSpan, PreparedPart } from '../../storage/prepare/fresh-part.ts'
import type { LogEntry } from '../../storage/record-log.ts'
import { SharedMemory } from '../../storage/shared-memory.ts'
import { objectRuns } from '../../storage/shred/shred-keys.ts'
import type { Written } from '../../storage/write/record-writer.ts'
import type { RowKey } from '../../type/transaction.ts'
import { paginationKeyAt } from '../../vector/row-keys.ts'
import { setKeys, sharedBytes, sharedKeys } from '../../vector/shared-columns.ts'
import { RetiredMemory } from './part-memory.ts'

/** Rows of one object in a part, with the bounds of their pagination keys. */
export interface PartRows {
  readonly object: number
  readonly from: number
  readonly to: number
  readonly oldest: RowKey
  readonly newest: RowKey
}

export interface FreshPart {
  /** No two parts of an engine have the same, nor a part and a segment. */
  readonly id: number
  readonly memory: SharedArrayBuffer
  readonly first: number
  readonly last: number
  readonly rowCount: number
  /** Bytes of its rows. */
  readonly rowBytes: number
  readonly objects: readonly PartRows[]
}

export interface RowCount {
  readonly rows: number
  readonly bytes: number
}

/** What a flush takes: everything that was written up to `through`. */
export interface FlushInput {
  readonly through: number
  readonly parts: readonly Pick<FreshPart, 'memory' | 'rowBytes'>[]
  readonly spans: readonly FreshSpan[]
  /** Objects whose rows in parts are not to be written. */
  readonly without: readonly number[]
}

/** Makes a part of the rows of spans. */
export type Seal = (
  spans: readonly FreshSpan[],
  bytes: number,
) => Promise<SharedArrayBuffer | undefined>

export interface FreshRowsOptions {
  /** Without it spans stay spans. */
  readonly seal?: Seal | undefined
  /** Told when sealing has failed; the rows are still read as spans. */
  readonly onError?: (thrown: unknown) => void
  /** Where the memory of parts comes from, if they have any of it; it is given back. */
  readonly memory?: SharedMemory
}

/** Spans are sealed when they have so many rows or bytes. */
const sealedRows = 1000
const sealedBytes = 2 ** 20

/** No further span is sealed along with those that have so many bytes, which a thread shreds at once. */
const mostSealedBytes = 8 * 2 ** 20

/** Nor is any flushed along with so many, while which nobody seals what is flushed. */
const mostFlushedBytes = 64 * 2 ** 20

/** Of spans that one task shreds for a query, beyond which another begins. */
const mostReadBytes = 16 * 2 ** 20

/** More than this in parts is left to the row store, as when flushing does not keep up. */
const keptBytes = 256 * 2 ** 20

/** Greater than the id of any segment. */
const firstPartId = 2 ** 30

interface Span extends FreshSpan {
  through: number
  rows: number
  bytes: number
  /** Whether it is being sealed or flushed, so that nothing may be added to it. */
  isTaken: boolean
}

export class FreshRows {
  readonly #seal: Seal | undefined
  readonly #onError: (thrown: unknown) => void
  #parts: readonly FreshPart[] = []
  #partBytes = 0
  #nextPart = firstPartId
  #spans: Span[] = []
  /** What flushes have left out, since some of it is damaged: it is read for good, and never flushed. */
  #leftOut: readonly FreshSpan[] = []
  /** The span that rows of an object may still be added to. */
  readonly #open = new Map<number, Span>()
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
        const span = this.#addSpan(object, { first, last: transaction, rows, bytes })
        if (isEnough(span)) this.#open.delete(object)
      }
      this.#last = transaction
    }
    this.#sealSoon()
  }

  /** Takes what was written together, in the order of transactions. */
  add(written: Written, prepared: readonly PreparedPart[], objectNumbers: readonly number[]): void {
    const { first, transaction, objects } = written
    this.#last = Math.max(this.#last, transaction)
    const unchanged = new Set(written.unchanged)
    const taken = new Set<PreparedPart>()
    for (const { object, rows, bytes } of objects) {
      const part = prepared.find(
        (each) => objectNumbers[each.object] === object && each.rowCount === rows,
      )
      const fits = this.#partBytes + (part ? sharedBytes(part.memory) : 0) <= keptBytes
      if (part && unchanged.has(object) && fits) {
        taken.add(part)
        setKeys(part.memory, object, first)
        this.#addPart(part.memory, bytes)
        // Whatever is written after it begins a span of its own.
        this.#open.delete(object)
      } else {
        this.#addSpan(object, { first, last: transaction, rows, bytes })
      }
    }
    this.#retired.retire(prepared.filter((part) => !taken.has(part)).map(({ memory }) => memory))
    this.#sealSoon()
  }

  /**
   * Forgets the rows of objects that are removed for good: no flush writes them any more. Parts that have rows of others,
   * too, stay, and flushes leave those out.
   */
  drop(objects: Iterable<number>): void {
    for (const object of objects) {
      this.#dropped.add(object)
      this.#open.delete(object)
    }
    this.#spans = this.#spans.filter(({ object }) => !this.#dropped.has(object))
    this.#keepParts((part) => !part.objects.every(({ object }) => this.#dropped.has(object)))
  }

  /**
   * What a query of the snapshot `transaction` reads, until it is released.
   *
   * @param since what has no row of a later transaction is left out
   */
  at(transaction: number, since = 0): FreshSnapshot {
    const parts = this.#parts.filter(({ last }) => last > since)
    const leftOut = this.#leftOut.map((span) => ({ ...span, bytes: 0 }))
    const spans = [...leftOut, ...this.#spans].flatMap((span) =>
      span.through > since ? [{ ...span, after: Math.max(span.after, since) }] : [],
    )
    return new FreshSnapshot(transaction, parts, spans, this.#retired.addReader())
  }

  /** Takes all that flushes up to `through` have left out. */
  leaveOut(spans: readonly FreshSpan[], through: number): void {
    this.#leftOut = spans.filter((span) => span.through <= through)
  }

  /** Transactions, or stretches of them, that are in no segment since some of their rows are damaged. */
  get leftOut(): number {
    return this.#leftOut.length
  }

  /** The last transaction that it knows of. */
  get last(): number {
    return this.#last
  }

  /** The oldest rows, for a flush. Its spans are not sealed any more, even if it fails. */
  take(): FlushInput {
    const through = this.#flushEnd()
    const taken = this.#spans.filter((span) => span.through <= through)
    for (const span of taken) this.#close(span)
    const parts = this.#parts.filter(({ last }) => last <= through)
    const objects = new Set(parts.flatMap((part) => part.objects.map(({ object }) => object)))
    return {
      through,
      parts,
      without: [...this.#dropped].filter((object) => objects.has(object)),
      spans: taken.map(({ object, after, through }) => ({ object, after, through })),
    }
  }

  /** How much was written after a transaction that a flush has taken everything through. */
  after(transaction: number): RowCount {
    const parts = this.#parts.filter(({ last }) => last > transaction)
    const spans = this.#spans.filter(({ through }) => through > transaction)
    return sumOf([
      ...parts.map(({ rowCount, rowBytes }) => ({ rows: rowCount, bytes: rowBytes })),
      ...spans,
    ])
  }

  /** Forgets what is in segments. */
  flushed(through: number): void {
    this.#flushedThrough = through
    this.#keepParts(({ last }) => last > through)
    this.#spans = this.#spans.filter((span) => span.through > through)
  }

  /** Lets go of all other parts. */
  #keepParts(passes: (part: FreshPart) => boolean): void {
    const gone = this.#parts.filter((part) => !passes(part))
    this.#parts = this.#parts.filter(passes)
    this.#partBytes = this.#parts.reduce((sum, { memory }) => sum + sharedBytes(memory), 0)
    this.#retired.retire(gone.map(({ memory }) => memory))
  }

  /** Up to where the oldest rows are to be flushed: no part and no span has rows on both sides of it. */
  #flushEnd(): number {
    const all = [
      ...this.#parts.map(({ first, last, rowBytes }) => ({ first, last, bytes: rowBytes })),
      ...this.#spans.map(({ after, through, bytes }) => ({
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
  #close(span: Span): void {
    span.isTaken = true
    if (this.#open.get(span.object) === span) this.#open.delete(span.object)
  }

  #addSpan(
    object: number,
    written: { first: number; last: number; rows: number; bytes: number },
  ): Span {
    const { first, last, rows, bytes } = written
    let span = this.#open.get(object)
    if (!span) {
      span = { object, after: first - 1, through: last, rows: 0, bytes: 0, isTaken: false }
      this.#spans.push(span)
      this.#open.set(object, span)
    }
    span.through = last
    span.rows += rows
    span.bytes += bytes
    return span
  }

  #addPart(memory: SharedArrayBuffer, rowBytes: number): void {
    this.#parts = [...this.#parts, describe(this.#nextPart++, memory, rowBytes)]
    this.#partBytes += sharedBytes(memory)
  }

  #sealSoon(): void {
    if (!this.#seal || this.#isSealing || this.#partBytes > keptBytes) return
    const spans = firstOf(this.#spans.filter(({ isTaken }) => !isTaken))
    const size = sumOf(spans)
    if (!isEnough(size)) return
    this.#isSealing = true
    for (const span of spans) this.#close(span)
    this.#sealAll(this.#seal, spans, size.bytes)
      .catch(this.#onError)
      .finally(() => {
        this.#isSealing = false
        this.#sealSoon()
      })
  }

  /** Spans that could not be sealed stay what they are, until they are flushed. */
  async #sealAll(seal: Seal, spans: readonly Span[], rowBytes: number): Promise<void> {
    const memory = await seal(
      spans.map(({ object, after, through }) => ({ object, after, through })),
      rowBytes,
    )
    // A flush may have been faster.
    if (spans.some(({ through }) => through <= this.#flushedThrough)) {
      if (memory) this.#retired.retire([memory])
      return
    }
    const sealed = new Set(spans)
    this.#spans = this.#spans.filter((span) => !sealed.has(span))
    if (!memory) return
    this.#addPart(memory, rowBytes)
    // An object may have been removed meanwhile.
    if (spans.some(({ object }) => this.#dropped.has(object))) this.drop([])
  }
}

/** The fresh rows of one moment. */
export class FreshSnapshot {
  readonly parts: readonly FreshPart[]
  /** To be called once nothing of the parts is read any more. */
  readonly release: () => void
  readonly #spans: readonly SizedSpan[]

  constructor(
    transaction: number,
    parts: readonly FreshPart[],
    spans: readonly SizedSpan[],
    release: () => void = () => undefined,
  ) {
    this.release = release
    this.parts = parts.filter(({ first }) => first <= transaction)
    this.#spans = spans.flatMap(({ object, after, through, bytes }) =>
      after < transaction
        ? [{ object, after, through: Math.min(through, transaction), bytes }]
        : [],
    )
  }

  /**
   * The transactions whose rows of an object are in no part, by as many as are read at once: after a start with no
   * segments that may be all there is.
   */
  spansOf(object: number): readonly (readonly FreshSpan[])[] {
    const groups: FreshSpan[][] = []
    let bytes = mostReadBytes
    for (const { bytes: further, ...span } of this.#spans) {
      if (span.object !== object) continue
      if (bytes >= mostReadBytes) {
        groups.push([])
        bytes = 0
      }
      groups.at(-1)!.push(span)
      bytes += further
    }
    return groups
  }
}

type SizedSpan = FreshSpan & Pick<RowCount, 'bytes'>

function isEnough({ rows, bytes }: RowCount): boolean {
  return rows >= sealedRows || bytes >= sealedBytes
}

/** As many spans as are sealed together. */
function firstOf(spans: readonly Span[]): Span[] {
  let bytes = 0
  return spans.filter((span) => {
    if (bytes >= mostSealedBytes) return false
    bytes += span.bytes
    return true
  })
}

function sumOf(counts: readonly RowCount[]): RowCount {
  return {
    rows: counts.reduce((sum, { rows }) => sum + rows, 0),
    bytes: counts.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

function describe(id: number, memory: SharedArrayBuffer, rowBytes: number): FreshPart {
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
