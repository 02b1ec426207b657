/** Reads all that backups consist of, and tells what is damaged. */
import { AssayError } from '../error.ts'
import type { BackupStore } from './backup-store.ts'
import { type NamedManifest, ownRanges, readManifests } from './manifest.ts'
import { type PieceReference, pieceFault } from './piece.ts'
import { catalogPieces, filePieces, folderPieces, rangePieces, readList } from './piece-lists.ts'

export interface BackupFault {
  /** As a sentence. */
  readonly what: string
  /** Paths of the backups that cannot be restored, or not whole, for it. */
  readonly backups: readonly string[]
}

export interface Verified {
  readonly backups: readonly NamedManifest[]
  readonly faults: readonly BackupFault[]
  readonly pieces: number
  readonly bytes: number
}

export async function verifyBackups(
  store: BackupStore,
  onRead: (pieces: number, bytes: number) => void = () => {},
): Promise<Verified> {
  const verification = new Verification(store, onRead)
  return verification.run()
}

class Verification {
  readonly #store: BackupStore
  readonly #onRead: (pieces: number, bytes: number) => void
  /** By hash: what is wrong with a piece, undefined when nothing is. */
  readonly #pieces = new Map<string, string | undefined>()
  /** By sentence: the backups. */
  readonly #faults = new Map<string, Set<string>>()
  #bytes = 0

  constructor(store: BackupStore, onRead: (pieces: number, bytes: number) => void) {
    this.#store = store
    this.#onRead = onRead
  }

  async run(): Promise<Verified> {
    const backups = await readManifests(this.#store, (path, { message }) => {
      this.#note(message, path)
    })
    const byPath = new Map(backups.map((backup) => [backup.path, backup]))
    for (const backup of backups) {
      await this.#verify(backup, byPath)
      this.#inherit(backup)
    }
    return {
      backups,
      faults: Array.from(this.#faults, ([what, paths]) => ({ what, backups: [...paths] })),
      pieces: this.#pieces.size,
      bytes: this.#bytes,
    }
  }

  async #verify(backup: NamedManifest, backups: ReadonlyMap<string, NamedManifest>): Promise<void> {
    const { path, manifest } = backup
    try {
      for (const range of ownRanges(backup, backups)) {
        const lists = await this.#list(path, rangePieces, range.pieces)
        for (const piece of [...(lists?.log ?? []), ...(lists?.rows ?? [])]) {
          await this.#piece(path, piece)
        }
      }
    } catch (thrown) {
      if (!(thrown instanceof AssayError)) throw thrown
      this.#note(thrown.message, path)
    }
    const catalog = await this.#list(path, catalogPieces, manifest.catalog)
    for (const { piece } of catalog?.chunks ?? []) await this.#piece(path, piece)
    const folders = await this.#list(path, folderPieces, manifest.files)
    for (const folder of folders?.folders ?? []) {
      const files = await this.#list(path, filePieces, folder.files)
      for (const { pieces } of files?.files ?? []) {
        for (const piece of pieces) await this.#piece(path, piece)
      }
    }
    if (manifest.secrets) await this.#piece(path, manifest.secrets)
  }

  async #list<Schema extends Parameters<typeof readList>[1]>(
    path: string,
    schema: Schema,
    reference: PieceReference,
  ) {
    if (!(await this.#piece(path, reference))) return undefined
    return readList(this.#store, schema, reference)
  }

  /** Whether it is whole. Pieces that backups share are read once. */
  async #piece(path: string, reference: PieceReference): Promise<boolean> {
    const { hash } = reference
    if (!this.#pieces.has(hash)) {
      const found = await pieceFault(this.#store, reference)
      this.#pieces.set(hash, typeof found === 'string' ? found : undefined)
      this.#bytes += reference.storedBytes
      this.#onRead(this.#pieces.size, this.#bytes)
    }
    const fault = this.#pieces.get(hash)
    if (fault !== undefined) this.#note(fault, path)
    return fault === undefined
  }

  /** An archive needs all that the one before it does. */
  #inherit({ path, manifest: { previous } }: NamedManifest): void {
    if (previous === null) return
    for (const paths of this.#faults.values()) if (paths.has(previous)) paths.add(path)
  }

  #note(what: string, path: string): void {
    const paths = this.#faults.get(what) ?? new Set()
    this.#faults.set(what, paths.add(path))
  }
}
