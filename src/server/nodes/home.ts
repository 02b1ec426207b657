/**
 * The home node as a query node follows it. Its catalog comes with the feed, and waits for one commit of records at most.
 * Records are asked for in ranges of transactions, each written in one commit, so that queries always see the home as it
 * was at some transaction.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ServiceSource } from '../../backup/service-source.ts'
import type { FollowedChange, FollowedEntry } from '../../catalog/followed-change.ts'
import type { Engine } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import type { FollowedExport } from '../../scheduler/cold/exported-records.ts'
import { EntryListWriter, entriesOf } from '../../storage/backup/entry-list.ts'
import type { RowPlace } from '../../storage/backup/read-rows.ts'
import type { Purge } from '../../storage/maintenance/purge-plan.ts'
import { transactionOf } from '../../storage/record-key.ts'
import { decodeLogEntry, endOfLog } from '../../storage/record-log.ts'
import { parseExactJson } from '../../type/exact-json.ts'
import { formatTransaction } from '../../type/transaction.ts'
import type { Logger } from '../logger.ts'
import type { CacheFolder } from './cache-folder.ts'
import { type FeedLine, feedLine } from './feed.ts'
import type { HomeConnection } from './home-connection.ts'
import type { HomeStatus } from './home-status.ts'
import type { Seen } from './seen.ts'

export interface HomeOptions {
  readonly connection: HomeConnection
  readonly engine: Engine
  readonly cache: CacheFolder
  /** Undefined: this node does not read the home's cluster, and has all bodies itself. */
  readonly followedExport: FollowedExport | undefined
  /** Whether what the home keeps of older records is to be taken over anew, rather than that many bodies are read of the cluster. */
  readonly isTakingOver: boolean
  readonly logger: Logger
}

/** A home that says nothing for so long is lost: something comes four times a second. */
const longestSilenceMs = 2000
const retryMs = 250
/** A client that has seen more than this node is kept waiting for so long. */
const longestSeenMs = 10_000
const noteEveryMs = 30_000
/** Of rows that are written in one commit, unless one transaction has more. */
const copiedBytes = 4 * 2 ** 20
/** Of rows that have left the home before they were copied: to read their bodies of the cluster takes some ten seconds. */
const mostFilledBytes = 16 * 2 ** 20

const statusThere = z.object({
  export: z.unknown(),
  backup: z.unknown(),
  warnings: z.array(z.string()),
})

type StatusThere = z.infer<typeof statusThere>

interface WaitingPurge {
  readonly purges: readonly Purge[]
  /** See `FollowedExport`. */
  readonly done: () => void
  readonly transaction: number
}

interface Waiter {
  readonly isDone: () => boolean
  readonly resolve: () => void
}

export class Home {
  readonly #options: HomeOptions
  readonly #source: ServiceSource
  readonly #abort = new AbortController()
  readonly #waiters = new Set<Waiter>()
  readonly #purges: WaitingPurge[] = []
  readonly #running: Promise<unknown>
  #whole: FollowedEntry[] = []
  #sourceName: string | undefined
  /** The newest transaction that the home has told of. */
  #target = 0
  /** How many lines the feeds have had. */
  #lines = 0
  #hasCatalog = false
  #isConnected = false
  #isVerified = false
  #heard: number
  #notedAt = 0
  #fault: AssayError | undefined
  #stale: string | undefined

  constructor(options: HomeOptions) {
    this.#options = options
    this.#heard = options.cache.heard
    this.#hasCatalog = options.cache.source !== null
    this.#source = new ServiceSource(options.connection)
    this.#running = Promise.all([this.#followForever(), this.#copyForever()])
  }

  get connection(): HomeConnection {
    return this.#options.connection
  }

  get status(): HomeStatus {
    return {
      url: this.connection.url,
      isConnected: this.#isConnected,
      ageMs: Math.max(0, Date.now() - this.#heard),
      isCaughtUp: this.#isCaughtUp(),
      fault: this.#fault?.message,
    }
  }

  /** Set when what is here is not the beginning of what the home has: all of it has to be copied anew. */
  get stale(): string | undefined {
    return this.#stale
  }

  /**
   * Resolves when all that the home has is here; or, where it cannot be reached and all of it was here before, when that is
   * known. Throws why nothing can be had.
   */
  async ready(): Promise<void> {
    const known = this.#options.cache.source !== null
    const isSettled = () =>
      this.#isCaughtUp() || this.#stale !== undefined || this.#fault !== undefined
    await this.#until(isSettled)
    if (this.#fault && !known && !this.#isConnected) throw this.#fault
    if (!this.#fault || !known) await this.#until(() => this.#isCaughtUp() || !!this.#stale)
    if (this.#stale === undefined && this.#isCaughtUp()) this.#note()
  }

  /** What the home says of itself. */
  async statusThere(): Promise<StatusThere> {
    return statusThere.parse(await this.connection.askForJson('/admin/status'))
  }

  /** Whether all that a client has seen is here. */
  has({ transaction, position }: Seen): boolean {
    return transaction <= this.#last && position <= this.#options.engine.catalog.position
  }

  /**
   * Resolves once the catalog here is what the home has now, as far as can be told: the next line may have been on its way
   * already, the one after it was not. Resolves, too, when the home is lost.
   */
  heardAnew(): Promise<void> {
    const after = this.#lines + 2
    return this.#until(() => this.#lines >= after || !this.#isConnected)
  }

  /** Resolves once queries see the transaction; throws HOME_AHEAD after so long. */
  reached(transaction: number, ms: number): Promise<void> {
    return this.#within(
      ms,
      () => this.#last >= transaction,
      () => {
        const [asked, here] = [transaction, this.#last].map(formatTransaction)
        return `transaction ${asked} has not come here from the home node: this node is at ${here}`
      },
    )
  }

  /** Resolves once all that a client has seen is here; throws HOME_AHEAD when it does not come soon. */
  async seen({ transaction, position }: Seen): Promise<void> {
    await this.caughtUp(position, longestSeenMs)
    await this.reached(transaction, longestSeenMs)
  }

  /** The same of a position of the catalog. */
  caughtUp(position: number, ms: number): Promise<void> {
    return this.#within(
      ms,
      () => this.#options.engine.catalog.position >= position,
      () => {
        return 'the change of the catalog has not come here from the home node'
      },
    )
  }

  async close(): Promise<void> {
    this.#abort.abort(new AssayError('STORAGE_UNAVAILABLE', 'the server is shutting down'))
    this.#tell()
    await this.#running
    if (this.#options.cache.source !== null) this.#note()
    this.connection.close()
  }

  get #last(): number {
    return this.#options.engine.lastTransaction
  }

  #isCaughtUp(): boolean {
    return this.#isVerified && this.#hasCatalog && this.#last >= this.#target
  }

  #note(): void {
    const source = this.#sourceName ?? this.#options.cache.source
    this.#notedAt = Date.now()
    this.#options.cache.note({ source, heard: this.#heard })
  }

  async #followForever(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted && this.#stale === undefined) {
      try {
        await this.#follow()
        this.#lose(new AssayError('HOME_UNAVAILABLE', 'the home node has ended the feed'))
      } catch (thrown) {
        this.#lose(toAssayError(thrown))
      }
      await sleep(retryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #lose(fault: AssayError): void {
    if (this.#abort.signal.aborted) return
    const { url } = this.connection
    if (this.#isConnected || !this.#fault)
      this.#options.logger.warn({ home: url, err: fault }, 'the home node is lost')
    this.#fault = fault
    this.#isConnected = false
    this.#isVerified = false
    this.#tell()
  }

  /** Ends when the feed does. */
  async #follow(): Promise<void> {
    const { engine, cache, connection } = this.#options
    const ended = new AbortController()
    const end = () => ended.abort(connection.unavailable(new Error('nothing came for too long')))
    const stop = () => ended.abort(this.#abort.signal.reason)
    this.#abort.signal.addEventListener('abort', stop, { once: true })
    const silence = setTimeout(end, longestSilenceMs)
    try {
      this.#whole = []
      const asked = new URLSearchParams({
        source: cache.source ?? '',
        position: String(engine.catalog.position),
      })
      const feed = await connection.ask(`/admin/nodes/feed?${asked}`, { signal: ended.signal })
      for await (const line of linesOf(feed)) {
        silence.refresh()
        this.#heard = Date.now()
        await this.#take(feedLine.parse(parseExactJson(line)))
        if (this.#stale !== undefined) return
      }
    } catch (thrown) {
      if (ended.signal.aborted) throw ended.signal.reason
      throw thrown instanceof AssayError ? thrown : connection.unavailable(thrown)
    } finally {
      clearTimeout(silence)
      this.#abort.signal.removeEventListener('abort', stop)
      ended.abort()
    }
  }

  async #take({ source, catalog, cold, purges, transaction }: FeedLine): Promise<void> {
    const { followedExport } = this.#options
    if (source !== undefined) this.#begin(source)
    if (catalog) {
      const { isWhole, isContinued, entries, ...counters } = catalog
      this.#whole.push(...(entries as unknown as FollowedEntry[]))
      if (!isContinued) {
        const change: FollowedChange = { ...counters, entries: this.#whole }
        this.#whole = []
        await this.#options.engine.catalog.follow(change, isWhole)
        this.#hasCatalog = true
      }
    }
    this.#lines++
    if (cold && followedExport) {
      followedExport.tell(cold)
      this.#options.cache.noteExport(cold)
    }
    if (purges) {
      const objects = [...new Set(purges.map(({ object }) => object))]
      const done = followedExport?.holdRemovals(objects) ?? (() => undefined)
      this.#purges.push({ purges, transaction: transaction ?? 0, done })
    }
    if (transaction !== undefined) {
      this.#target = transaction
      this.#isConnected = true
    }
    if (this.#isCaughtUp() && this.#heard - this.#notedAt > noteEveryMs) this.#note()
    this.#tell()
  }

  #begin(source: string): void {
    const known = this.#options.cache.source
    this.#sourceName = source
    if (this.#fault)
      this.#options.logger.info({ home: this.connection.url }, 'the home node is back')
    this.#fault = undefined
    if (known !== null && known !== source)
      this.#setStale('the home node has another data directory')
  }

  #setStale(reason: string): void {
    this.#stale = `${reason}: all that it has is copied anew`
    this.#tell()
  }

  async #copyForever(): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted && this.#stale === undefined) {
      try {
        await this.#until(() => this.#hasWork() || signal.aborted || this.#stale !== undefined)
        if (signal.aborted || this.#stale !== undefined) return
        if (!this.#isVerified) await this.#verify()
        else await this.#copyNext()
        this.#tell()
      } catch (thrown) {
        if (signal.aborted) return
        this.#options.logger.warn({ err: thrown }, 'records of the home node could not be copied')
        await sleep(retryMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  #hasWork(): boolean {
    if (!this.#isConnected) return false
    return !this.#isVerified || this.#last < this.#target || this.#purges.length > 0
  }

  /** What is here may have left the home, or been mended there, while nothing was heard of it. */
  async #verify(): Promise<void> {
    const range = { after: 0, through: this.#last }
    const [here, there] = await Promise.all([
      this.#options.engine.backup.logDigest(range),
      this.#source.logDigest(range),
    ])
    if (here !== there) {
      this.#setStale('records that were copied are no more what the home node has')
      return
    }
    this.#isVerified = this.#isConnected
  }

  async #copyNext(): Promise<void> {
    const { engine, logger, followedExport, isTakingOver } = this.#options
    const purge = this.#purges[0]
    if (purge && purge.transaction <= this.#last) {
      this.#purges.shift()
      // Others go on meanwhile: it waits for queries that read what is to go.
      engine
        .purge(purge.purges, async () => undefined)
        .then(purge.done)
        .catch((thrown: unknown) => {
          logger.error({ err: thrown }, 'records that have left the home node are still here')
          this.#setStale('records that are to go could not be removed')
        })
      return
    }
    if (this.#last >= this.#target) return
    const after = this.#last
    const { list } = await this.#source.log({ after, through: this.#target })
    const { log, through } = beginningOf(list)
    const rows: Uint8Array[] = []
    // This node has the home's cluster, too: what only that has is not asked of the home.
    const isKeptEnough = followedExport !== undefined && followedExport.through > after
    if (
      isKeptEnough &&
      isTakingOver &&
      bytesThrough(list, followedExport.through) > mostFilledBytes
    ) {
      this.#setStale('records have left the home node before they were copied')
      return
    }
    let damaged = 0
    for (let from: RowPlace | undefined, isFirst = true; isFirst || from; isFirst = false) {
      const piece = await this.#source.rows({ after, through }, from, isKeptEnough)
      rows.push(isKeptEnough ? await engine.backup.filled(piece.list) : piece.list)
      damaged += piece.damaged
      from = piece.next
    }
    if (damaged > 0)
      logger.warn({ rows: damaged }, 'rows that the home node cannot read are not here')
    await engine.copy({ log, rows })
  }

  async #within(ms: number, isDone: () => boolean, words: () => string): Promise<void> {
    if (isDone()) return
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), ms)
    await this.#until(() => isDone() || deadline.signal.aborted, deadline.signal)
    clearTimeout(timer)
    if (isDone()) return
    throw new AssayError('HOME_AHEAD', words(), {
      hint: this.#isConnected ? 'ask again in a moment' : 'the home node cannot be reached now',
      retryAfterSeconds: 1,
    })
  }

  #until(isDone: () => boolean, signal?: AbortSignal): Promise<void> {
    if (isDone()) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter = { isDone, resolve }
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', () => this.#tell(), { once: true })
    })
  }

  #tell(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.isDone()) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}

/** Entries of the log from the first on, of as many transactions as are written together. */
function beginningOf(list: Buffer): { readonly log: Buffer; readonly through: number } {
  const log = new EntryListWriter()
  let through = 0
  let bytes = 0
  for (const { key, value } of entriesOf(list)) {
    const transaction = transactionOf(key)
    if (transaction !== through && bytes >= copiedBytes) break
    through = transaction
    log.add(key, value)
    if (key[0] === endOfLog[0]) continue
    for (const object of decodeLogEntry(key, value).objects) bytes += object.bytes
  }
  return { log: log.take(), through }
}

/** How long the rows are that the entries up to the transaction tell of. */
function bytesThrough(list: Buffer, transaction: number): number {
  let bytes = 0
  for (const { key, value } of entriesOf(list)) {
    if (key[0] === endOfLog[0] || transactionOf(key) > transaction) continue
    for (const object of decodeLogEntry(key, value).objects) bytes += object.bytes
  }
  return bytes
}

async function* linesOf(chunks: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    let bytes = chunk as Buffer
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      yield Buffer.concat([...rest, bytes.subarray(0, end)]).toString()
      rest = []
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > 0) rest.push(bytes)
  }
}
