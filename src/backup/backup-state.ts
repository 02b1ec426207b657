/** What the service knows of its backups: a small file of the data directory, which no backup has. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeDurably, writeDurablySync } from '../storage/durable-file.ts'

/** What `assay backup` tells once a backup is whole. */
export const reportedBackup = z.object({
  kind: z.enum(['backup', 'archive']),
  /** When its catalog was read, in ms since 1970. */
  time: z.number(),
  transaction: z.number(),
  /** What is to be warned of: the age of the last one, in seconds; of none when it is not given. */
  max_age_seconds: z.number().positive().optional(),
})

export type ReportedBackup = z.infer<typeof reportedBackup>

const stateSchema = z.object({
  source: z.string(),
  last: reportedBackup.optional(),
})

export const backupStateFile = 'backup.json'

export class BackupState {
  readonly #path: string
  #state: z.infer<typeof stateSchema>

  /** Names the data directory with the first call. What cannot be read is named anew: the next backup is a full one. */
  constructor(directory: string) {
    this.#path = join(directory, backupStateFile)
    this.#state = readState(this.#path) ?? { source: randomUUID() }
  }

  /** The name of the data directory, which is on disk before anybody is told of it. */
  get source(): string {
    if (readState(this.#path)?.source !== this.#state.source) {
      writeDurablySync(this.#path, JSON.stringify(this.#state))
    }
    return this.#state.source
  }

  get last(): ReportedBackup | undefined {
    return this.#state.last
  }

  /** Since the last one, in seconds; undefined when there was none. */
  ageSeconds(now: number): number | undefined {
    const { last } = this.#state
    return last && Math.max(0, (now - last.time) / 1000)
  }

  /** A sentence when the last one is too old. */
  warning(now: number): string | undefined {
    const age = this.ageSeconds(now)
    const most = this.#state.last?.max_age_seconds
    if (age === undefined || most === undefined || age <= most) return undefined
    return (
      `the last good backup is ${inWords(age)} old, and should be no older than ${inWords(most)}: ` +
      'see what "assay backup --schedule" says where it runs'
    )
  }

  async note(last: ReportedBackup): Promise<void> {
    const before = this.#state.last
    if (before && before.time > last.time) return
    this.#state = { ...this.#state, last }
    await writeDurably(this.#path, JSON.stringify(this.#state))
  }
}

function readState(path: string): z.infer<typeof stateSchema> | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

function inWords(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} seconds`
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`
  return seconds < 172_800
    ? `${Math.round(seconds / 3600)} hours`
    : `${Math.round(seconds / 86_400)} days`
}
