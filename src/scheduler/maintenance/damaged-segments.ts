/**
 * Segments that were found to be damaged. From then on queries read their rows of the row store, and nobody reads
 * the segments, until new ones have taken their place.
 */
import type { MaintenanceStep } from '../../storage/maintenance/maintenance-step.ts'
import type { Scrubbed } from '../../storage/maintenance/scrub.ts'
import type { LostRows } from '../../storage/segment/lost-rows.ts'
import { type Manifest, namedBy } from '../../storage/segment/manifest.ts'
import type { SegmentLimits } from '../../storage/segment/segment-sink.ts'
import {
  isDamage,
  type SegmentDamage,
  type SegmentStore,
} from '../../storage/segment/segment-store.ts'

export interface DamagedSegmentsOptions {
  /** The segments as the calling thread sees them. */
  readonly store: SegmentStore
  readonly limits: SegmentLimits
  readonly logger?: { error(details: object, message: string): void } | undefined
  /** See `findLostRows`. */
  readonly findLost: (ids: readonly number[]) => Promise<readonly LostRows[]>
  readonly run: (step: MaintenanceStep) => Promise<boolean>
  /** What queries read now. */
  readonly manifest: () => Manifest
  readonly publish: (manifest: Manifest) => void
  readonly repairSoon: () => void
}

/** What is read in place of some segments. */
interface Lost {
  readonly ids: ReadonlySet<number>
  readonly rows: readonly LostRows[]
}

const nothing: Lost = { ids: new Set(), rows: [] }

export class DamagedSegments {
  readonly #options: DamagedSegmentsOptions
  readonly #ids = new Set<number>()
  #lost = nothing
  #settling: Promise<unknown> = Promise.resolve()
  /** Segments whose index of keys is damaged. */
  readonly #keys = new Set<number>()
  #found = 0

  constructor(options: DamagedSegmentsOptions) {
    this.#options = options
  }

  /** How many were found since the start, and how many are not made again yet; their indexes among them. */
  get status(): { readonly found: number; readonly left: number } {
    return { found: this.#found, left: this.#ids.size + this.#keys.size }
  }

  /**
   * Takes a segment for damaged. Once this resolves, snapshots are without it and have its rows of the row store; it is
   * made again as soon as there is time for it.
   */
  async note({
    damagedSegment,
    message,
  }: Pick<SegmentDamage, 'damagedSegment' | 'message'>): Promise<void> {
    const { store, logger, manifest, publish, repairSoon } = this.#options
    // It may be one that queries of older snapshots alone still read.
    if (!namedBy(store.manifest()).includes(damagedSegment)) return
    if (this.#add(damagedSegment)) {
      logger?.error(
        { segment: damagedSegment },
        `${message}; its rows are read from the records until it is made again`,
      )
    }
    if (manifest().segments.some(({ id }) => id === damagedSegment)) publish(await this.settled())
    repairSoon()
  }

  /** Takes the index of a segment's keys for damaged, without which queries do. */
  noteKeys(segment: number): void {
    const { store, logger, repairSoon } = this.#options
    if (this.#keys.has(segment) || !namedBy(store.manifest()).includes(segment)) return
    this.#keys.add(segment)
    this.#found++
    logger?.error(
      { segment },
      `the index of ids of segment ${segment} is damaged; it is made again`,
    )
    repairSoon()
  }

  /** What reading all has found. */
  async noteFound({ segments, records }: Pick<Scrubbed, 'segments' | 'records'>): Promise<void> {
    const { logger } = this.#options
    for (const { what, object } of records) {
      logger?.error({ object }, `${what} cannot be read: what is stored is damaged`)
    }
    for (const { kind, segment, what } of segments) {
      if (segment === undefined) logger?.error({}, `${what}; it was written again`)
      else if (kind === 'key index') this.noteKeys(segment)
      else {
        await this.note({ damagedSegment: segment, message: what }).catch((thrown: unknown) => {
          logger?.error({ err: thrown, segment }, 'the rows of a damaged segment cannot be found')
        })
      }
    }
  }

  /** Makes again what is damaged. */
  async repair(): Promise<void> {
    const { run, limits } = this.#options
    for (const id of this.#keys) {
      await run({ kind: 'index_keys', id })
      this.#keys.delete(id)
    }
    if (this.#ids.size > 0) await run({ kind: 'rebuild', ids: this.ids, limits })
  }

  /** At a start: takes segments for damaged of which there is nothing, or nothing to be read. */
  async excludeMissing(): Promise<void> {
    const { store, logger, manifest, publish } = this.#options
    const stored = new Set(store.storedIds())
    for (const { id } of manifest().segments) if (!stored.has(id)) this.#add(id)
    if (this.#ids.size === 0 && !manifest().unreadable) return
    publish(await this.settled())
    logger?.error(
      { segments: this.ids },
      'segments are damaged or missing; their rows are read from the records until they are made again',
    )
  }

  /** Those that are not made again yet. */
  get ids(): readonly number[] {
    return [...this.#ids]
  }

  /** Whether it was not known before. */
  #add(id: number): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    this.#found++
    return true
  }

  /**
   * The manifest that queries are to read in place of the stored one: without these segments, but with their rows.
   * Whatever is found to be damaged meanwhile is left out, too.
   */
  async settled(): Promise<Manifest> {
    const settling = this.#settling.then(() => this.#settle())
    this.#settling = settling.catch(() => undefined)
    return settling
  }

  async #settle(): Promise<Manifest> {
    const { store, findLost } = this.#options
    for (;;) {
      const manifest = store.manifest()
      for (const id of manifest.unreadable ?? []) this.#add(id)
      const named = new Set(namedBy(manifest))
      for (const id of this.#ids) if (!named.has(id)) this.#ids.delete(id)
      if (areSame(this.#lost.ids, this.#ids)) return withoutDamaged(manifest, this.#lost)
      const ids = new Set(this.#ids)
      try {
        this.#lost = ids.size === 0 ? nothing : { ids, rows: await findLost([...ids]) }
      } catch (thrown) {
        // It was looked for in segments that had been whole until then.
        if (!isDamage(thrown) || !this.#add(thrown.damagedSegment)) throw thrown
      }
    }
  }
}

function withoutDamaged(manifest: Manifest, { ids, rows }: Lost): Manifest {
  if (ids.size === 0) return manifest
  const { unreadable: _, ...rest } = manifest
  return { ...rest, segments: manifest.segments.filter(({ id }) => !ids.has(id)), lost: rows }
}

function areSame(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size && [...a].every((each) => b.has(each))
}
