/** The data directory of a query node: a copy of what its home node has, which can be made again at any time. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { AssayError } from '../../error.ts'
import type { ToldExport } from '../../scheduler/cold/exported-records.ts'
import { writeDurablySync } from '../../storage/durable-file.ts'

/** A `ToldExport`, as it is told and stored. */
export const toldExport = z.object({
  evicted: z.number(),
  arrived: z.number().default(0),
  round: z.string(),
  removing: z.array(z.number()),
})

const stateSchema = z.object({
  /** Of the home's data directory; null until all of it was copied once. */
  source: z.string().nullable(),
  /** When the home was heard last, in ms since 1970. */
  heard: z.number(),
  /** What is here of records is a part of what was being taken over. */
  isTakingOver: z.boolean().optional(),
  /** What the home has told last of its cluster. */
  exported: toldExport.optional(),
})

type State = z.infer<typeof stateSchema>

const stateFile = 'home.json'

export class CacheFolder {
  readonly directory: string
  #state: State

  /**
   * Makes the folder where there is none. Throws CONFIG_INVALID for a folder that is no such copy: nothing of it may be
   * overwritten.
   */
  constructor(directory: string) {
    this.directory = directory
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const known = readState(join(directory, stateFile))
    if (!known && readdirSync(directory).length > 0) {
      throw new AssayError(
        'CONFIG_INVALID',
        `${directory} is no cache of a query node: it has files of its own`,
        { hint: 'give --data-dir a new folder, or leave out --home to serve what is in this one' },
      )
    }
    this.#state = known ?? { source: null, heard: 0 }
    if (!known) this.#write()
    if (this.#state.isTakingOver) this.clear()
  }

  /** Whether nothing was copied yet. */
  get isEmpty(): boolean {
    return readdirSync(this.directory).every((name) => name === stateFile)
  }

  /** `take` writes records into the empty folder; where it does not come to its end, the folder is empty again. */
  async takeOver<Result>(take: () => Promise<Result>): Promise<Result> {
    this.#state = { ...this.#state, isTakingOver: true }
    this.#write()
    try {
      const result = await take()
      this.#state = { ...this.#state, isTakingOver: false }
      this.#write()
      return result
    } catch (thrown) {
      this.clear()
      throw thrown
    }
  }

  get source(): string | null {
    return this.#state.source
  }

  get heard(): number {
    return this.#state.heard
  }

  get exported(): State['exported'] {
    return this.#state.exported
  }

  note(state: Pick<State, 'source' | 'heard'>): void {
    this.#state = { ...this.#state, ...state }
    this.#write()
  }

  /** What has arrived changes all the time, and is told anew to who begins. */
  noteExport({ evicted, round, removing }: ToldExport): void {
    const exported = { evicted, arrived: 0, round, removing: [...removing] }
    if (isDeepStrictEqual(exported, this.#state.exported)) return
    this.#state = { ...this.#state, exported }
    this.#write()
  }

  /** Removes all that was copied. Nobody may have it open. */
  clear(): void {
    this.#state = { source: null, heard: 0 }
    this.#write()
    for (const name of readdirSync(this.directory)) {
      if (name !== stateFile) rmSync(join(this.directory, name), { recursive: true })
    }
  }

  #write(): void {
    writeDurablySync(join(this.directory, stateFile), JSON.stringify(this.#state))
  }
}

function readState(path: string): State | undefined {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}
