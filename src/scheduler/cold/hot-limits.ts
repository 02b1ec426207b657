/** Which rows are cold: the cluster has them, and they are older than what is hot. Of these queries ask the cluster. */
import type { Manifest } from '../../storage/segment/manifest.ts'

/** What is hot; with several limits only what is within all of them. */
export interface HotLimits {
  /** Rows of the last so many days. */
  readonly days?: number | undefined
  /** The newest segments that take up to so many bytes together. */
  readonly bytes?: number | undefined
  /** Rows of later transactions than this. */
  readonly after?: (() => number) | undefined
}

export interface ColdRowsOptions {
  /** Undefined: all rows. */
  readonly hot: HotLimits | undefined
  /** All transactions up to this one have arrived. */
  readonly exportedThrough: () => number
  /** Whether rows were removed here that the cluster may still have: until they are gone there, nothing is read there. */
  readonly hasRemoved: () => boolean
  /** Bodies of this transaction and earlier ones have left the data directory, or will soon; 0: none. */
  readonly evictedThrough: () => number
  readonly manifest: () => Manifest
  /** The newest snapshot that is not after a transaction. */
  readonly snapshotAt: (transaction: number) => number
  readonly now: () => number
}

const dayMs = 24 * 3600_000

/** The limit of days moves on that often. */
const keptMs = 1000

export class ColdRows {
  readonly #options: ColdRowsOptions
  #through = 0
  #of: { readonly exported: number; readonly manifest: Manifest; readonly at: number } | undefined

  constructor(options: ColdRowsOptions) {
    this.#options = options
  }

  /** Rows of this transaction and earlier ones are read of the cluster; 0: none. */
  get through(): number {
    return Math.max(this.#options.evictedThrough(), this.beyondHot)
  }

  /** Rows of this transaction and earlier ones have arrived, and are not hot. */
  get beyondHot(): number {
    const { hot } = this.#options
    const exported = this.#options.exportedThrough()
    if (!hot || exported === 0 || this.#options.hasRemoved()) return 0
    if (hot.after) return this.#options.snapshotAt(Math.min(exported, hot.after()))
    const manifest = this.#options.manifest()
    const at = performance.now()
    const last = this.#of
    if (last?.exported !== exported || last.manifest !== manifest || at > last.at + keptMs) {
      this.#of = { exported, manifest, at }
      this.#through = this.#find(hot, exported, manifest)
    }
    return this.#through
  }

  #find(hot: HotLimits, exported: number, manifest: Manifest): number {
    const { now, snapshotAt } = this.#options
    const limits: number[] = []
    // Transactions count up within the second that they begin with; of no days all are cold.
    if (hot.days !== undefined && hot.days > 0) {
      limits.push(Math.floor((now() - hot.days * dayMs) / 1000) * 0x10000 - 1)
    }
    if (hot.bytes !== undefined) limits.push(lastBefore(manifest, hot.bytes))
    if (limits.length === 0) return exported
    return snapshotAt(Math.max(0, Math.min(exported, Math.max(...limits))))
  }
}

/** The last transaction of the segments that are left where the newest take so many bytes. */
function lastBefore({ segments }: Manifest, bytes: number): number {
  const byAge = segments
    .map(({ metadata }) => ({
      bytes: metadata.byteLength,
      last: metadata.objects.reduce((last, each) => Math.max(last, each.lastTransaction), 0),
    }))
    .sort((a, b) => b.last - a.last)
  let held = 0
  for (const segment of byAge) {
    held += segment.bytes
    if (held > bytes) return segment.last
  }
  return 0
}
