/** Loads the rows of one query, block by block, as they are looked at. */
import { type Answer, query, quoted, type Row } from './query.ts'
import { clauseOf, forTable, isOfRecords, measured, withClauses } from './query-text.ts'

/** Rows of a request. */
export const blockRows = 100

/** Blocks that are kept; each has some 100 KB. */
const keptBlocks = 100

/** Far from what is there, nothing is loaded until scrolling has rested for so long. */
const restMs = 90

/** Rows that may come while one looks, before it is better to begin anew. */
const mostFresh = 1000

export interface Stored {
  readonly blocks: ReadonlyMap<number, readonly Row[]>
  /** Rows that came after the query was run, newest first. */
  readonly fresh: readonly Row[]
  /** Rows that the query finds, once they are counted. */
  readonly total: number | undefined
  /** Rows that are known to be there, from the first on. */
  readonly known: number
  /** All rows are known. */
  readonly isWhole: boolean
}

export const nothingStored: Stored = {
  blocks: new Map(),
  fresh: [],
  total: undefined,
  known: 0,
  isWhole: false,
}

export interface Watcher {
  onChange(stored: Stored): void
  onLoading(isLoading: boolean): void
  onError(error: Error): void
}

export class RowLoader {
  readonly #query: string
  readonly #fields: readonly string[]
  readonly #watcher: Watcher
  readonly #isOfRecords: boolean
  /** A query that says itself how many rows it wants has no further ones. */
  readonly #hasLimit: boolean
  readonly #cursors = new Map<number, string>()
  readonly #loading = new Map<number, AbortController>()
  /** Blocks that were refused: asked for again only by whoever begins anew. */
  readonly #refused = new Set<number>()
  readonly #end = new AbortController()
  #stored = nothingStored
  /** Blocks in sight, both included. */
  #sight = [0, 0] as readonly [number, number]
  /** What was there when rows were counted: `offset` counts in that. */
  #version: string | undefined
  #rest: number | undefined
  #early: { readonly rows: readonly Row[]; readonly idOf: string } | undefined

  /** @param fields what is selected besides the rows, of which long values are cut */
  constructor(text: string, fields: readonly string[], watcher: Watcher) {
    this.#query = text
    this.#fields = fields
    this.#watcher = watcher
    this.#isOfRecords = isOfRecords(text)
    this.#hasLimit = clauseOf(text, 'limit') !== undefined
  }

  /** Rows from the first to before the last are in sight, counted without those that came since. */
  look(first: number, last: number): void {
    this.#sight = [Math.floor(first / blockRows), Math.floor(Math.max(first, last) / blockRows)]
    window.clearTimeout(this.#rest)
    for (const block of this.#wanted()) {
      if (this.#stored.blocks.has(block) || this.#loading.has(block)) continue
      if (this.#refused.has(block)) return
      // It goes on where the one before it ends, once that is there.
      if (this.#loading.has(block - 1)) return
      const isNext = block * blockRows <= this.#stored.known
      if (this.#cursors.has(block - 1) || isNext) void this.#load(block)
      else if (this.#version !== undefined) {
        this.#rest = window.setTimeout(() => this.#jump(block), restMs)
        return
      }
    }
  }

  /** Rows that are newer than what was found take the place of those with their id, or come first. */
  take(rows: readonly Row[], idOf: string): void {
    const { blocks, fresh } = this.#stored
    if (!blocks.has(0)) {
      // They came faster than the first block, which has most of them.
      this.#early = { rows, idOf }
      return
    }
    const changed = new Map(blocks)
    const known = new Map(rows.map((row) => [row[idOf], row]))
    const replaced = (list: readonly Row[]) =>
      list.map((row) => {
        const next = known.get(row[idOf])
        if (!next) return row
        known.delete(row[idOf])
        return next
      })
    for (const [place, block] of blocks) {
      if (block.some((row) => known.has(row[idOf]))) changed.set(place, replaced(block))
    }
    const before = replaced(fresh)
    const first = rows.filter((row) => known.has(row[idOf]))
    this.#change({ blocks: changed, fresh: [...first, ...before].slice(0, mostFresh) })
  }

  end(): void {
    window.clearTimeout(this.#rest)
    this.#end.abort()
    for (const request of this.#loading.values()) request.abort()
  }

  /** Blocks in sight, and the next one. */
  #wanted(): number[] {
    const [first, last] = this.#sight
    const { isWhole, known } = this.#stored
    const blocks = Array.from({ length: last - first + 2 }, (_, i) => first + i)
    return isWhole ? blocks.filter((block) => block * blockRows < known) : blocks
  }

  /** Where one has come to; what was on its way to where one was before is left. */
  #jump(block: number): void {
    const wanted = this.#wanted()
    for (const [place, request] of this.#loading) if (!wanted.includes(place)) request.abort()
    void this.#load(block)
  }

  async #load(block: number): Promise<void> {
    const abandon = new AbortController()
    this.#loading.set(block, abandon)
    this.#watcher.onLoading(true)
    try {
      const { data, cursor } = await this.#request(block, abandon.signal)
      if (abandon.signal.aborted || this.#end.signal.aborted) return
      if (cursor !== undefined) this.#cursors.set(block, cursor)
      this.#keep(block, data)
    } catch (thrown) {
      if (abandon.signal.aborted || this.#end.signal.aborted) return
      this.#refused.add(block)
      this.#watcher.onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      this.#loading.delete(block)
      if (this.#loading.size === 0 && !this.#end.signal.aborted) this.#watcher.onLoading(false)
    }
    // What came into sight meanwhile.
    const [first, last] = this.#sight
    if (!this.#end.signal.aborted) this.look(first * blockRows, last * blockRows)
  }

  #request(block: number, signal: AbortSignal): Promise<Answer> {
    const rows = forTable(this.#query, this.#fields)
    if (this.#hasLimit) return query(rows, signal)
    const page = withClauses(rows, { limit: String(blockRows) })
    if (block === 0) return query(page, signal)
    const cursor = this.#cursors.get(block - 1)
    if (cursor !== undefined) {
      return query(withClauses(page, { cursor: quoted(cursor) }), signal)
    }
    const jump = withClauses(page, { offset: String(block * blockRows) })
    return query(jump, signal, this.#version)
  }

  #keep(block: number, rows: readonly Row[]): void {
    const blocks = new Map(this.#stored.blocks)
    const { total, known } = this.#stored
    const end = block * blockRows + rows.length
    if (this.#hasLimit) {
      for (let from = 0; from < rows.length; from += blockRows) {
        blocks.set(from / blockRows, rows.slice(from, from + blockRows))
      }
      this.#change({ blocks, known: rows.length, isWhole: true })
      return
    }
    blocks.set(block, rows)
    this.#forgetFar(blocks)
    const isLast = rows.length < blockRows && (end >= known || total === undefined)
    this.#change({
      blocks,
      known: block * blockRows <= known ? Math.max(known, end) : known,
      isWhole: this.#stored.isWhole || (isLast && block * blockRows <= known),
    })
    if (block > 0) return
    const early = this.#early
    this.#early = undefined
    if (early) this.take(early.rows, early.idOf)
    if (rows.length === blockRows && this.#isOfRecords) void this.#count()
  }

  #forgetFar(blocks: Map<number, readonly Row[]>): void {
    const [first, last] = this.#sight
    const middle = (first + last) / 2
    while (blocks.size > keptBlocks) {
      // The first block has no cursor before it: asked again, it would have what came since.
      let farthest = -1
      for (const place of blocks.keys()) {
        const isFarther = farthest < 0 || Math.abs(place - middle) > Math.abs(farthest - middle)
        if (place > 0 && isFarther) farthest = place
      }
      blocks.delete(farthest)
    }
  }

  async #count(): Promise<void> {
    try {
      const { signal } = this.#end
      const measures = 'count(1) as count, max(_xact_id) as version'
      const { data } = await query(measured(this.#query, measures), signal)
      const [counted] = data
      if (signal.aborted || typeof counted?.count !== 'number') return
      this.#version = String(counted.version)
      this.#change({ total: counted.count })
    } catch (thrown) {
      if (this.#end.signal.aborted) return
      this.#watcher.onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
    }
  }

  #change(changes: Partial<Stored>): void {
    this.#stored = { ...this.#stored, ...changes }
    this.#watcher.onChange(this.#stored)
  }
}
