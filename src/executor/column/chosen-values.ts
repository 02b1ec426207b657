import { newTable } from '../../kernel/arena.ts'
import type { Vector } from '../../vector/vector.ts'
import { pickedCodes } from './gather-vector.ts'
import { compactColumn } from './relation-column.ts'
import type { ChangedGroups } from './row-choice.ts'
import { ValueCodes } from './value-codes.ts'
import type { WireValues } from './wire-values.ts'

/** Stands for a group that no row was chosen for. */
const none = -1

/** What one expression is in the row that stands for each group. */
export class ChosenValues {
  readonly #codes = new ValueCodes()
  /** By group. */
  #chosen: Int32Array = new Int32Array(0)
  #batch = new Int32Array(0)

  get heldBytes(): number {
    return this.#codes.heldBytes + this.#chosen.byteLength
  }

  /** Makes room for this many groups. */
  resize(groupCount: number): void {
    const before = this.#chosen.length
    if (groupCount <= before) return
    const chosen = newTable(Math.max(groupCount, before * 2), none)
    chosen.set(this.#chosen)
    this.#chosen = chosen
  }

  /** Takes the value from the rows that groups have changed to. */
  take(vector: Vector, rowCount: number, { rows, groups, count }: ChangedGroups): void {
    if (this.#batch.length < count) this.#batch = new Int32Array(Math.max(count, 1024))
    const codes = this.#batch
    this.#codes.encode(vector, rowCount, rows.subarray(0, count), codes)
    const chosen = this.#chosen
    for (let i = 0; i < count; i++) chosen[groups[i]!] = codes[i]!
  }

  /** Of these groups; undefined: of all. */
  toWire(groupCount: number, groups?: Int32Array): WireValues {
    const chosen = this.#chosen
    const codes = groups ? pickedCodes(chosen, groups) : chosen.subarray(0, groupCount)
    return this.#codes.toWire(codes)
  }

  toColumn(groupCount: number): WireValues {
    return compactColumn(this.toWire(groupCount))
  }
}
