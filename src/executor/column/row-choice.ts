import type { RowChoice } from '../../binder/bound.ts'
import { newCodes, newTable } from '../../kernel/arena.ts'
import {
  type ChangedGroups,
  chooseRows,
  nothingKept,
  type OfferedRows,
  rowOrder,
} from '../../kernel/groups.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { Selection } from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { checkLimit } from '../thread/memory-limit.ts'
import type { RowList } from './row-list.ts'

/** The object number of groups that no row was offered for. */
export const noRow = -1

export type { ChangedGroups }

export interface ChosenRows {
  /** One row per group, with the object `noRow` where there is none. */
  readonly rows: RowList
  /** One byte per group: 1 where its row is a preferred one. Undefined when none can be. */
  readonly preferred: Uint8Array | undefined
}

/** The high bits of a row's number tell the list that it was offered in. */
const listBits = 13
const listRows = 1 << listBits
const maximumLists = (rowOrder.mask >> listBits) - 1

/** So many rows of a list that was offered, from one of them on. */
interface ListPart {
  readonly rows: RowList
  readonly from: number
}

/**
 * Chooses the row that stands for each group: preferred ones before others, then by pagination key.
 * Rows that tie are of different objects; the one with the lower number wins. So the same rows win
 * whatever order they come in.
 */
export class RowChooser {
  readonly #flip: number
  readonly #hasPreferred: boolean
  readonly #lists: ListPart[] = []
  #groupCount = 0
  /** By group: the number of its row, and whether that is a preferred one (`kernel/groups.ts`). */
  #kept: Int32Array = new Int32Array(0)
  #changed: ChangedGroups = { rows: new Int32Array(0), groups: new Int32Array(0), count: 0 }

  constructor({ preferred, pick }: RowChoice) {
    this.#flip = pick === 'newest' ? rowOrder.mask : 0
    this.#hasPreferred = preferred !== undefined
  }

  /** What the last offer has changed. */
  get changed(): ChangedGroups {
    return this.#changed
  }

  /** Makes room for this many groups. */
  resize(groupCount: number): void {
    this.#groupCount = groupCount
    if (groupCount <= this.#kept.length) return
    const kept = newTable(Math.max(groupCount, this.#kept.length * 2), nothingKept)
    kept.set(this.#kept)
    this.#kept = kept
  }

  /**
   * Offers the selected rows of a batch of a scan, which are in the order of their keys; the i-th of them is
   * of group `groups[i]`.
   *
   * @param rows stay as they are until the choice is made
   * @param preferred one byte per row, 1 for preferred ones
   */
  offer(
    rows: RowList,
    preferred: Uint8Array | undefined,
    rowCount: number,
    selection: Selection,
    groups: Int32Array,
  ): void {
    const offered = { rowCount, selection, groups, preferred }
    const first = this.#open(rows, rowCount)
    const count = selection ? selection.length : rowCount
    this.#changed = { rows: newCodes(count), groups: newCodes(count), count: 0 }
    const left = newCodes(count)
    const choices = { first, flip: this.#flip, kept: this.#kept }
    const leftCount = chooseRows(offered, choices, this.#changed, left)
    this.#offerSome(left.subarray(0, leftCount), rows, offered, first)
  }

  /** Offers what another chooser has chosen; its group `i` is group `groups[i]` here. */
  merge({ rows, preferred }: ChosenRows, groups: Int32Array): void {
    const rowCount = groups.length
    const first = this.#open(rows, rowCount)
    const all = sequence(0, rowCount).filter((row) => rows.object[row] !== noRow)
    this.#changed = {
      rows: new Int32Array(all.length),
      groups: new Int32Array(all.length),
      count: 0,
    }
    this.#offerSome(all, rows, { rowCount, selection: undefined, groups, preferred }, first)
  }

  /** Gives the rows of a list numbers; that of the first comes back. */
  #open(rows: RowList, rowCount: number): number {
    // From one list on: all bits of number 0, turned over, would be those of nothing.
    const first = (this.#lists.length + 1) << listBits
    for (let from = 0; from < rowCount; from += listRows) this.#lists.push({ rows, from })
    checkLimit(this.#lists.length, maximumLists, 'batches in one task', 'filter the rows')
    return first
  }

  /** Offers selected rows of which nothing is known; `places` are theirs among the selected. */
  #offerSome(
    places: Int32Array,
    rows: RowList,
    { selection, groups, preferred }: OfferedRows,
    first: number,
  ): void {
    const kept = this.#kept
    const changed = this.#changed
    for (let i = 0; i < places.length; i++) {
      checkAtTimes()
      const place = places[i]!
      const row = selection ? selection[place]! : place
      const group = groups[place]!
      const rank = preferred && preferred[row] === 1 ? 0 : rowOrder.otherRank
      const before = kept[group]!
      const rankBefore = before & rowOrder.otherRank
      if (before !== nothingKept) {
        if (rank > rankBefore) continue
        if (rank === rankBefore && !this.#goesBefore(rows, row, before)) continue
      }
      kept[group] = rank | ((first + row) ^ this.#flip)
      changed.rows[changed.count] = row
      changed.groups[changed.count++] = group
    }
  }

  /** Whether a row goes before one that is kept and of the same rank. */
  #goesBefore(rows: RowList, row: number, kept: number): boolean {
    const { list, place } = this.#rowOf(kept)
    const sign = this.#flip === 0 ? -1 : 1
    const order =
      rows.paginationTransaction[row]! - list.paginationTransaction[place]! ||
      rows.paginationIndex[row]! - list.paginationIndex[place]!
    if (order !== 0) return order * sign > 0
    return rows.object[row]! < list.object[place]!
  }

  #rowOf(kept: number): { readonly list: RowList; readonly place: number } {
    const number = (kept ^ this.#flip) & rowOrder.mask
    const { rows, from } = this.#lists[(number >> listBits) - 1]!
    return { list: rows, place: from + (number & (listRows - 1)) }
  }

  /** @param groups those whose rows are wanted; undefined: all */
  finish(groups?: Int32Array): ChosenRows {
    const count = groups ? groups.length : this.#groupCount
    const kept = this.#kept
    const rows = {
      object: new Int32Array(count),
      paginationTransaction: new Float64Array(count),
      paginationIndex: new Int32Array(count),
      transaction: new Float64Array(count),
      index: new Int32Array(count),
    }
    const preferred = this.#hasPreferred ? new Uint8Array(count) : undefined
    for (let i = 0; i < count; i++) {
      checkAtTimes()
      const value = kept[groups ? groups[i]! : i]!
      if (value === nothingKept) {
        rows.object[i] = noRow
        continue
      }
      const { list, place } = this.#rowOf(value)
      rows.object[i] = list.object[place]!
      rows.paginationTransaction[i] = list.paginationTransaction[place]!
      rows.paginationIndex[i] = list.paginationIndex[place]!
      rows.transaction[i] = list.transaction[place]!
      rows.index[i] = list.index[place]!
      if (preferred) preferred[i] = +((value & rowOrder.otherRank) === 0)
    }
    return { rows, preferred }
  }
}
