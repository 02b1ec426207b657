/**
 * Runs flush and compaction in a thread of their own, one step at a time, and knows which manifest
 * counts. Queries acquire the manifest that they read; a segment is deleted only when it has left the
 * manifest and no query that acquired an older one is still running.
 */
import { AssayError } from '../../error.ts'
import { unfinished } from '../../storage/maintenance/finish-segment.ts'
import { type MaintenanceStep, manifestSteps } from '../../storage/maintenance/maintenance-step.ts'
import { StepControl } from '../../storage/maintenance/step-control.ts'
import { type Manifest, namedBy } from '../../storage/segment/manifest.ts'
import { defaultLimits, type SegmentLimits } from '../../storage/segment/segment-sink.ts'
import { isDamage } from '../../storage/segment/segment-store.ts'
import { newTaskCount } from '../thread/task-count.ts'
import { DamagedSegments } from './damaged-segments.ts'
import type { AcquiredManifest, MaintenanceOptions } from './maintenance-options.ts'
import { RecordEviction, type RecordEvictionOptions } from './record-eviction.ts'
import { RecordPurge } from './record-purge.ts'
import { ScrubPace } from './scrub-pace.ts'
import { type StepStatistics, StepThread } from './step-thread.ts'
import { WritePace } from './write-pace.ts'

/**
 * Fresh rows are flushed when there are so many rows or bytes, which make a quarter of a full segment, or once they are so old.
 */
const flushRows = 65_536
const flushBytes = 64 * 2 ** 20
const flushAfterMs = 5000

/**
 * While one of so many bytes grows it is let be for longer, as it will be large: what is flushed before has to be
 * merged with what comes after, which takes longer than the flush, while rows go on coming.
 */
const growingBytes = flushBytes / 4
const growingForMs = 20_000
const stoppedAfterMs = 1000

const lastRetryMs = 60_000

/**
 * While many fresh rows come no segment is finished, as that takes as much of the processors as all
 * the rest of an insert, until so many wait for it: 4 GiB of rows at least.
 */
const mostUnfinished = 64

/** What a commit added to the fresh rows. */
export interface NotedWrite {
  readonly rows: number
  readonly bytes: number
}

export class Maintenance {
  readonly damaged: DamagedSegments
  readonly #options: MaintenanceOptions
  readonly #limits: SegmentLimits
  readonly #thread: StepThread
  readonly scrubbing: ScrubPace
  readonly purging: RecordPurge
  readonly eviction: RecordEviction
  #manifest: Manifest
  /** Segments of the manifest, and those that are damaged. */
  #named: ReadonlySet<number> = new Set()
  /** Manifests that queries read, and by how many of them. */
  readonly #acquired = new Map<Manifest, number>()
  /** Segments that left the manifest and are not deleted yet. */
  readonly #retired = new Set<number>()
  /** The fresh rows, as far as they were noted. */
  #rows = 0
  #bytes = 0
  /** When the first and the last of it were noted, in ms since 1970. */
  #since = 0
  #grown = 0
  #timer: { readonly due: number; readonly handle: NodeJS.Timeout } | undefined
  /** After a failure, when to try again at the earliest; and how long to wait after the next. */
  #notBefore = 0
  #retryMs = flushAfterMs
  /** Ends when all steps that were asked for are done; never rejects. */
  #steps: Promise<unknown> = Promise.resolve()
  #automaticWork: Promise<void> | undefined
  readonly #pace = new WritePace(() => (this.#automaticWork ? this.#bytes : undefined))
  #isClosed = false
  readonly #control = new StepControl()
  /** Whether the step that runs is one that can wait, and whether the one before it gave way. */
  #canWait = false
  #gaveWay = false

  private constructor(options: MaintenanceOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#manifest = options.store.manifest()
    const { directory, store, runningTasks = newTaskCount() } = options
    const data = { directory, control: this.#control.state, runningTasks }
    this.#thread = new StepThread(data)
    this.#named = new Set(namedBy(this.#manifest))
    this.damaged = new DamagedSegments({
      store,
      logger: options.logger,
      limits: this.#limits,
      findLost: (ids) => this.#thread.findLost(ids),
      run: (step) => this.#run(step),
      manifest: () => this.#manifest,
      publish: (manifest) => this.#publish(manifest),
      repairSoon: () => this.#workSoon(0),
    })
    const steps: Omit<RecordEvictionOptions, 'purging'> = {
      limits: this.#limits,
      run: (step) => this.#run(step),
      runIf: (mayRun, step) => this.#queue(async () => mayRun() && this.#carryOut(step)),
      repair: () => this.damaged.repair(),
      isWhole: () => this.damaged.ids.length === 0,
      manifest: () => this.#manifest,
      acquired: () => this.#acquired.keys(),
    }
    this.purging = new RecordPurge({
      ...steps,
      removals: options.removals,
      findVersions: (question) => this.#thread.findVersions(question),
      flush: () => this.flush(),
      drop: (objects) => {
        options.fresh?.drop(objects)
        if (options.fresh) ({ rows: this.#rows, bytes: this.#bytes } = options.fresh.after(0))
      },
    })
    this.eviction = new RecordEviction({ ...steps, purging: this.purging })
    this.scrubbing = new ScrubPace({
      bytesPerSecond: options.automatic === false ? 0 : (options.scrubBytesPerSecond ?? 0),
      isBusy: () => this.#isClosed || this.#rows > 0 || Atomics.load(runningTasks, 0) > 0,
      step: (bytes) => this.#queue(() => this.#thread.scrub(bytes)),
      onFound: (found) => void this.damaged.noteFound(found),
      onError: (thrown) => {
        if (!this.#isClosed)
          options.logger?.error({ err: thrown }, 'checking what is stored failed')
      },
    })
  }

  /** Starts the thread and deletes the segments that no manifest names. */
  static async start(options: MaintenanceOptions): Promise<Maintenance> {
    const maintenance = new Maintenance(options)
    try {
      const hasWork = await maintenance.#run({ kind: 'recover' })
      await maintenance.damaged.excludeMissing()
      // What was removed may be given back, now or before.
      maintenance.#workSoon(hasWork ? 0 : flushAfterMs)
    } catch (thrown) {
      await maintenance.close()
      throw thrown
    }
    return maintenance
  }

  /** The manifest that counts now. Queries acquire it. */
  get manifest(): Manifest {
    return this.#manifest
  }

  /** What was noted and is not flushed yet. */
  get delta(): NotedWrite {
    return { rows: this.#rows, bytes: this.#bytes }
  }

  /** See `FreshRows.leftOut`. */
  get leftOut(): number {
    return this.#options.fresh?.leftOut ?? 0
  }

  /** By kind. */
  get steps(): ReadonlyMap<MaintenanceStep['kind'], StepStatistics> {
    return this.#thread.statistics
  }

  /** Keeps the segments of the present manifest readable until it is released. */
  acquire(): AcquiredManifest {
    const manifest = this.#manifest
    this.#acquired.set(manifest, (this.#acquired.get(manifest) ?? 0) + 1)
    let released = false
    return {
      manifest,
      release: () => {
        if (released) return
        released = true
        const left = this.#acquired.get(manifest)! - 1
        if (left > 0) {
          this.#acquired.set(manifest, left)
        } else {
          this.#acquired.delete(manifest)
          this.#removeSoon()
        }
      },
    }
  }

  /** Tells of a commit; fresh rows are flushed when they are many, or else after a while. */
  noteWrite({ rows, bytes }: NotedWrite): void {
    if (this.#rows === 0) this.#since = Date.now()
    this.#grown = Date.now()
    this.#rows += rows
    this.#bytes += bytes
    if (this.#deltaIsLarge && this.#canWait) this.#control.giveWay()
    this.#workSoon(this.#deltaIsLarge ? 0 : flushAfterMs)
  }

  /**
   * Resolves when a write of so many bytes may begin, after those that asked before: at once, unless so much
   * is in no segment that it would pile up (`write-pace.ts`). A flush that fails keeps no write waiting.
   */
  roomForWrite(bytes: number): Promise<void> {
    return this.#pace.enter(bytes)
  }

  /** Tells that there may be objects to remove now. What has failed is tried again at once: that may make room for it. */
  noteRemoval(): void {
    if ((this.#options.removals?.purges().length ?? 0) === 0) return
    if (this.#hasFailed) this.#notBefore = 0
    this.#workSoon(this.#hasFailed ? 0 : flushAfterMs)
  }

  /**
   * Removes the records of deleted objects from disk, flushed or not. Resolves to false when some of them may still
   * be read by queries that began before, and have to wait for another time.
   */
  removeObjects(): Promise<boolean> {
    return this.purging.removeObjects()
  }

  /** Resolves when all that was written before is in segments. */
  async flush(): Promise<void> {
    const last = this.#options.fresh?.last ?? 0
    do await this.#run({ kind: 'flush', limits: this.#limits })
    while (this.#manifest.flushedThrough < last)
    await this.#run({ kind: 'tidy' })
  }

  /** Resolves when no two neighbouring segments are left that fit into one, all are finished, and what is free is given back. */
  async compact(): Promise<void> {
    await this.damaged.repair()
    while (await this.#runRepairing({ kind: 'compact', limits: this.#limits, eager: true }));
    while (await this.#runRepairing({ kind: 'finish' }));
    await this.#run({ kind: 'trim' })
  }

  /**
   * Waits for the step that runs, or until it is given up where that is possible, and ends the thread. Later
   * calls that need it are refused.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#control.close()
    this.scrubbing.stop()
    clearTimeout(this.#timer?.handle)
    this.#pace.open()
    await this.#automaticWork
    await this.#steps
    await this.#thread.destroy()
  }

  get #deltaIsLarge(): boolean {
    return this.#rows >= flushRows || this.#bytes >= flushBytes
  }

  get #deltaIsDue(): boolean {
    return this.#deltaIsLarge || (this.#deltaHasWaited && !this.#deltaGrows)
  }

  get #deltaHasWaited(): boolean {
    return this.#rows > 0 && Date.now() - this.#since >= flushAfterMs
  }

  get #deltaGrows(): boolean {
    const now = Date.now()
    const isYoung = now - this.#since < growingForMs && now - this.#grown < stoppedAfterMs
    return isYoung && this.#bytes > growingBytes && !this.#deltaIsLarge
  }

  /** Whether the work has failed the last time. */
  get #hasFailed(): boolean {
    return this.#retryMs > flushAfterMs
  }

  get #hasRoom(): boolean {
    return this.#options.reserve?.isReached !== true
  }

  get #mayTakeTime(): boolean {
    return !this.#isClosed && !this.#deltaIsLarge && !this.#deltaHasWaited && this.#hasRoom
  }

  #workSoon(delayMs: number): void {
    if (this.#options.automatic === false || this.#isClosed) return
    const due = Math.max(Date.now() + delayMs, this.#notBefore)
    if (this.#timer !== undefined && this.#timer.due <= due) return
    clearTimeout(this.#timer?.handle)
    const handle = setTimeout(() => {
      this.#timer = undefined
      if (this.#deltaGrows) {
        this.#workSoon(stoppedAfterMs)
        return
      }
      this.#automaticWork ??= this.#work().finally(() => {
        this.#automaticWork = undefined
        this.#pace.update()
        if (this.#rows > 0) this.#workSoon(flushAfterMs)
      })
    }, due - Date.now())
    // Waiting for work must not keep a process alive.
    handle.unref()
    this.#timer = { due, handle }
  }

  /**
   * Flushes, merges small segments, then larger ones as long as there are too many, and finishes segments. A large
   * flush goes first, and between two of the steps that take long an old one does.
   */
  async #work(): Promise<void> {
    try {
      if (this.#hasFailed) await this.#makeRoom()
      do {
        const wasLarge = this.#deltaIsLarge
        await this.damaged.repair()
        await this.#run({ kind: 'flush', limits: this.#limits })
        while (!this.#isClosed && (await this.#run({ kind: 'tidy' })) && !this.#deltaIsLarge);
        while (!this.#isClosed && !this.#deltaIsLarge && this.#hasRoom) {
          const merge = { kind: 'compact', limits: this.#limits, onlySmall: true } as const
          if (!(await this.#run(merge))) break
        }
        await this.#mergeAndFinish(wasLarge)
      } while (!this.#isClosed && this.#deltaIsDue)
      if (!this.#isClosed && !(await this.removeObjects())) this.#workSoon(flushAfterMs)
      this.#retryMs = flushAfterMs
    } catch (thrown) {
      if (this.#isClosed) return
      if (isDamage(thrown) && this.damaged.ids.includes(thrown.damagedSegment)) {
        // It is made again first.
        this.#workSoon(0)
        return
      }
      // The rows are in the records, so nothing is lost; readers go on with the fresh rows.
      this.#options.logger?.error({ err: thrown }, 'maintenance of segments failed; it will retry')
      this.#notBefore = Date.now() + this.#retryMs
      this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs)
      await this.#makeRoom()
      this.#workSoon(0)
    }
  }

  /** After a failure: takes what was deleted from disk, which may be full, and tries again at once if that was something. */
  async #makeRoom(): Promise<void> {
    const before = this.#options.removals?.purges().length ?? 0
    try {
      // To remove something takes some pages, too.
      await this.#run({ kind: 'trim', isFull: true })
      if (before > 0 && (await this.removeObjects())) this.#notBefore = 0
      await this.#run({ kind: 'trim', isFull: true })
    } catch (thrown) {
      if (!this.#isClosed) {
        this.#options.logger?.error({ err: thrown }, 'no room could be made on the disk')
      }
    }
  }

  /** Merges segments, if they are too many, finishes them and gives back what is free, until fresh rows are to be flushed. */
  async #mergeAndFinish(isBusy: boolean): Promise<void> {
    const merge = { kind: 'compact', limits: this.#limits } as const
    while (this.#mayTakeTime && (await this.#runIfItCanWait(merge)));
    const waiting = unfinished(this.#manifest).length
    if (isBusy && waiting <= mostUnfinished) {
      // Whoever writes so much mostly goes on.
      this.#workSoon(flushAfterMs)
      return
    }
    // Indexes fill what merges leave free in the file, after which more may be merged.
    while (this.#mayTakeTime && (await this.#runIfItCanWait({ kind: 'finish' }))) {
      while (this.#mayTakeTime && (await this.#runIfItCanWait(merge)));
    }
    if (this.#mayTakeTime || !this.#hasRoom) await this.#run({ kind: 'trim' })
  }

  /**
   * Gives the step up as soon as fresh rows are many, as flushes are not to wait for seconds. After that one is carried
   * out whatever comes, or under a load that goes on for days nothing would ever be done.
   */
  #runIfItCanWait(step: MaintenanceStep): Promise<boolean> {
    return this.#queue(async () => {
      this.#canWait = !this.#gaveWay
      try {
        const changed = await this.#carryOut(step)
        this.#gaveWay = !changed && this.#control.hasAskedForWay
        return changed
      } finally {
        this.#canWait = false
      }
    })
  }

  /** Runs the step; again, where it finds a segment damaged, once that is made again. */
  async #runRepairing(step: MaintenanceStep): Promise<boolean> {
    try {
      return await this.#run(step)
    } catch (thrown) {
      if (!isDamage(thrown)) throw thrown
      await this.damaged.repair()
      return this.#run(step)
    }
  }

  /** Runs the step after those before it; resolves to whether it changed anything. */
  #run(step: MaintenanceStep): Promise<boolean> {
    return this.#queue(() => this.#execute(step))
  }

  #queue<Result>(execute: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) {
      return Promise.reject(new AssayError('STORAGE_UNAVAILABLE', 'the segments are closed'))
    }
    const result = this.#steps.then(execute)
    this.#steps = result.catch(() => undefined)
    return result
  }

  async #execute(step: MaintenanceStep): Promise<boolean> {
    if (step.kind !== 'flush') return this.#carryOut(step)
    const [rows, bytes, begun] = [this.#rows, this.#bytes, Date.now()]
    const { fresh, reserve } = this.#options
    let succeeded = false
    let release: (() => void) | undefined
    try {
      release = reserve?.claimSegmentRoom(bytes)
      const taken = fresh?.take()
      const left = taken && fresh?.after(taken.through)
      this.#pace.flushBegins(bytes - (left?.bytes ?? 0))
      const changed = await this.#carryOut(taken ? { ...step, fresh: taken } : step)
      // What was noted before the step began was committed before, too.
      this.#rows -= rows - (left?.rows ?? 0)
      this.#bytes -= bytes - (left?.bytes ?? 0)
      this.#since = begun
      succeeded = true
      return changed
    } finally {
      release?.()
      this.#pace.flushEnds(succeeded, this.#deltaIsLarge)
    }
  }

  async #carryOut(step: MaintenanceStep): Promise<boolean> {
    const start = performance.now()
    this.#control.begin()
    const outcome = await this.#thread.run(step)
    if ('error' in outcome) {
      const error = AssayError.fromWire(outcome.error)
      if (isDamage(error)) await this.damaged.note(error)
      throw error
    }
    if (outcome.changed && manifestSteps.has(step.kind)) {
      this.#publish(await this.damaged.settled())
      this.#options.logger?.debug(
        {
          step: step.kind,
          milliseconds: Math.round(performance.now() - start),
          generation: this.#manifest.generation,
          segments: this.#manifest.segments.length,
        },
        'segments changed',
      )
    }
    return outcome.changed
  }

  #publish(manifest: Manifest): void {
    const named = new Set([...namedBy(manifest), ...this.damaged.ids])
    for (const id of this.#named) if (!named.has(id)) this.#retired.add(id)
    this.#named = named
    this.#manifest = manifest
    const { fresh, leftOut } = this.#options
    fresh?.flushed(manifest.flushedThrough)
    if (leftOut) fresh?.leaveOut(leftOut(), manifest.flushedThrough)
    this.#options.onManifest?.(manifest)
    this.#removeSoon()
  }

  /** Deletes the retired segments that no query can read any more. */
  #removeSoon(): void {
    if (this.#retired.size === 0 || this.#isClosed) return
    const inUse = new Set<number>()
    for (const manifest of this.#acquired.keys()) {
      for (const { id } of manifest.segments) inUse.add(id)
    }
    const ids = [...this.#retired].filter((id) => !inUse.has(id))
    if (ids.length === 0) return
    for (const id of ids) this.#retired.delete(id)
    this.#run({ kind: 'remove', ids }).then(
      () => this.#workSoon(flushAfterMs),
      (thrown: unknown) => {
        for (const id of ids) this.#retired.add(id)
        if (!this.#isClosed) {
          this.#options.logger?.error({ err: thrown, ids }, 'retired segments could not be deleted')
        }
      },
    )
  }
}
