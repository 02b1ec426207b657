/** Tells whoever follows the records of each commit, and of each removal of row versions that is done. */
import type { Purge } from '../storage/maintenance/purge-plan.ts'

export interface CommitListener {
  /** Queries see what was committed; asked for no more than a mark. */
  committed(): void
  /** The row versions are gone from all files. */
  purged(purges: readonly Purge[]): void
}

export class CommitWatch {
  readonly #listeners = new Set<CommitListener>()

  /** Returns what ends it. */
  listen(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  noteCommit(): void {
    for (const listener of this.#listeners) listener.committed()
  }

  notePurges(purges: readonly Purge[]): void {
    for (const listener of this.#listeners) listener.purged(purges)
  }
}
