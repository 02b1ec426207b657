/**
 * Rows of requests from JSON to the form of the row store, many at a time. It stops at a row about which anything
 * is unusual; that one is taken by itself, written as a usual one.
 */
import { randomUUID } from 'node:crypto'
import { copyWhole } from '../json/copy-bytes.ts'
import { type RowKernels, rowKernels } from './row-kernels.ts'

/** What members of a name are; as `assembly/rows/scan-rows.ts` has it. */
export const nameRoles = {
  field: 0,
  ignored: 1,
  /** May be null, with `mayBeFalse` false, too, and with `mayMerge` also true. */
  flag: 2,
  id: 3,
  created: 4,
  /** Says which object a row belongs to. */
  naming: 5,
  span: 6,
  root: 7,
  parents: 8,
  output: 9,
  /** Rows that have it are unusual. */
  odd: 10,
} as const

/** What a value must be if it is not null; rows with others are unusual. */
export const valueChecks = {
  any: 0,
  string: 1,
  strings: 2,
  object: 3,
  scores: 4,
  mayBeFalse: 1,
  mayMerge: 2,
} as const

/** Why no more rows were taken. */
export const scanStops = { end: 0, oddRow: 1, newName: 2, newNaming: 3, fullTable: 4 } as const

/** Names that must be added before all others, in this order. */
export const firstNames = ['id', 'created', 'root_span_id', 'is_root', 'span_id'] as const

const integersOfRow = 8
const integersOfEvent = 4
const madeIdBytes = 36
const bits = { merges: 1, hasAttachment: 2 } as const
/** Rows taken at once, for which `rowTable` has room: some milliseconds of work. */
const rowsAtOnce = 512

/** A value that rows of its object may not have had before, in `bytes`. */
export interface ScanEvent {
  readonly row: number
  readonly name: number
  readonly start: number
  readonly end: number
}

/** Rows that were taken, until the next are. */
export class RowScan {
  readonly #kernels: RowKernels
  readonly #memory: Buffer
  readonly #input: number
  readonly #rows: Int32Array
  readonly #events: Int32Array
  /** What is in memory: bytes of a text from one place to another. */
  #text: Uint8Array | undefined
  #start = 0
  #end = 0
  #rowCount = 0

  constructor() {
    const kernels = rowKernels()
    const { buffer } = kernels.memory
    this.#kernels = kernels
    this.#memory = Buffer.from(buffer)
    this.#input = kernels.inputPlace.value
    this.#rows = new Int32Array(buffer, kernels.rowTable.value, rowsAtOnce * integersOfRow)
    this.#events = new Int32Array(buffer, kernels.eventTable.value)
  }

  /** Sets what rows that do not say when they were made get, and its text as JSON has it. */
  setNow(ms: number, text: string): void {
    this.#kernels.setNow(ms, this.#memory.write(text, this.#kernels.nowText.value, 'latin1'))
  }

  /**
   * Adds a name, which is not there yet, as it stands between quotes, without escapes, while there is no text.
   * Returns its number; -1 when there is no room.
   *
   * @param isTold whether it is an event that a row has it
   */
  addName(quoted: Uint8Array, role: number, check: number, isTold: boolean): number {
    const start = this.#input
    this.#memory.set(quoted, start)
    return this.#kernels.addName(start, start + quoted.length, role, check, Number(isTold))
  }

  /** The same for the name for which it has stopped. */
  addNewName(role: number, check: number, isTold: boolean): number {
    const { newNameStart, newNameEnd } = this.#kernels
    return this.#kernels.addName(newNameStart.value, newNameEnd.value, role, check, Number(isTold))
  }

  forgetNames(): void {
    this.#kernels.forgetNames()
  }

  /** Forgets which ways to name objects there are. */
  forgetNamings(): void {
    this.#kernels.forgetNamings()
  }

  /** Has all that rows have be events again. */
  forgetSeen(): void {
    this.#kernels.forgetSeen()
  }

  /**
   * Keeps the way in which the row names its object that was not taken for it; returns its number, -1 when
   * there is no room.
   *
   * @param ofDataset whether the object is one
   */
  keepNaming(ofDataset: boolean): number {
    return this.#kernels.keepNaming(Number(ofDataset))
  }

  /** Forgets the text. */
  close(): void {
    this.#text = undefined
  }

  /** Takes rows, with commas between them, from `from` on; returns how many. */
  scan(text: Uint8Array, from: number, end: number): number {
    if (this.#text !== text || from < this.#start || from >= this.#end) this.#load(text, from, end)
    this.#makeIds()
    this.#rowCount = this.#kernels.scanRows(this.#input + from - this.#start, rowsAtOnce)
    return this.#rowCount
  }

  /**
   * Takes one row that is all of `text`, and names no object; returns whether it could.
   *
   * @param object stands for the row's object, until what is seen is forgotten
   * @param createdMs when the row was made; undefined if its text says that
   */
  scanAlone(text: Uint8Array, object: number, createdMs: number | undefined): boolean {
    const { ownInput, mostInput } = this.#kernels
    if (text.length > mostInput.value) return false
    this.#memory.set(text, ownInput.value)
    this.#memory[ownInput.value + text.length] = 0
    this.#makeIds()
    return this.#kernels.scanOwnRow(createdMs ?? Number.NaN, object) !== 0
  }

  /** Where in the text the last row ends; where it was to begin, if there is none. */
  get position(): number {
    return this.#kernels.stoppedAt.value - this.#input + this.#start
  }

  get stop(): number {
    return this.#kernels.stopReason.value
  }

  /** The name, in quotes, for which it has stopped. */
  get newName(): Buffer {
    return this.#memory.subarray(this.#kernels.newNameStart.value, this.#kernels.newNameEnd.value)
  }

  /** The rows, end to end. */
  get bytes(): Buffer {
    return this.#memory.subarray(this.#kernels.outPlace.value, this.#kernels.outEnd.value)
  }

  rowEnd(row: number): number {
    return this.#rows[row * integersOfRow]!
  }

  /** Text of the id of a row. */
  id(row: number): string {
    const out = this.#kernels.outPlace.value
    const at = row * integersOfRow
    return this.#memory.toString('utf8', out + this.#rows[at + 1]!, out + this.#rows[at + 2]!)
  }

  /** In which of the ways that were kept a row names its object. */
  naming(row: number): number {
    return this.#rows[row * integersOfRow + 3]!
  }

  /** Whether a row merges with what its record was. */
  merges(row: number): boolean {
    return (this.#rows[row * integersOfRow + 4]! & bits.merges) !== 0
  }

  /** Whether a row may name an attachment. */
  hasAttachment(row: number): boolean {
    return (this.#rows[row * integersOfRow + 4]! & bits.hasAttachment) !== 0
  }

  events(): ScanEvent[] {
    return Array.from({ length: this.#kernels.eventCount.value }, (_, event) => {
      const at = event * integersOfEvent
      return {
        row: this.#events[at]!,
        name: this.#events[at + 1]!,
        start: this.#events[at + 2]!,
        end: this.#events[at + 3]!,
      }
    })
  }

  /** Those that were used are made anew. */
  #makeIds(): void {
    const { madeIds, madeIdsLeft, mostMadeIds } = this.#kernels
    if (madeIdsLeft.value === mostMadeIds.value) return
    for (let i = madeIdsLeft.value; i < mostMadeIds.value; i++) {
      this.#memory.write(randomUUID(), madeIds.value + i * madeIdBytes, 'latin1')
    }
    this.#kernels.fillMadeIds()
  }

  #load(text: Uint8Array, from: number, end: number): void {
    const length = Math.min(end - from, this.#kernels.mostInput.value)
    copyWhole(text.subarray(from, from + length), this.#memory, this.#input)
    // No row has a zero byte, so that none ends behind the text.
    this.#memory[this.#input + length] = 0
    this.#text = text
    this.#start = from
    this.#end = from + length
  }
}
