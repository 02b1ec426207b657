/**
 * Takes from disk for good what nobody is to read any more: the records of deleted objects, and chosen row versions of
 * others. Rows leave segments first, and the row store once no query reads an older manifest, so that a query that
 * runs meanwhile sees all of its snapshot.
 */

import { setTimeout } from 'node:timers/promises'
import type {
  FoundVersions,
  Sought,
  VersionQuestion,
} from '../../storage/maintenance/find-versions.ts'
import type { MaintenanceStep } from '../../storage/maintenance/maintenance-step.ts'
import type { Purge } from '../../storage/maintenance/purge-plan.ts'
import { namesAny } from '../../storage/maintenance/remove-objects.ts'
import { type BodiesOf, withBodies } from '../../storage/row/with-bodies.ts'
import type { Manifest } from '../../storage/segment/manifest.ts'
import type { SegmentLimits } from '../../storage/segment/segment-sink.ts'
import type { RowKey } from '../../type/transaction.ts'
import type { Removals } from './maintenance-options.ts'

export interface RecordPurgeOptions {
  readonly limits: SegmentLimits
  readonly removals: Removals | undefined
  /** Runs the step after those before it; resolves to whether it changed anything. */
  readonly run: (step: MaintenanceStep) => Promise<boolean>
  /** Runs both when the steps before are done, with no step between them; resolves to whether the second was run. */
  readonly runIf: (mayRun: () => boolean, step: MaintenanceStep) => Promise<boolean>
  readonly findVersions: (question: VersionQuestion) => Promise<FoundVersions>
  readonly flush: () => Promise<void>
  readonly repair: () => Promise<void>
  /** Whether no segment is damaged: of one that is, the rows are looked up in the row store. */
  readonly isWhole: () => boolean
  readonly manifest: () => Manifest
  /** Manifests that queries read. */
  readonly acquired: () => Iterable<Manifest>
  /** Forgets fresh rows of objects. */
  readonly drop: (objects: ReadonlySet<number>) => void
}

/** How long to wait for queries that read what is to be removed. */
const waitMs = 100
/** Whoever waits for rows of damaged segments waits for no more than that is read. */
const readBytes = 16 * 2 ** 20
/** Of steps that wipe, after which whoever waits for that is told that it goes on. */
const mostWipes = 40
/** After so many there is most likely somebody who reads for longer, and others are not to wait again at once. */
const quickWipes = 20
/** Others may always read: it is tried again after so long then. */
const wipeAgainMs = 5000

export class RecordPurge {
  readonly #options: RecordPurgeOptions
  #running: Promise<void> = Promise.resolve()
  /** Whether it is going to be wiped again. */
  #isWipeDue = false

  constructor(options: RecordPurgeOptions) {
    this.#options = options
  }

  /** See `Maintenance.removeObjects`. */
  async removeObjects(): Promise<boolean> {
    const { removals, limits, run, runIf, manifest, acquired, drop } = this.#options
    const objects = removals?.purges() ?? []
    if (!removals || objects.length === 0) return true
    while (await run({ kind: 'drop', objects, limits }));
    const removed = new Set(objects)
    const isUnread = () => {
      const isRead = [...acquired()].some((each) => namesAny(each, removed))
      if (isRead || namesAny(manifest(), removed)) return false
      // No flush is under way that would write them.
      drop(removed)
      return true
    }
    const isPurged = await runIf(isUnread, { kind: 'purge', objects })
    if (isPurged) await removals.purged(objects)
    return isPurged
  }

  /**
   * Removes row versions, which are gone from all files when it resolves.
   *
   * @param begin deletes the records, or writes what supersedes them, once it is stored what is to be removed
   */
  purge(purges: readonly Purge[], begin: () => Promise<void>): Promise<void> {
    return this.#after(async () => {
      await this.#options.run({ kind: 'note_purges', purges })
      try {
        await begin()
      } finally {
        await this.#finish()
      }
    })
  }

  /** Goes on with what the process before has begun. */
  resume(): Promise<void> {
    return this.#after(() => this.#finish())
  }

  /** What is found of an object's versions. */
  async findVersions(
    object: number,
    sought: Sought,
    bodiesOf: BodiesOf | undefined,
  ): Promise<{
    readonly ids: ReadonlySet<string>
    readonly attachments: ReadonlySet<string>
    readonly transactions: ReadonlySet<number>
    readonly versions: number
  }> {
    const ids = new Set<string>()
    const attachments = new Set<string>()
    const transactions = new Set<number>()
    let versions = 0
    for (let from: RowKey | undefined = { transaction: 0, index: 0 }; from; ) {
      const question: VersionQuestion = { kind: 'versions', object, sought, from, bytes: readBytes }
      const ask = (lent: readonly SharedArrayBuffer[]) => {
        return this.#options.findVersions({ ...question, lent })
      }
      const found: FoundVersions = await withBodies(ask, bodiesOf)
      for (const id of found.ids) ids.add(id)
      for (const key of found.attachments) attachments.add(key)
      for (const one of found.transactions) transactions.add(one)
      versions += found.versions
      from = found.next
    }
    return { ids, attachments, transactions, versions }
  }

  #after(work: () => Promise<void>): Promise<void> {
    const done = this.#running.then(work)
    this.#running = done.catch(() => undefined)
    return done
  }

  async #finish(): Promise<void> {
    const { limits, run, runIf, flush, repair, isWhole, manifest, acquired } = this.#options
    await flush()
    for (;;) {
      await repair()
      while (await run({ kind: 'purge_segments', limits }));
      const { generation } = manifest()
      const isUnread = () => [...acquired()].every((each) => each.generation >= generation)
      if (await runIf(() => isWhole() && isUnread(), { kind: 'purge_rows' })) break
      await setTimeout(waitMs)
    }
    // Ids of what was removed leave, too.
    while (await run({ kind: 'tidy' }));
    await this.wipe()
  }

  /** Overwrites what is free in the files; what others keep it from for long is done later. */
  async wipe(): Promise<void> {
    const { run } = this.#options
    for (let steps = 0; await run({ kind: 'wipe' }); steps++) {
      if (steps === mostWipes) {
        this.#wipeLater()
        return
      }
      await setTimeout(steps < quickWipes ? waitMs / 10 : waitMs * 5)
    }
  }

  #wipeLater(): void {
    if (this.#isWipeDue) return
    this.#isWipeDue = true
    const again = async () => {
      await setTimeout(wipeAgainMs, undefined, { ref: false })
      this.#isWipeDue = false
      await this.wipe()
    }
    // When it is closed meanwhile, the next start goes on.
    again().catch(() => undefined)
  }
}
