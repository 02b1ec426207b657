/** Reads rows and log entries of a growing range of transactions, and stores them as pieces. */

import { entriesOf } from '../storage/backup/entry-list.ts'
import { LogDigest } from '../storage/backup/log-digest.ts'
import type { RowPlace } from '../storage/backup/read-rows.ts'
import { decodeLogEntry, endOfLog } from '../storage/record-log.ts'
import type { BackupSource } from './backup-source.ts'
import type { BackupStore } from './backup-store.ts'
import { type PieceReference, writePiece } from './piece.ts'

/** How far it is: plain data, from which another reader goes on. */
export interface ChangesProgress {
  readonly after: number
  /** Of the service when the first of it was read. */
  readonly logState: string | undefined
  /** The range that is being read is (`within.after`, `within.through`]; all before it has been read. */
  readonly through: number
  readonly next: RowPlace | undefined
  /** Where the range that is read in parts begins; it ends at `through`. */
  readonly partAfter: number
  readonly isLogRead: boolean
  readonly areRowsRead: boolean
  readonly rows: readonly PieceReference[]
  readonly log: readonly PieceReference[]
  readonly digest: string
  readonly rowCount: number
  readonly bytes: number
  /** By object: how many rows the log tells of, less those that were read. */
  readonly wanting: readonly (readonly [object: number, count: number])[]
}

export class ChangesReader {
  readonly #store: BackupStore
  readonly #source: BackupSource
  readonly #rows: PieceReference[]
  readonly #log: PieceReference[]
  readonly #wanting: Map<number, number>
  readonly #digest: LogDigest
  readonly #after: number
  readonly #logState: string | undefined
  #partAfter: number
  #through: number
  #next: RowPlace | undefined
  #isLogRead: boolean
  #areRowsRead: boolean
  #rowCount: number
  #bytes: number

  /** @param from how far another one was, or where to begin */
  constructor(
    store: BackupStore,
    source: BackupSource,
    from: ChangesProgress | Pick<ChangesProgress, 'after' | 'logState'>,
  ) {
    this.#store = store
    this.#source = source
    const { after, logState } = from
    const progress = 'through' in from ? from : startAt(after, logState)
    this.#logState = logState
    this.#after = after
    this.#partAfter = progress.partAfter
    this.#through = progress.through
    this.#next = progress.next
    this.#isLogRead = progress.isLogRead
    this.#areRowsRead = progress.areRowsRead
    this.#rows = [...progress.rows]
    this.#log = [...progress.log]
    this.#digest = new LogDigest(progress.digest)
    this.#rowCount = progress.rowCount
    this.#bytes = progress.bytes
    this.#wanting = new Map(progress.wanting)
  }

  get progress(): ChangesProgress {
    return {
      after: this.#after,
      logState: this.#logState,
      through: this.#through,
      next: this.#next,
      partAfter: this.#partAfter,
      isLogRead: this.#isLogRead,
      areRowsRead: this.#areRowsRead,
      rows: this.#rows,
      log: this.#log,
      digest: this.#digest.text,
      rowCount: this.#rowCount,
      bytes: this.#bytes,
      wanting: [...this.#wanting].filter(([, count]) => count !== 0),
    }
  }

  /** Objects of which the log tells more rows than were there, and how many more. */
  shortObjects(): { readonly object: number; readonly count: number }[] {
    const short = [...this.#wanting].filter(([, count]) => count > 0)
    return short.map(([object, count]) => ({ object, count }))
  }

  /** Reads up to a transaction; after each answer tells how many bytes it had. */
  async *read(through: number): AsyncGenerator<number> {
    // What was begun is ended first: its place is one in its own range.
    yield* this.#readPart()
    if (through <= this.#through) return
    this.#partAfter = this.#through
    this.#through = through
    this.#next = undefined
    this.#isLogRead = false
    this.#areRowsRead = false
    yield* this.#readPart()
  }

  async *#readPart(): AsyncGenerator<number> {
    const range = { after: this.#partAfter, through: this.#through }
    if (!this.#isLogRead) {
      const pieces: PieceReference[] = []
      const lists: Buffer[] = []
      let after: number | undefined = range.after
      while (after !== undefined) {
        const { list, next }: { list: Buffer; next: number | undefined } = await this.#source.log({
          ...range,
          after,
        })
        if (list.length > 0) pieces.push(await writePiece(this.#store, list))
        lists.push(list)
        after = next
        yield list.length
      }
      this.#log.push(...pieces)
      for (const list of lists) this.#noteLog(list)
      this.#isLogRead = true
    }
    while (!this.#areRowsRead) {
      const { list, next, rows } = await this.#source.rows(range, this.#next)
      if (list.length > 0) this.#rows.push(await writePiece(this.#store, list))
      for (const [object, count] of rows) {
        this.#want(object, -count)
        this.#rowCount += count
      }
      this.#bytes += list.length
      this.#next = next
      this.#areRowsRead = next === undefined
      yield list.length
    }
  }

  #noteLog(list: Buffer): void {
    for (const { key, value } of entriesOf(list)) {
      this.#digest.add(key, value)
      if (key[0] === endOfLog[0]) continue
      for (const { object, rows } of decodeLogEntry(key, value).objects) this.#want(object, rows)
    }
  }

  #want(object: number, rows: number): void {
    this.#wanting.set(object, (this.#wanting.get(object) ?? 0) + rows)
  }
}

function startAt(after: number, logState: string | undefined): ChangesProgress {
  return {
    after,
    logState,
    through: after,
    next: undefined,
    partAfter: after,
    isLogRead: true,
    areRowsRead: true,
    rows: [],
    log: [],
    digest: new LogDigest().text,
    rowCount: 0,
    bytes: 0,
    wanting: [],
  }
}
