/** Makes sets of rows (`vector/row-set.ts`) of lists and of other sets. */
import {
  addRow,
  isEmpty,
  isWithin as isWithinBits,
  noRows,
  type RowBits,
  remove,
  removeRow,
} from '../vector/row-bits.ts'
import { FewRows, isInSet, type RowSet } from '../vector/row-set.ts'
import { beginSets, newSet } from './arena.ts'
import { addAll, keepOnly } from './bit-rows.ts'

let areBrief = false

/**
 * Makes sets in memory that is used again: they, and what is made of them alone, must not be used any more once that is called
 * the next time. A search makes some for each column of each segment, for which V8 would look through all of a thread's
 * memory ten times a second.
 */
export function makeBriefly<T>(make: () => T): T {
  beginSets()
  areBrief = true
  try {
    return make()
  } finally {
    areBrief = false
  }
}

/** Makes sets that are kept, within what makes others briefly, too. */
export function makeToKeep<T>(make: () => T): T {
  const wereBrief = areBrief
  areBrief = false
  try {
    return make()
  } finally {
    areBrief = wereBrief
  }
}

/** No rows, to which some may be added. */
export function newRows(rowCount: number): RowBits {
  return (areBrief ? newSet((rowCount + 31) >> 5) : undefined) ?? noRows(rowCount)
}

function copyOf(rows: RowBits): RowBits {
  const copy = areBrief ? newSet(rows.length) : undefined
  if (!copy) return rows.slice()
  copy.set(rows)
  return copy
}

/** Puts together the rows of lists. */
export class RowSetBuilder {
  readonly #rowCount: number
  readonly #lists: Int32Array[] = []
  #listed = 0
  #bits: RowBits | undefined

  constructor(rowCount: number) {
    this.#rowCount = rowCount
  }

  /** @param rows ascending */
  addList(rows: Int32Array): void {
    this.#lists.push(rows)
    this.#listed += rows.length
  }

  /** To which rows may be added. */
  get bits(): RowBits {
    this.#bits ??= newRows(this.#rowCount)
    return this.#bits
  }

  /** Whether there may be rows among the bits already. */
  get hasBits(): boolean {
    return this.#bits !== undefined
  }

  /** Undefined if there is none. */
  finish(): RowSet | undefined {
    if (!this.#bits && this.#listed === 0) return undefined
    if (!this.#bits && this.#listed <= mostFew(this.#rowCount)) return fewOf(this.#lists)
    const { bits } = this
    for (const list of this.#lists) for (let i = 0; i < list.length; i++) addRow(bits, list[i]!)
    return bits
  }
}

/** A list of so many takes an eighth of the bytes of the bits. */
function mostFew(rowCount: number): number {
  return Math.max(8, rowCount >> 8)
}

function fewOf(lists: readonly Int32Array[]): FewRows {
  const [only] = lists
  if (only && lists.length === 1) return new FewRows(only)
  const all = new Int32Array(lists.reduce((sum, { length }) => sum + length, 0))
  let count = 0
  for (const list of lists) {
    all.set(list, count)
    count += list.length
  }
  all.sort()
  return new FewRows(all.filter((row, i) => i === 0 || row !== all[i - 1]))
}

/** @param sets one or more, of the same rows */
export function unionOf(sets: readonly RowSet[]): RowSet {
  if (sets.length === 1) return sets[0]!
  const base = sets.find((set) => !(set instanceof FewRows)) as RowBits | undefined
  if (!base) return fewOf(sets.map((set) => (set as FewRows).rows))
  const all = copyOf(base)
  for (const set of sets) {
    if (!(set instanceof FewRows)) addAll(all, set)
    else for (const row of set.rows) addRow(all, row)
  }
  return all
}

/** @param sets one or more, of the same rows */
export function intersectionOf(sets: readonly RowSet[]): RowSet {
  const [first, ...others] = sets
  if (others.length === 0) return first!
  const few = sets.find((set) => set instanceof FewRows)
  if (few) {
    return new FewRows(few.rows.filter((row) => sets.every((set) => isInSet(set, row))))
  }
  const rows = copyOf(first as RowBits)
  for (const other of others) keepOnly(rows, other as RowBits)
  return rows
}

/** The rows that are not in the other set. */
export function without(set: RowSet, others: RowSet): RowSet {
  if (set instanceof FewRows) {
    return new FewRows(set.rows.filter((row) => !isInSet(others, row)))
  }
  const left = copyOf(set)
  if (!(others instanceof FewRows)) remove(left, others)
  else for (const row of others.rows) removeRow(left, row)
  return left
}

/** Whether no row is in the one set and not in the other. */
export function isWithin(set: RowSet, others: RowSet): boolean {
  if (set instanceof FewRows) return set.rows.every((row) => isInSet(others, row))
  if (others instanceof FewRows) return isEmpty(without(set, others) as RowBits)
  return isWithinBits(set, others)
}
