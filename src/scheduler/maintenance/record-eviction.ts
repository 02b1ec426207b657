/**
 * Takes bodies that a cluster has out of the data directory: first it is stored which, then segments are written anew without
 * them, and the row store follows once no query reads an older manifest.
 */
import { setTimeout } from 'node:timers/promises'
import type { RecordPurge, RecordPurgeOptions } from './record-purge.ts'

export interface RecordEvictionOptions
  extends Pick<
    RecordPurgeOptions,
    'limits' | 'run' | 'runIf' | 'repair' | 'isWhole' | 'manifest' | 'acquired'
  > {
  readonly purging: Pick<RecordPurge, 'wipe'>
}

/** How long to wait for queries that read what is to leave, or until others have had their turn. */
const waitMs = 50

export class RecordEviction {
  readonly #options: RecordEvictionOptions

  constructor(options: RecordEvictionOptions) {
    this.#options = options
  }

  /**
   * Resolves when the bodies of all versions up to the transaction have left, which must be flushed by then.
   *
   * @param onNoted called before anything leaves: what begins from then on has to read them of the cluster
   */
  async evict(through: number, database: string, onNoted: () => void): Promise<void> {
    await this.#options.run({ kind: 'note_evicted', through, database })
    onNoted()
    await this.finish()
  }

  /** Goes on with what was begun. */
  async finish(): Promise<void> {
    const { limits, run, runIf, repair, isWhole, manifest, acquired, purging } = this.#options
    for (;;) {
      await repair()
      while (await run({ kind: 'evict_segments', limits }));
      const { generation } = manifest()
      const isUnread = () => [...acquired()].every((each) => each.generation >= generation)
      if (await runIf(() => isWhole() && isUnread(), { kind: 'evict_rows' })) break
      await setTimeout(waitMs)
    }
    // What is free goes back to the file system.
    await run({ kind: 'trim' })
    await purging.wipe()
  }
}
