/** The folder of attachments of a running service, as a backup reads it: by plain names, never by what a client calls a file. */
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AssayError } from '../error.ts'
import type { SourceFile, SourceFolder } from './backup-source.ts'

/** Below the data directory, and in each backup. */
export const contentPath = 'attachments/content'

const folderName = /^[0-9a-f]{2}$/
const fileName = /^[0-9a-f]{2}\/[0-9a-f]{64}(\.json)?$/

/** A folder that was changed so lately may be changed again without another time. */
const sameTimeMs = 2000

export class ContentFolders {
  readonly #directory: string

  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, contentPath)
  }

  /** All of them; files only of those that were changed at another time than is known. */
  async list(known: { readonly [folder: string]: number }): Promise<SourceFolder[]> {
    const names = (await readdir(this.#directory).catch(unlessMissing)) ?? []
    const folders: SourceFolder[] = []
    for (const name of names.filter((each) => folderName.test(each)).sort()) {
      const now = Date.now()
      const { mtimeMs } = await stat(join(this.#directory, name))
      const isSettled = now - mtimeMs > sameTimeMs
      const isKnown = isSettled && known[name] === mtimeMs
      const files = isKnown ? undefined : await this.#filesIn(name)
      folders.push({ name, modifiedMs: isSettled ? mtimeMs : 0, files })
    }
    return folders
  }

  async #filesIn(folder: string): Promise<SourceFile[]> {
    const files: SourceFile[] = []
    for (const entry of await readdir(join(this.#directory, folder))) {
      const name = `${folder}/${entry}`
      if (!fileName.test(name)) continue
      const found = await stat(join(this.#directory, name)).catch(unlessMissing)
      if (found?.isFile()) files.push({ name, bytes: found.size, modifiedMs: found.mtimeMs })
    }
    return files.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Those that are there. */
  async read(names: readonly string[]): Promise<Map<string, Buffer>> {
    const files = new Map<string, Buffer>()
    for (const name of names) {
      const content = await readFile(this.#path(name)).catch(unlessMissing)
      if (content) files.set(name, content)
    }
    return files
  }

  /** A part of a file, less than asked for at its end; undefined when it is gone. */
  async readPart(name: string, start: number, bytes: number): Promise<Buffer | undefined> {
    const file = await open(this.#path(name)).catch(unlessMissing)
    if (!file) return undefined
    try {
      const part = Buffer.alloc(bytes)
      const { bytesRead } = await file.read(part, 0, bytes, start)
      return part.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }

  #path(name: string): string {
    if (!fileName.test(name)) {
      throw new AssayError('REQUEST_INVALID', 'there is no such file of attachments')
    }
    return join(this.#directory, name)
  }
}

/** Whether it is a path of a file in a backup, and so below the folder that it is restored to. */
export function isContentName(name: string): boolean {
  return fileName.test(name)
}

function unlessMissing(thrown: unknown): undefined {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code !== 'ENOENT') throw thrown
}
