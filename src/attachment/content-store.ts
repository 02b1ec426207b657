/**
 * Files beside the records: attachments, and bodies that are uploaded before they are referred to.
 *
 * A file's name is a hash of who owns it and of its key, so that no text of a user becomes a path. What
 * is known of it lies beside it as JSON.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AssayError } from '../error.ts'
import { makeFolder, unfinishedEnding, writeDurably } from '../storage/durable-file.ts'
import { onDisk } from '../storage/storage-error.ts'

/** What a key is of: in each of them, and in each organization, keys are apart. */
export type ContentKind = 'attachment' | 'overflow' | 'bundle'

export interface ContentPlace {
  readonly organizationId: string
  readonly kind: ContentKind
  /** Chosen by the client. */
  readonly key: string
}

export type UploadStatus = 'uploading' | 'done' | 'error'

export interface ContentDetails {
  readonly organizationId: string
  readonly kind: ContentKind
  readonly filename: string
  readonly contentType: string
  readonly status: UploadStatus
  readonly errorMessage: string | null
  /** Who announced it; not known of what is older than this field. */
  readonly userId?: string | null
  /** In ms since 1970. */
  readonly created: number
}

const dayMs = 24 * 60 * 60 * 1000

/** What was announced and never came, and a body that came and was never asked for. */
const waitingMs = dayMs

/** An attachment that no record names: spans may be logged long after they began. */
const unnamedMs = 7 * dayMs

/** Knows what names a file. */
export interface FileUses {
  filePlaces(name: string): { readonly objects: readonly unknown[]; readonly isLost?: boolean }
  forgetFile(name: string): Promise<void>
}

export interface ContentStoreOptions {
  readonly now?: () => number
  /** Throws when the disk is not to take so many bytes more. */
  readonly requireRoom?: ((bytes: number) => void) | undefined
}

export class ContentStore {
  readonly #directory: string
  readonly #now: () => number
  readonly #requireRoom: ((bytes: number) => void) | undefined
  /** What is unfinished since before was left by a crash. */
  readonly #openedAt = Date.now()

  constructor(directory: string, { now = Date.now, requireRoom }: ContentStoreOptions = {}) {
    this.#directory = directory
    this.#now = now
    this.#requireRoom = requireRoom
  }

  /** Announces a file, unless there is one already. */
  async announce(
    place: ContentPlace,
    { filename, contentType, userId }: Pick<ContentDetails, 'filename' | 'contentType' | 'userId'>,
  ): Promise<ContentDetails> {
    const name = contentName(place)
    const known = await this.details(name).catch(unlessDamaged)
    if (known?.status === 'done' || isOfAnother(known, userId)) return known!
    const { organizationId, kind } = place
    const details: ContentDetails = {
      organizationId,
      kind,
      filename,
      contentType,
      status: 'uploading',
      errorMessage: null,
      userId: userId ?? null,
      created: this.#now(),
    }
    await this.#writeDetails(name, details)
    return details
  }

  /** What was announced under a name; undefined when nothing was. Throws STORAGE_CORRUPT when it is no such thing. */
  async details(name: string): Promise<ContentDetails | undefined> {
    const path = `${this.#path(name)}.json`
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    try {
      const details = JSON.parse(text) as ContentDetails | null
      if (typeof details?.status === 'string') return details
    } catch {
      // As what is no description.
    }
    throw new AssayError('STORAGE_CORRUPT', `${path} does not describe a file`, {
      hint: 'put it back from a backup, or upload the file again',
    })
  }

  /** Stores the bytes of an announced file; false when it was not announced, or has come before. */
  async write(name: string, bytes: Uint8Array): Promise<boolean> {
    const details = await this.details(name)
    if (!details || details.status === 'done') return false
    await this.#writeFile(this.#path(name), bytes)
    await this.#writeDetails(name, { ...details, status: 'done', errorMessage: null })
    return true
  }

  /** Notes that the client could not upload a file. A file that has come stays as it is. */
  async noteError(name: string, message: string): Promise<void> {
    const details = await this.details(name)
    if (!details || details.status === 'done') return
    await this.#writeDetails(name, { ...details, status: 'error', errorMessage: message })
  }

  /** In bytes; undefined when the file has not come. */
  async size(name: string): Promise<number | undefined> {
    try {
      return (await stat(this.#path(name))).size
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** To be closed by the caller. */
  open(name: string): Promise<FileHandle> {
    return open(this.#path(name), constants.O_RDONLY)
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.#path(name))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true })
    await rm(`${this.#path(name)}.json`, { force: true })
  }

  /**
   * Removes what a crash left half written, uploads that never came, bodies nobody asked for, and
   * attachments that nothing has named for a while. Of those that are older than the record of who
   * announced them it is not known what names them: they stay.
   */
  async tidy(uses: FileUses): Promise<void> {
    for (const folder of await foldersIn(this.#directory)) {
      for (const entry of await readdir(join(this.#directory, folder))) {
        if (entry.endsWith(unfinishedEnding)) {
          await this.#removeUnfinished(join(this.#directory, folder, entry))
        } else if (entry.endsWith('.json')) {
          await this.#tidyContent(entry.slice(0, -'.json'.length), uses)
        }
      }
    }
  }

  async #removeUnfinished(path: string): Promise<void> {
    // It may have been given its name meanwhile.
    const found = await stat(path).catch(unlessMissing)
    if (found && found.mtimeMs < this.#openedAt) await rm(path, { force: true })
  }

  async #tidyContent(name: string, uses: FileUses): Promise<void> {
    const now = this.#now()
    const details = await this.details(name).catch(unlessDamaged)
    if (!details || details.created >= now - waitingMs) return
    const { kind, status, created, userId } = details
    if (status !== 'done' || kind === 'overflow') {
      await this.remove(name)
      return
    }
    const mayBeUnnamed = kind === 'attachment' && userId !== undefined && created < now - unnamedMs
    if (!mayBeUnnamed || !isUnused(uses.filePlaces(name))) return
    await this.remove(name)
    await uses.forgetFile(name)
  }

  #writeDetails(name: string, details: ContentDetails): Promise<void> {
    return this.#writeFile(`${this.#path(name)}.json`, Buffer.from(JSON.stringify(details)))
  }

  async #writeFile(path: string, bytes: Uint8Array): Promise<void> {
    this.#requireRoom?.(bytes.length)
    await onDisk('the file', makeFolder(dirname(path)))
    await onDisk('the file', writeDurably(path, bytes))
  }

  #path(name: string): string {
    if (!/^[0-9a-f]{64}$/.test(name)) throw new RangeError('not a name of stored content')
    return join(this.#directory, name.slice(0, 2), name)
  }
}

/** What is damaged now may be there again later, and name it. */
function isUnused({ objects, isLost }: ReturnType<FileUses['filePlaces']>): boolean {
  return objects.length === 0 && isLost !== true
}

/** An upload that somebody else has announced, and that can still come. */
function isOfAnother(known: ContentDetails | undefined, userId: string | null | undefined) {
  const isKnown = known?.status === 'uploading' && known.userId !== undefined
  return isKnown && known.userId !== (userId ?? null)
}

export function contentName({ organizationId, kind, key }: ContentPlace): string {
  return createHash('sha256')
    .update(JSON.stringify([organizationId, kind, key]))
    .digest('hex')
}

async function foldersIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function unlessDamaged(error: unknown): undefined {
  if (!(error instanceof AssayError && error.code === 'STORAGE_CORRUPT')) throw error
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function unlessMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
