/**
 * Results of queries that nobody waits for, in the data directory: of each a file of what is known of
 * it (`<id>.json`) and one of its bytes (`<id>.rows`). Ids are ours, so no text of a user is a path.
 */
import { type FileHandle, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutputFormat } from '../../format/output-format.ts'
import {
  makeFolder,
  privateFile,
  unfinishedEnding,
  writeDurably,
} from '../../storage/durable-file.ts'
import { onDisk } from '../../storage/storage-error.ts'

export type AsyncStatus = 'queued' | 'running' | 'canceled' | 'succeeded' | 'failed'

export interface AsyncQueryState {
  readonly id: string
  readonly organizationId: string
  readonly userId: string | null
  readonly query: string
  /** The source, of a query that is a filter alone. */
  /** Id or name of the project that sources without an id are of. */
  readonly project?: string
  readonly from?: string
  readonly format: OutputFormat
  /** Rows of a page of results, where a request does not say. */
  readonly batchSize: number
  /** What its sources were when it began; see `NotingView`. */
  readonly seen?: readonly string[]
  readonly status: AsyncStatus
  /** In ms since 1970, as is `ended`. */
  readonly created: number
  readonly ended: number | null
  readonly rowCount: number
  readonly bytes: number
  /** Why it failed. */
  readonly error: string | null
}

const resultText = 'the result'

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export class ResultStore {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(dataDirectory: string): Promise<ResultStore> {
    const directory = join(dataDirectory, 'async')
    await makeFolder(directory)
    return new ResultStore(directory)
  }

  /** What was written before; files that belong to nothing, or were left half written, are removed. */
  async states(): Promise<AsyncQueryState[]> {
    const names = await readdir(this.#directory)
    const unfinished = names.filter((name) => name.endsWith(unfinishedEnding))
    await Promise.all(unfinished.map((name) => rm(join(this.#directory, name), { force: true })))
    const ids = new Set(names.map((name) => name.replace(/\.(json|rows)$/, '')))
    const states = await Promise.all([...ids].map((id) => this.#state(id)))
    return states.filter((state) => state !== undefined)
  }

  async write(state: AsyncQueryState): Promise<void> {
    await onDisk(resultText, writeDurably(this.#path(state.id, 'json'), JSON.stringify(state)))
  }

  /** For the bytes of a result, which has none yet. Throws STORAGE_UNAVAILABLE, as `write` does. */
  async create(id: string): Promise<ResultWriter> {
    return new ResultWriter(
      await onDisk(resultText, open(this.#path(id, 'rows'), 'w', privateFile)),
    )
  }

  read(id: string): Promise<FileHandle> {
    return open(this.#path(id, 'rows'), 'r')
  }

  async remove(id: string): Promise<void> {
    await Promise.all(['json', 'rows'].map((ending) => rm(this.#path(id, ending), { force: true })))
  }

  /** Lets go of the bytes, but not of what is known. */
  async removeRows(id: string): Promise<void> {
    await rm(this.#path(id, 'rows'), { force: true })
  }

  async #state(id: string): Promise<AsyncQueryState | undefined> {
    if (!idForm.test(id)) return undefined
    try {
      return JSON.parse(await readFile(this.#path(id, 'json'), 'utf8')) as AsyncQueryState
    } catch (thrown) {
      const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
      if (!isMissing && !(thrown instanceof SyntaxError)) throw thrown
      // What is left of a result that nobody can find is of no use to anybody.
      await this.remove(id)
      return undefined
    }
  }

  #path(id: string, ending: string): string {
    return join(this.#directory, `${id}.${ending}`)
  }
}

/** The file of a result that is being written. Throws STORAGE_UNAVAILABLE when the disk does not take it. */
export class ResultWriter {
  readonly #file: FileHandle

  constructor(file: FileHandle) {
    this.#file = file
  }

  async append(parts: readonly Uint8Array[]): Promise<void> {
    await onDisk(resultText, this.#file.writev(parts))
  }

  /** Resolves when all is on the disk. */
  sync(): Promise<void> {
    return onDisk(resultText, this.#file.sync())
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
