/** Copies attachments: files that never change, so that those of the backup before are taken from there. */
import { EntryListWriter } from '../storage/backup/entry-list.ts'
import type { BackupSource, SourceFile, SourceFolder } from './backup-source.ts'
import type { BackupStore } from './backup-store.ts'
import { type PieceReference, writePiece } from './piece.ts'
import {
  type FolderPieces,
  filePieces,
  readList,
  type StoredFile,
  writeList,
} from './piece-lists.ts'

/** Larger files have pieces of their own, of `partBytes` each. */
const smallBytes = 256 * 1024
const partBytes = 8 * 2 ** 20
/** Small files that are asked for, and stored, together. */
const bytesTogether = 4 * 2 ** 20
const namesTogether = 1000

type OnRead = (what: 'files', bytes: number) => Promise<void>

export async function copyFiles(
  store: BackupStore,
  source: BackupSource,
  before: FolderPieces | undefined,
  onRead: OnRead,
): Promise<FolderPieces> {
  const known = new Map(before?.folders.map((folder) => [folder.name, folder]))
  const times = Object.fromEntries(
    Array.from(known.values(), ({ name, modifiedMs }) => [name, modifiedMs]),
  )
  const folders: FolderPieces['folders'] = []
  for (const folder of await source.folders(times)) {
    const { name, modifiedMs } = folder
    const stored = known.get(name)
    if (!folder.files && stored) {
      folders.push(stored)
      continue
    }
    const { files } = stored
      ? await readList(store, filePieces, stored.files)
      : { files: [] as StoredFile[] }
    const copied = await new FolderCopy(store, source, files, onRead).copy(folder)
    folders.push({ name, modifiedMs, files: await writeList(store, { files: copied }) })
  }
  return { folders }
}

class FolderCopy {
  readonly #store: BackupStore
  readonly #source: BackupSource
  readonly #known: ReadonlyMap<string, StoredFile>
  readonly #onRead: OnRead

  constructor(
    store: BackupStore,
    source: BackupSource,
    known: readonly StoredFile[],
    onRead: OnRead,
  ) {
    this.#store = store
    this.#source = source
    this.#known = new Map(known.map((file) => [file.name, file]))
    this.#onRead = onRead
  }

  async copy({ files = [] }: SourceFolder): Promise<StoredFile[]> {
    const copied: StoredFile[] = []
    let small: SourceFile[] = []
    let bytes = 0
    for (const file of files) {
      const known = this.#known.get(file.name)
      if (known?.bytes === file.bytes && known.modifiedMs === file.modifiedMs) copied.push(known)
      else if (file.bytes > smallBytes) copied.push(...(await this.#large(file)))
      else {
        small.push(file)
        bytes += file.bytes
        if (bytes < bytesTogether && small.length < namesTogether) continue
        copied.push(...(await this.#small(small)))
        small = []
        bytes = 0
      }
    }
    if (small.length > 0) copied.push(...(await this.#small(small)))
    return copied.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Those that were removed meanwhile are left out: no record names them. */
  async #small(files: readonly SourceFile[]): Promise<StoredFile[]> {
    const contents = await this.#source.smallFiles(files.map(({ name }) => name))
    const list = new EntryListWriter()
    for (const [name, content] of contents) list.add(Buffer.from(name), content)
    await this.#onRead('files', list.length)
    const piece = await writePiece(this.#store, list.take())
    return files
      .filter(({ name }) => contents.has(name))
      .map(({ name, modifiedMs }) => {
        const bytes = contents.get(name)!.length
        return { name, bytes, modifiedMs, isWithOthers: true, pieces: [piece] }
      })
  }

  async #large({ name, bytes, modifiedMs }: SourceFile): Promise<StoredFile[]> {
    const pieces: PieceReference[] = []
    for (let start = 0; start < bytes; start += partBytes) {
      const length = Math.min(partBytes, bytes - start)
      const part = await this.#source.filePart(name, start, length)
      if (part?.length !== length) return []
      await this.#onRead('files', part.length)
      pieces.push(await writePiece(this.#store, part))
    }
    return [{ name, bytes, modifiedMs, isWithOthers: false, pieces }]
  }
}
