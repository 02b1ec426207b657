/**
 * The one way in which files are written that have to be there later. A file is made under another name, brought to the
 * disk, given its name, and the folder is brought to the disk, too: whoever reads sees the old file or the whole
 * new one, also after a loss of power. Nobody but the owner may read what is written.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

export const privateFile = 0o600
export const privateFolder = 0o700

/** Of files that are not whole yet; what is found with it was left by a crash. */
export const unfinishedEnding = '.part'

type Bytes = string | Uint8Array

/** Replaces a file, or makes it. When that fails, the file is as it was. */
export async function writeDurably(path: string, bytes: Bytes, mode = privateFile): Promise<void> {
  const file = await DurableFile.create(path, mode)
  try {
    await file.handle.writeFile(bytes)
    await file.keep()
  } catch (thrown) {
    await file.abandon()
    throw thrown
  }
}

/** The same, for who cannot wait. */
export function writeDurablySync(path: string, bytes: Bytes, mode = privateFile): void {
  writeUnfinished(path, bytes, mode, (unfinished) => renameSync(unfinished, path))
}

/** Makes a file that is not there; false, and nothing is done, when it is. Of several who try, one makes it. */
export function makeDurablySync(path: string, bytes: Bytes, mode = privateFile): boolean {
  // On a disk that is full not even a file that gets no name can be written.
  if (existsSync(path)) return false
  try {
    writeUnfinished(path, bytes, mode, (unfinished) => linkSync(unfinished, path))
    return true
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return false
    throw thrown
  }
}

/** Makes a folder, with those that it is in, for the owner alone; one that is there stays as it is. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: privateFolder })
  for (const parent of parentsOfMade(path, first)) await syncFolder(parent)
}

export function makeFolderSync(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: privateFolder })
  for (const parent of parentsOfMade(path, first)) syncPathSync(parent)
}

/** Brings the names of the files in a folder to the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Brings a file, or the names in a folder, to the disk. */
export function syncPathSync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** A file that is written bit by bit: it gets its name when it is kept. One of `keep` and `abandon` ends it. */
export class DurableFile {
  readonly handle: FileHandle
  readonly #path: string
  readonly #unfinished: string

  private constructor(handle: FileHandle, path: string, unfinished: string) {
    this.handle = handle
    this.#path = path
    this.#unfinished = unfinished
  }

  static async create(path: string, mode = privateFile): Promise<DurableFile> {
    const unfinished = unfinishedName(path)
    return new DurableFile(await open(unfinished, 'wx', mode), path, unfinished)
  }

  async keep(): Promise<void> {
    await this.handle.sync()
    await this.handle.close()
    await rename(this.#unfinished, this.#path)
    await syncFolder(dirname(this.#path))
  }

  /** Removes what was written, also when closing or keeping it has failed. */
  async abandon(): Promise<void> {
    await this.handle.close().catch(() => undefined)
    await rm(this.#unfinished, { force: true })
  }
}

function writeUnfinished(
  path: string,
  bytes: Bytes,
  mode: number,
  giveName: (unfinished: string) => void,
): void {
  const unfinished = unfinishedName(path)
  try {
    writeFileSync(unfinished, bytes, { mode, flag: 'wx', flush: true })
    giveName(unfinished)
    syncPathSync(dirname(path))
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function unfinishedName(path: string): string {
  return `${path}.${randomUUID()}${unfinishedEnding}`
}

/** The folders that have a new name in them: all from the parent of the first that was made. */
function parentsOfMade(path: string, first: string | undefined): string[] {
  if (first === undefined) return []
  const parents: string[] = []
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    parents.push(dirname(made))
    if (dirname(made) === made) break
  }
  return parents
}
