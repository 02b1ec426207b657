/** How far a backup is that was not ended: the next one goes on from there. */

import { contentHash } from '../storage/content-hash.ts'
import type { BackupStore } from './backup-store.ts'
import type { ChangesProgress } from './changes-reader.ts'
import { type PieceReference, piecePath } from './piece.ts'

export const unfinishedPath = 'unfinished.json'

/** What has to be the same. */
export interface BackupIdentity {
  readonly source: string
  readonly previous: string | null
  readonly hasSecrets: boolean
}

interface Note {
  readonly identity: BackupIdentity
  /** Of the log, for the last transaction of the range that is being read. */
  readonly entry: string | null
  readonly progress: ChangesProgress
  readonly chunks: readonly (readonly [hash: string, piece: PieceReference])[]
}

export class Unfinished {
  readonly progress: ChangesProgress | undefined
  readonly chunks: Note['chunks']
  readonly #store: BackupStore
  readonly #identity: BackupIdentity

  private constructor(store: BackupStore, identity: BackupIdentity, note: Note | undefined) {
    this.#store = store
    this.#identity = identity
    this.progress = note?.progress
    this.chunks = note?.chunks ?? []
  }

  /** @param entryOf asks the service for the log's entry for a transaction */
  static async open(
    store: BackupStore,
    identity: BackupIdentity,
    entryOf: (transaction: number) => Promise<string | null>,
  ): Promise<Unfinished> {
    const note = await readNote(store)
    const isSame =
      note !== undefined &&
      JSON.stringify(note.identity) === JSON.stringify(identity) &&
      note.entry === (await entryOf(note.progress.through)) &&
      (await areThere(store, note))
    return new Unfinished(store, identity, isSame ? note : undefined)
  }

  async note(
    progress: ChangesProgress,
    entry: string | null,
    chunks: ReadonlyMap<string, PieceReference>,
  ): Promise<void> {
    const note: Note = { identity: this.#identity, entry, progress, chunks: [...chunks] }
    const text = JSON.stringify(note)
    await this.#store.write(
      unfinishedPath,
      Buffer.from(`${text}\n${contentHash(Buffer.from(text))}\n`),
    )
  }

  async end(): Promise<void> {
    await this.#store.remove(unfinishedPath)
  }
}

/** Undefined when there is none, or it is damaged. */
export async function readNote(store: BackupStore): Promise<Note | undefined> {
  const bytes = await store.read(unfinishedPath)
  const [text = '', hash] = bytes?.toString('latin1').split('\n') ?? []
  if (hash !== contentHash(Buffer.from(text, 'latin1'))) return undefined
  return JSON.parse(text) as Note
}

/** All pieces that a note names. */
export function notedPieces({ progress, chunks }: Note): PieceReference[] {
  return [...progress.rows, ...progress.log, ...chunks.map(([, piece]) => piece)]
}

async function areThere(store: BackupStore, note: Note): Promise<boolean> {
  for (const { hash } of notedPieces(note)) {
    if (!(await store.has(piecePath(hash)))) return false
  }
  return true
}
