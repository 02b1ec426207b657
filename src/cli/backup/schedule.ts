/** `assay backup --schedule`: goes on taking backups, and archives what is written between them, until it is stopped. */
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BackupStore } from '../../backup/backup-store.ts'
import { type NamedManifest, readNewManifests } from '../../backup/manifest.ts'
import { removeBackups } from '../../backup/remove-backups.ts'
import { ServiceSource } from '../../backup/service-source.ts'
import { AssayError } from '../../error.ts'
import { reasonOf } from '../../import/file-record.ts'
import { Client } from '../client.ts'
import { parseDuration } from './duration.ts'
import { openStore } from './open-store.ts'
import { type BackupFlags, report, say, summaryOf, takeOne } from './take.ts'

export interface ScheduleFlags extends BackupFlags {
  readonly schedule: string
  readonly archive?: string
  readonly keep?: string
  readonly fullEvery?: string
}

/** Of the time between two, after which the last one is too old. */
const lateness = 2
/** What a warning waits for at least: a service may be restarted meanwhile. */
const leastAgeSeconds = 60

export async function runSchedule(
  destination: string,
  flags: ScheduleFlags,
  signal: AbortSignal,
): Promise<void> {
  setPriority(10)
  const everyMs = parseDuration('--schedule', flags.schedule)
  const archiveMs =
    flags.archive === undefined ? undefined : parseDuration('--archive', flags.archive)
  const fullMs =
    flags.fullEvery === undefined ? undefined : parseDuration('--full-every', flags.fullEvery)
  const keep = keptNumber(flags.keep)
  if (destination === '-' || destination.endsWith('.tar')) {
    throw new AssayError(
      'COMMAND_INVALID',
      '--schedule takes a folder: an archive holds one backup',
    )
  }
  const source = new ServiceSource(new Client(flags))
  const store = await openStore(destination, 'write')
  const unlock = await store.lock()
  try {
    const schedule = new Schedule(store, source, { ...flags, everyMs, archiveMs, fullMs, keep })
    await schedule.run(signal)
  } finally {
    await unlock()
  }
}

/** Until a signal asks for its end; what is under way then is ended by the next one. */
export async function runUntilStopped(destination: string, flags: ScheduleFlags): Promise<void> {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1)
      stopping.abort()
    })
  }
  await runSchedule(destination, flags, stopping.signal)
}

interface Times extends BackupFlags {
  readonly everyMs: number
  readonly archiveMs: number | undefined
  readonly fullMs: number | undefined
  readonly keep: number | undefined
}

class Schedule {
  readonly #store: BackupStore
  readonly #source: ServiceSource
  readonly #times: Times

  constructor(store: BackupStore, source: ServiceSource, times: Times) {
    this.#store = store
    this.#source = source
    this.#times = times
  }

  async run(signal: AbortSignal): Promise<void> {
    const { everyMs, archiveMs } = this.#times
    while (!signal.aborted) {
      const backups = await this.#backups()
      const last = backups.at(-1)?.manifest.time
      const dueMs = last === undefined ? 0 : last + everyMs - Date.now()
      if (dueMs <= 0) await this.#attempt(() => this.#backUp(backups))
      else if (archiveMs !== undefined) await this.#attempt(() => this.#archiveOrBackUp(backups))
      await pause(Math.min(archiveMs ?? 60_000, dueMs > 0 ? dueMs : (archiveMs ?? 1000)), signal)
    }
  }

  async #backups(): Promise<NamedManifest[]> {
    const { source } = await this.#source.state(0).catch(() => ({ source: undefined }))
    const all = await readNewManifests(this.#store)
    const own = all.filter(({ manifest }) => source === undefined || manifest.source === source)
    return own.filter(({ manifest }) => manifest.kind === 'backup')
  }

  async #backUp(backups: readonly NamedManifest[]): Promise<void> {
    const { fullMs, keep, everyMs } = this.#times
    const fullTime = backups.at(-1)?.manifest.fullTime ?? 0
    const isFull = fullMs !== undefined && fullTime + fullMs <= Date.now()
    const taken = await takeOne(
      this.#store,
      this.#source,
      { ...this.#times, full: isFull },
      'backup',
    )
    say(summaryOf(taken, this.#store))
    await report(this.#source, taken, this.#maxAge(everyMs))
    if (keep === undefined) return
    const { backups: removed, pieces } = await removeBackups(this.#store, keep)
    if (removed.length > 0) say(`removed ${removed.join(', ')} and ${pieces} pieces`)
  }

  /** What was removed for good may have been the last that the last backup has: then nothing can go on from it. */
  async #archiveOrBackUp(backups: readonly NamedManifest[]): Promise<void> {
    try {
      await this.#archive()
    } catch (thrown) {
      if (!(thrown instanceof AssayError && thrown.code === 'COMMAND_INVALID')) throw thrown
      await this.#backUp(backups)
    }
  }

  async #archive(): Promise<void> {
    const taken = await takeOne(
      this.#store,
      this.#source,
      { ...this.#times, full: false },
      'archive',
    )
    await report(this.#source, taken, this.#maxAge(this.#times.archiveMs!))
  }

  #maxAge(everyMs: number): number {
    return Math.max(leastAgeSeconds, (lateness * (this.#times.archiveMs ?? everyMs)) / 1000)
  }

  /** What fails is told, and tried again: it is for the service to warn when it goes on failing. */
  async #attempt(take: () => Promise<void>): Promise<void> {
    try {
      await take()
    } catch (thrown) {
      if (thrown instanceof AssayError && thrown.code.startsWith('ACCESS_')) throw thrown
      say(`${new Date().toISOString()} ${reasonOf(thrown)}`)
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(100, ms), undefined, { signal }).catch(() => undefined)
}

function keptNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new AssayError('COMMAND_INVALID', '--keep takes a number of backups, at least 1')
}
