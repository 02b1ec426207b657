/**
 * How far each export has come: a small file for each in the data directory. A range of transactions is noted there
 * before its file is begun, and once its file and manifest are written. So a range that a kill has ended is found, and
 * written again under the same name.
 */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { makeFolder, unfinishedEnding, writeDurably } from '../../storage/durable-file.ts'
import { onDisk } from '../../storage/storage-error.ts'

const range = z.object({
  /** Transactions after this one, and up to `through`. */
  after: z.number(),
  /** The first of them with rows for the export. */
  first: z.number(),
  through: z.number(),
})

const stateSchema = z.object({
  format: z.literal(1),
  /** All rows of transactions up to this one have been written; undefined: nobody knows, but manifests may tell. */
  through: z.number().optional(),
  /** What is being written, and where. */
  begun: range.extend({ path: z.string(), file: z.string() }).optional(),
  /** What was written after this transaction is to be removed, and written again. */
  rewindTo: z.number().optional(),
  /** Times are in ms since 1970. A run is all that is written at a time. */
  lastRun: z.number().nullable(),
  lastGood: z.number().nullable(),
  /** Of all files that are there. */
  files: z.number(),
  rows: z.number(),
  bytes: z.number(),
  /** Of the last run that has written anything. */
  last: z
    .object({
      time: z.number(),
      files: z.number(),
      rows: z.number(),
      bytes: z.number(),
      seconds: z.number(),
    })
    .nullable(),
  error: z.object({ message: z.string(), since: z.number(), tries: z.number() }).nullable(),
})

export type ExportState = Readonly<z.infer<typeof stateSchema>>
export type ExportRange = Readonly<z.infer<typeof range>>

export const newState: ExportState = {
  format: 1,
  lastRun: null,
  lastGood: null,
  files: 0,
  rows: 0,
  bytes: 0,
  last: null,
  error: null,
}

const what = 'the state of an export'

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export class ExportStates {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(dataDirectory: string): Promise<ExportStates> {
    const directory = join(dataDirectory, 'exports')
    await makeFolder(directory)
    for (const name of await readdir(directory)) {
      if (name.endsWith(unfinishedEnding)) await rm(join(directory, name), { force: true })
    }
    return new ExportStates(directory)
  }

  /** Ids of the automations that have a state. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#directory)
    return names.map((name) => name.replace(/\.json$/, '')).filter((id) => idForm.test(id))
  }

  /** A new one where there is none, or none that can be read: manifests then say how far the export has come. */
  async read(id: string): Promise<ExportState> {
    try {
      return stateSchema.parse(JSON.parse(await readFile(this.#path(id), 'utf8')))
    } catch (thrown) {
      const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
      const isDamaged = thrown instanceof SyntaxError || thrown instanceof z.ZodError
      if (!isMissing && !isDamaged) throw thrown
      return newState
    }
  }

  async write(id: string, state: ExportState): Promise<void> {
    await onDisk(what, writeDurably(this.#path(id), JSON.stringify(state)))
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true })
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.json`)
  }
}
