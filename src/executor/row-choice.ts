import type { RowChoice } from '../binder/bound.ts'
import type { Selection } from '../vector/vector.ts'
import type { RowList } from './row-buffer.ts'

/** The object number of groups that no row was offered for. */
export const noRow = -1

/** Ranks of what is kept of a group; 0 is nothing. */
const someRow = 1
const preferredRow = 2

/** Groups that an offer has given another row, in the order of the rows. */
export interface ChangedGroups {
  readonly rows: Int32Array
  readonly groups: Int32Array
  readonly count: number
}

export interface ChosenRows {
  /** One row per group, with the object `noRow` where there is none. */
  readonly rows: RowList
  /** One byte per group: 1 where its row is a preferred one. Undefined when none can be. */
  readonly preferred: Uint8Array | undefined
}

/**
 * Chooses the row that stands for each group: preferred ones before others, then by pagination key.
 * Rows that tie are of different objects; the one with the lower number wins. So the same rows win
 * whatever order they come in.
 */
export class RowChooser {
  readonly #sign: 1 | -1
  readonly #hasPreferred: boolean
  #groupCount = 0
  #object = new Int32Array(0)
  #paginationTransaction = new Float64Array(0)
  #paginationIndex = new Int32Array(0)
  #transaction = new Float64Array(0)
  #index = new Int32Array(0)
  /** What is kept: nothing, a row, or a preferred row. */
  #kept = new Uint8Array(0)
  readonly #recordsChanges: boolean
  #changedRows = new Int32Array(0)
  #changedGroups = new Int32Array(0)
  #changedCount = 0

  constructor({ preferred, pick, values }: RowChoice) {
    this.#sign = pick === 'newest' ? 1 : -1
    this.#hasPreferred = preferred !== undefined
    this.#recordsChanges = values.length > 0
  }

  /** What the last offer has changed; nothing when no values are kept of the rows. */
  get changed(): ChangedGroups {
    return { rows: this.#changedRows, groups: this.#changedGroups, count: this.#changedCount }
  }

  /** Makes room for this many groups. */
  resize(groupCount: number): void {
    this.#groupCount = groupCount
    const before = this.#object.length
    if (groupCount <= before) return
    const length = Math.max(groupCount, before * 2)
    this.#object = copyTo(new Int32Array(length), this.#object).fill(noRow, before)
    this.#paginationTransaction = copyTo(new Float64Array(length), this.#paginationTransaction)
    this.#paginationIndex = copyTo(new Int32Array(length), this.#paginationIndex)
    this.#transaction = copyTo(new Float64Array(length), this.#transaction)
    this.#index = copyTo(new Int32Array(length), this.#index)
    this.#kept = copyTo(new Uint8Array(length), this.#kept)
  }

  /**
   * Offers the selected rows; the i-th of them is of group `groups[i]`.
   *
   * @param preferred one byte per row, 1 for preferred ones
   */
  offer(
    rows: RowList,
    preferred: Uint8Array | undefined,
    rowCount: number,
    selection: Selection,
    groups: Int32Array,
  ): void {
    const count = selection ? selection.length : rowCount
    const sign = this.#sign
    const object = this.#object
    const paginationTransaction = this.#paginationTransaction
    const paginationIndex = this.#paginationIndex
    const transaction = this.#transaction
    const index = this.#index
    const kept = this.#kept
    const offered = rows.object
    const offeredTransaction = rows.paginationTransaction
    const offeredIndex = rows.paginationIndex
    this.#reserveChanges(count)
    for (let j = 0; j < count; j++) {
      const row = selection ? selection[j]! : j
      const group = groups[j]!
      const rank = preferred && preferred[row] === 1 ? preferredRow : someRow
      const before = kept[group]!
      // Most rows end here: of a trace, all that follow its root.
      if (rank < before) continue
      if (rank === before) {
        // Positive when the row goes before the one that is kept.
        const order = sign * (offeredTransaction[row]! - paginationTransaction[group]!)
        if (order < 0) continue
        if (order === 0) {
          const tie = sign * (offeredIndex[row]! - paginationIndex[group]!)
          if (tie < 0 || (tie === 0 && object[group]! <= offered[row]!)) continue
        }
      }
      // A list of chosen rows has groups without a row, too.
      if (offered[row] === noRow) continue
      object[group] = offered[row]!
      paginationTransaction[group] = offeredTransaction[row]!
      paginationIndex[group] = offeredIndex[row]!
      transaction[group] = rows.transaction[row]!
      index[group] = rows.index[row]!
      kept[group] = rank
      if (!this.#recordsChanges) continue
      this.#changedRows[this.#changedCount] = row
      this.#changedGroups[this.#changedCount++] = group
    }
  }

  /** Offers what another chooser has chosen; its group `i` is group `groups[i]` here. */
  merge({ rows, preferred }: ChosenRows, groups: Int32Array): void {
    this.offer(rows, preferred, groups.length, undefined, groups)
  }

  #reserveChanges(count: number): void {
    this.#changedCount = 0
    if (!this.#recordsChanges || this.#changedRows.length >= count) return
    this.#changedRows = new Int32Array(count)
    this.#changedGroups = new Int32Array(count)
  }

  finish(): ChosenRows {
    const count = this.#groupCount
    return {
      rows: {
        object: this.#object.subarray(0, count),
        paginationTransaction: this.#paginationTransaction.subarray(0, count),
        paginationIndex: this.#paginationIndex.subarray(0, count),
        transaction: this.#transaction.subarray(0, count),
        index: this.#index.subarray(0, count),
      },
      preferred: this.#hasPreferred
        ? this.#kept.subarray(0, count).map((rank) => +(rank === preferredRow))
        : undefined,
    }
  }
}

function copyTo<T extends Int32Array | Float64Array | Uint8Array>(target: T, source: T): T {
  target.set(source)
  return target
}
