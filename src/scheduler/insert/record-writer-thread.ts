import { AssayError, type WireError } from '../../error.ts'
import type {
  CopiedIds,
  CopiedRecords,
  CopyOutcome,
  CopyTask,
} from '../../storage/backup/copy-records.ts'
import type { CatalogBatch } from '../../storage/write/catalog-batch.ts'
import type { WriteOutcome, WriteRequest, Written } from '../../storage/write/record-writer.ts'
import type { WriteTask, WriteTaskOutcome } from '../../storage/write/write-task.ts'
import { openThreads, type Threads } from '../thread/threads.ts'

export interface WriteResult extends Written {
  /** Ids of the request's rows, in their order. */
  readonly ids: readonly string[]
}

/** A commit that waits for the disk is shared by what came meanwhile, up to this much. */
const groupBytes = 64 << 20
const groupRequests = 1024

interface Waiting {
  readonly request: WriteRequest
  readonly ids: readonly string[]
  readonly resolve: (result: WriteResult) => void
  readonly reject: (error: AssayError) => void
}

/**
 * The writer of a data directory, in a thread of its own. Requests that come while a commit is
 * under way are written together in the next.
 */
export class RecordWriterThread {
  readonly #pool: Threads
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  /** Of the catalog, and of copied records. */
  readonly #otherWrites = new Set<Promise<unknown>>()
  #isClosed = false

  constructor(directory: string) {
    this.#pool = openThreads('write', { data: { directory }, least: 1, most: 1 })
  }

  /** Whether requests are being written. */
  get isBusy(): boolean {
    return this.#writing !== undefined
  }

  /** Resolves when the request is on disk. The memory of its rows is the writer's until then. */
  write(request: WriteRequest): Promise<WriteResult> {
    if (this.#isClosed) {
      return Promise.reject(new AssayError('STORAGE_UNAVAILABLE', 'the records are closed'))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, ids: request.rows.ids, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Resolves when all of the batch is on disk, after the rows that are being written; rejects when none is. */
  async writeCatalog(batch: CatalogBatch): Promise<void> {
    if (this.#isClosed) throw new AssayError('STORAGE_UNAVAILABLE', 'the records are closed')
    const outcome = await this.#runBeside({ kind: 'catalog', batch })
    if ('error' in outcome && outcome.error) throw AssayError.fromWire(outcome.error)
  }

  /** Resolves when all of it is on disk; rejects when none is. See `RecordCopies`. */
  async copy(copied: CopiedRecords): Promise<CopiedIds> {
    if (this.#isClosed) throw new AssayError('STORAGE_UNAVAILABLE', 'the records are closed')
    const outcome = (await this.#runBeside({ kind: 'copy', copied })) as CopyOutcome
    if ('error' in outcome) throw AssayError.fromWire(outcome.error)
    return outcome.ids
  }

  /** Runs what is no request, and is waited for when this is closed. */
  async #runBeside(task: WriteTask | CopyTask): Promise<WriteTaskOutcome | CopyOutcome> {
    const written = this.#run(task).catch((thrown) => ({ error: unavailable(thrown) }))
    this.#otherWrites.add(written)
    const outcome = await written
    this.#otherWrites.delete(written)
    return outcome
  }

  /** Writes what was asked for, then ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#writing, ...this.#otherWrites])
    await this.#pool.destroy()
  }

  async #writeAll(): Promise<void> {
    // Requests of the same turn of the event loop belong together.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#writeGroup(this.#nextGroup())
    this.#writing = undefined
  }

  #nextGroup(): Waiting[] {
    let bytes = 0
    let count = 0
    for (const { request } of this.#waiting) {
      bytes += request.rows.bytes.length
      if (count > 0 && (bytes > groupBytes || count === groupRequests)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const requests = group.map(({ request }) => request)
    let outcomes: readonly WriteOutcome[]
    try {
      outcomes = (await this.#run({ kind: 'rows', requests })) as readonly WriteOutcome[]
    } catch (thrown) {
      const error = unavailable(thrown)
      outcomes = group.map(() => ({ error }))
    }
    group.forEach(({ ids, resolve, reject }, i) => {
      const outcome = outcomes[i]!
      if ('written' in outcome) resolve({ ...outcome.written, ids })
      else reject(AssayError.fromWire(outcome.error))
    })
  }

  #run(task: WriteTask | CopyTask): Promise<WriteTaskOutcome | CopyOutcome> {
    return this.#pool.run(task) as Promise<WriteTaskOutcome | CopyOutcome>
  }
}

/** What is thrown in place of an outcome is about the thread, not about a request. */
function unavailable(thrown: unknown): WireError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: 'STORAGE_UNAVAILABLE', message: `the writer of the records failed: ${reason}` }
}
