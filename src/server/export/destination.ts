/** Where the files of an export go. */
import { readdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FolderStore } from '../../backup/folder-store.ts'
import {
  type ExportPlaces,
  isBelow,
  notAllowed,
  placeOf,
} from '../../object-store/export-places.ts'
import { fileFault } from '../../storage/directory/file-fault.ts'
import { DurableFile, makeFolder, unfinishedEnding } from '../../storage/durable-file.ts'

/** Files by their paths below the place of an export, which have `/` between their parts. */
export interface Destination {
  /** For people. */
  readonly name: string
  read(path: string): Promise<Buffer | undefined>
  write(path: string, bytes: Uint8Array): Promise<void>
  create(path: string): Promise<DestinationFile>
  list(prefix: string): Promise<string[]>
  remove(path: string): Promise<void>
  /** Removes what a kill has left of a file that was not whole. */
  removeUnfinished(path: string): Promise<void>
}

/** A file that is there as a whole once it is kept. One of `keep` and `abandon` ends it. */
export interface DestinationFile {
  append(parts: readonly Uint8Array[]): Promise<void>
  keep(): Promise<void>
  abandon(): Promise<void>
}

/** Throws for a place that is not allowed, looking again at each call where links lead. */
export async function openDestination(text: string, places: ExportPlaces): Promise<Destination> {
  const place = placeOf(text, places)
  if (place.kind === 'bucket') {
    const { S3Store } = await import('../../object-store/s3-store.ts')
    return new S3Store(places.s3, place.place)
  }
  const { folder } = place
  const allowed = await Promise.all(places.folders.map(realFolder))
  const real = await realFolder(folder)
  if (!allowed.some((each) => isBelow(real, each))) throw notAllowed(text, '--export-folders')
  return new FolderDestination(real)
}

/** Where a path leads, of which the end need not be there. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
    const parent = dirname(path)
    if (!isMissing || parent === path) throw fileFault(thrown, `cannot use ${path}`) ?? thrown
    return join(await realFolder(parent), path.slice(parent === '/' ? 1 : parent.length + 1))
  }
}

class FolderDestination extends FolderStore implements Destination {
  async create(path: string): Promise<DestinationFile> {
    const full = join(this.name, path)
    try {
      await makeFolder(dirname(full))
      return new FolderFile(await DurableFile.create(full), full)
    } catch (thrown) {
      throw asFault(thrown, full)
    }
  }

  override async write(path: string, bytes: Uint8Array): Promise<void> {
    await super.write(path, bytes).catch((thrown: unknown) => {
      throw asFault(thrown, join(this.name, path))
    })
  }

  async removeUnfinished(path: string): Promise<void> {
    const full = join(this.name, path)
    const names = await readdir(dirname(full)).catch(() => [])
    for (const name of names) {
      const isOfFile = name.startsWith(`${basename(full)}.`) && name.endsWith(unfinishedEnding)
      if (isOfFile) await rm(join(dirname(full), name), { force: true })
    }
  }
}

class FolderFile implements DestinationFile {
  readonly #file: DurableFile
  readonly #path: string

  constructor(file: DurableFile, path: string) {
    this.#file = file
    this.#path = path
  }

  async append(parts: readonly Uint8Array[]): Promise<void> {
    await this.#or(async () => {
      // `writev` may write less than all of it.
      for (const part of parts) await this.#file.handle.writeFile(part)
    })
  }

  keep(): Promise<void> {
    return this.#or(() => this.#file.keep())
  }

  abandon(): Promise<void> {
    return this.#file.abandon()
  }

  async #or(work: () => Promise<void>): Promise<void> {
    await work().catch((thrown: unknown) => {
      throw asFault(thrown, this.#path)
    })
  }
}

function asFault(thrown: unknown, path: string): unknown {
  return fileFault(thrown, `cannot write ${path}`) ?? thrown
}
