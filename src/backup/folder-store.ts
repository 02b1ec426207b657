import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { lockDirectory } from '../storage/directory-lock.ts'
import { makeFolder, unfinishedEnding, writeDurably } from '../storage/durable-file.ts'
import type { BackupStore } from './backup-store.ts'

/** Backups in a folder, for the owner alone. */
export class FolderStore implements BackupStore {
  readonly name: string
  readonly #folders = new Set<string>()

  constructor(folder: string) {
    this.name = resolve(folder)
  }

  async has(path: string): Promise<boolean> {
    return (await stat(this.#path(path)).catch(unlessMissing)) !== undefined
  }

  async read(path: string): Promise<Buffer | undefined> {
    return (await readFile(this.#path(path)).catch(unlessMissing)) ?? undefined
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const full = this.#path(path)
    const folder = dirname(full)
    if (!this.#folders.has(folder)) await makeFolder(folder)
    this.#folders.add(folder)
    await writeDurably(full, bytes)
  }

  async list(prefix: string): Promise<string[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    const entries =
      (await readdir(this.#path(folder), { recursive: true, withFileTypes: true }).catch(
        unlessMissing,
      )) ?? []
    return entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinishedEnding))
      .map(({ parentPath, name }) => join(parentPath, name).slice(this.name.length + 1))
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.startsWith(prefix))
      .sort()
  }

  async remove(path: string): Promise<void> {
    await rm(this.#path(path), { force: true })
  }

  /** Also removes what a kill has left half written. */
  async lock(): Promise<() => Promise<void>> {
    await makeFolder(this.name)
    const lock = await lockDirectory(this.name)
    const entries = await readdir(this.name, { recursive: true, withFileTypes: true })
    for (const { parentPath, name } of entries) {
      if (name.endsWith(unfinishedEnding)) await rm(join(parentPath, name), { force: true })
    }
    return () => lock.release()
  }

  async close(): Promise<void> {}

  #path(path: string): string {
    return join(this.name, path)
  }
}

function unlessMissing(thrown: unknown): undefined {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code !== 'ENOENT') throw thrown
}
