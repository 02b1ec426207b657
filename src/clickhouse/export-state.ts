/** How far the export is, in a file of the data directory: written before a batch is sent, and after it has arrived. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurablySync } from '../storage/durable-file.ts'
import type { RowKey } from '../type/transaction.ts'
import type { KeptTables } from './schema.ts'
import type { ClickHouseSettings } from './settings.ts'

const fileName = 'clickhouse.json'

/** Of a range of transactions, a part that one insert takes: row versions of objects in their order. */
export interface Batch {
  /** The range is of the transactions after `from` and up to `to`. */
  readonly from: number
  readonly to: number
  /** The batch begins with the first row of this place or after it, and ends before `end`. */
  readonly begin: BatchPlace
  /** Undefined before it is known where the batch is cut off. */
  readonly end: BatchPlace | undefined
}

/** Behind all rows of a range. */
export const endOfObjects: BatchPlace = { object: 2 ** 32, version: { transaction: 0, index: 0 } }

export interface BatchPlace {
  readonly object: number
  readonly version: RowKey
}

/** While transactions up to `through` are exported, what was written up to `from` is on the cluster. */
export interface Run {
  readonly from: number
  readonly through: number
}

export interface ExportState {
  /** Names the service in the database. */
  readonly service: string
  /** The database that this is about: of another one nothing is known. */
  readonly target: string
  /** How often all was sent anew, since what is in tokens of inserts has to differ then. */
  readonly round: number
  /** Part of the tokens of the round's inserts: by chance, so that none is as before even if this file was lost. */
  readonly roundId: string
  /** The tables of records as they were seen last. */
  readonly tables: KeptTables
  /** Whether the tables have nothing from before the round. */
  readonly isEmptied: boolean
  /** All transactions up to this one have arrived. */
  readonly through: number
  /** Up to this one every node has it in its own words. */
  readonly noted: number
  /** What was removed from the data directory up to this time is removed there, too: see `readPurged`. */
  readonly purged: number
  readonly run: Run
  /** What is sent, or comes next. */
  readonly batch: Batch | undefined
}

const start = {
  isEmptied: false,
  tables: {},
  through: 0,
  noted: 0,
  purged: 0,
  run: { from: 0, through: 0 },
  batch: undefined,
} as const

export class StateFile {
  readonly #path: string
  #state: ExportState

  constructor(directory: string, target: string) {
    this.#path = join(directory, fileName)
    const known = this.#read()
    this.#state =
      known?.target === target
        ? { ...start, ...known }
        : {
            ...start,
            service: known?.service ?? randomUUID(),
            target,
            round: (known?.round ?? 0) + 1,
            roundId: randomUUID(),
          }
    if (known?.target !== target) this.#write()
  }

  get state(): ExportState {
    return this.#state
  }

  /** On disk when this returns. */
  change(changed: Partial<Omit<ExportState, 'service' | 'target' | 'round' | 'roundId'>>): void {
    this.#state = { ...this.#state, ...changed }
    this.#write()
  }

  /** Everything is to be sent anew. */
  startAnew(): void {
    const round = this.#state.round + 1
    this.#state = { ...this.#state, ...start, round, roundId: randomUUID() }
    this.#write()
  }

  #read(): ExportState | undefined {
    return readState(this.#path)
  }

  #write(): void {
    writeDurablySync(this.#path, JSON.stringify(this.#state))
  }
}

function readState(path: string): ExportState | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ExportState
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined
    // Written whole or not at all: it was damaged later, and the tables are made anew.
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

/** Of a data directory that another process may have open; undefined when there is none of the database. */
export function readExportState(directory: string, target: string): ExportState | undefined {
  const state = readState(join(directory, fileName))
  return state?.target === target ? state : undefined
}

/** For one whose file was lost: what the service is called by, and how far it was. */
export function writeExportState(
  directory: string,
  target: string,
  known: Pick<ExportState, 'service' | 'through'>,
): void {
  const state: ExportState = {
    ...start,
    isEmptied: true,
    target,
    round: 1,
    roundId: randomUUID(),
    ...known,
    run: { from: known.through, through: known.through },
  }
  writeDurablySync(join(directory, fileName), JSON.stringify(state))
}

/** Names a database in the file. */
export function targetOf({
  cluster = '',
  database,
}: Pick<ClickHouseSettings, 'cluster' | 'database'>) {
  return `${cluster}/${database}`
}
