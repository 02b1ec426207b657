import type { BoundSortKey } from '../../binder/bound.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { Timestamp, type Value } from '../../type/value.ts'
import { valueReader } from '../../vector/vector.ts'
import { keyColumn } from '../column/key-column.ts'
import { sliceColumn } from '../column/relation-column.ts'
import { valueBytes } from '../column/value-bytes.ts'
import { vectorOf, type WireValues } from '../column/wire-values.ts'
import type { SortThreshold } from '../scan/prune.ts'
import { sliceArray } from '../task/share-result.ts'
import type { OrderResult, OrderTask } from '../task/task.ts'
import { checkAtTimes, checkCancelled } from '../thread/cancelled.ts'
import { compareNewestFirst, compareNullsLast } from './row-order.ts'

/** Rows by their keys, as parallel arrays: a result before its rows are read. */
export interface RowList {
  /** Number of the object that holds the row. */
  readonly object: Int32Array
  readonly paginationTransaction: Float64Array
  readonly paginationIndex: Int32Array
  readonly transaction: Float64Array
  readonly index: Int32Array
}

/** A row list with the values of the sort keys, key by key, and then of the carried fields. */
export interface SortedRows extends RowList {
  readonly keys: readonly WireValues[]
}

/** Of a row, and of a key that comes with it, in arrays of numbers and values. */
const [rowBytes, keyBytes] = [40, 48]

const noEnds: ReadonlySet<number> = new Set()

/** Room for at least this many rows beyond the limit before the worst are thrown out. */
const slackRows = 256

/**
 * Keeps the first rows of an order (`executor/order/row-order.ts`): the same rows win whatever order they
 * come in. What an unpivot has made of one row comes in the order in which it was pushed.
 */
export class RowBuffer {
  readonly #descending: readonly boolean[]
  #limit: number
  readonly #rows = {
    object: [] as number[],
    paginationTransaction: [] as number[],
    paginationIndex: [] as number[],
    transaction: [] as number[],
    index: [] as number[],
  }
  readonly #keys: Value[][]
  /** Of values that are not numbers. */
  #valueBytes = 0
  /** Whether the `limit`-th row was the last of the wanted when rows were last cut. */
  #isCut = false
  #isPartial = false

  /**
   * @param limit how many rows are wanted; may be infinite
   * @param carriedCount how many values come with a row besides its sort keys
   */
  constructor(sort: readonly BoundSortKey[], limit: number, carriedCount: number) {
    this.#descending = sort.map((key) => key.descending)
    this.#limit = limit
    this.#keys = Array.from({ length: sort.length + carriedCount }, () => [])
  }

  get count(): number {
    return this.#rows.object.length
  }

  /** Whether wanted rows were left out, all of which come after those that it has. */
  get isPartial(): boolean {
    return this.#isPartial
  }

  /** About as many bytes as the rows take, with the texts among their keys. */
  get heldBytes(): number {
    return this.count * (rowBytes + keyBytes * this.#keys.length) + this.#valueBytes
  }

  push(
    object: number,
    paginationTransaction: number,
    paginationIndex: number,
    transaction: number,
    index: number,
    keys: readonly Value[],
  ): void {
    this.#rows.object.push(object)
    this.#rows.paginationTransaction.push(paginationTransaction)
    this.#rows.paginationIndex.push(paginationIndex)
    this.#rows.transaction.push(transaction)
    this.#rows.index.push(index)
    for (let k = 0; k < this.#keys.length; k++) {
      const key = keys[k]!
      this.#keys[k]!.push(key)
      if (typeof key !== 'number') this.#valueBytes += valueBytes(key)
    }
  }

  /** Throws out rows that cannot be among the first, if there are enough of them to be worth it. */
  trim(): void {
    const slack = this.#isCut ? Math.max(slackRows, this.#limit) : 0
    if (this.count >= this.#limit + slack) this.cut()
  }

  /** Leaves out the half of its rows that come last, and wants no more than are left from then on. */
  halve(): void {
    this.#limit = Math.min(this.#limit, Math.ceil(this.count / 2))
    this.#isPartial = true
    this.cut()
  }

  /** The first sort key of the last row that is still wanted; undefined while any row may be wanted. */
  get lastKey(): Value | undefined {
    return this.#isCut ? this.#keys[0]?.[this.#limit - 1] : undefined
  }

  /** Whether a row that ties with the last wanted one in all sort keys comes after it. */
  isAfterLast(keys: RowList, row: number): boolean {
    return this.#isCut && compareNewestFirst(keys, row, this.#rows, this.#limit - 1) > 0
  }

  /**
   * The first sort key of the last row that is still wanted, as a number: rows that come after it in
   * that key need not be pushed. Undefined while any row may be wanted.
   */
  threshold(): SortThreshold | undefined {
    const { lastKey } = this
    return lastKey === undefined ? undefined : thresholdOf(lastKey)
  }

  add(rows: SortedRows): void {
    const readers = rows.keys.map((column) => valueReader(vectorOf(column)))
    for (let i = 0; i < rows.object.length; i++) {
      checkAtTimes()
      this.push(
        rows.object[i]!,
        rows.paginationTransaction[i]!,
        rows.paginationIndex[i]!,
        rows.transaction[i]!,
        rows.index[i]!,
        readers.map((read) => read(i)),
      )
    }
  }

  /**
   * The wanted rows in order.
   *
   * @param ends places of rows, as they were pushed, after each of which rows may be missing: those that come
   *     after the first of these are left out
   */
  finish(ends: ReadonlySet<number> = noEnds): SortedRows {
    const order = this.#order()
    if (ends.size > 0) {
      const last = order.findIndex((place) => ends.has(place))
      if (last >= 0) {
        this.#isPartial = true
        order.length = last + 1
      }
    }
    const { object, paginationTransaction, paginationIndex, transaction, index } = this.#rows
    const newIntegers = () => new Int32Array(order.length)
    const newNumbers = () => new Float64Array(order.length)
    return {
      object: picked(object, order, newIntegers()),
      paginationTransaction: picked(paginationTransaction, order, newNumbers()),
      paginationIndex: picked(paginationIndex, order, newIntegers()),
      transaction: picked(transaction, order, newNumbers()),
      index: picked(index, order, newIntegers()),
      keys: this.#keys.map((column) => keyColumn(picked(column, order, []))),
    }
  }

  /** Sorts the rows and drops those beyond the limit. */
  cut(): void {
    const order = this.#order()
    this.#isCut = this.#limit > 0 && order.length === this.#limit
    const columns: unknown[][] = [...Object.values(this.#rows), ...this.#keys]
    for (const column of columns) {
      const kept = picked(column, order, [] as unknown[])
      column.length = 0
      for (const value of kept) column.push(value)
    }
    if (this.#valueBytes > 0) this.#valueBytes = sizeOf(this.#keys)
  }

  /** Places of the wanted rows, in order. */
  #order(): number[] {
    // Of an array, unlike a typed one, V8 finds the lists that are in order already.
    const order = Array.from(sequence(0, this.count))
    checkCancelled()
    order.sort((a, b) => this.#compare(a, b))
    if (order.length > this.#limit) order.length = this.#limit
    return order
  }

  #compare(a: number, b: number): number {
    checkAtTimes()
    for (let k = 0; k < this.#descending.length; k++) {
      const column = this.#keys[k]!
      const order = compareNullsLast(column[a]!, column[b]!, this.#descending[k]!)
      if (order !== 0) return order
    }
    return compareNewestFirst(this.#rows, a, this.#rows, b)
  }
}

/** Writes the values of these places, in their order. */
function picked<T, Out extends { [place: number]: T }>(
  column: readonly T[],
  order: readonly number[],
  out: Out,
): Out {
  for (let i = 0; i < order.length; i++) {
    checkAtTimes()
    out[i] = column[order[i]!]! as Out[number]
  }
  return out
}

function sizeOf(columns: readonly (readonly Value[])[]): number {
  let bytes = 0
  for (const column of columns) {
    for (const value of column) {
      checkAtTimes()
      bytes += valueBytes(value)
    }
  }
  return bytes
}

export function runOrder({ plan, lists, partial, wanted }: OrderTask): OrderResult {
  const buffer = new RowBuffer(plan.sort, wanted, carriedCount(plan))
  const ends = new Set<number>()
  for (const [i, list] of lists.entries()) {
    buffer.add(list)
    if (partial.includes(i)) ends.add(buffer.count - 1)
  }
  const rows = buffer.finish(ends)
  return { kind: 'order', rows, isPartial: buffer.isPartial }
}

/** Undefined for values that are no numbers. */
export function thresholdOf(value: Value): SortThreshold | undefined {
  if (typeof value === 'number') return { kind: 'number', value }
  if (value instanceof Timestamp) return { kind: 'timestamp', value: value.ms }
  return undefined
}

/** How many values the plan's scans keep with a row besides its sort keys. */
export function carriedCount({ stage }: PhysicalPlan): number {
  return stage.kind === 'rows' ? stage.carried.length : 0
}

/** Rows `from … to` of a list. */
export function sliceRows(rows: RowList, from: number, to: number): RowList {
  return {
    object: sliceArray(rows.object, from, to),
    paginationTransaction: sliceArray(rows.paginationTransaction, from, to),
    paginationIndex: sliceArray(rows.paginationIndex, from, to),
    transaction: sliceArray(rows.transaction, from, to),
    index: sliceArray(rows.index, from, to),
  }
}

/** The rows of all lists, one list after the other. */
export function concatenateRowLists(lists: readonly RowList[]): RowList {
  const count = lists.reduce((sum, list) => sum + list.object.length, 0)
  const all = {
    object: new Int32Array(count),
    paginationTransaction: new Float64Array(count),
    paginationIndex: new Int32Array(count),
    transaction: new Float64Array(count),
    index: new Int32Array(count),
  }
  let at = 0
  for (const list of lists) {
    all.object.set(list.object, at)
    all.paginationTransaction.set(list.paginationTransaction, at)
    all.paginationIndex.set(list.paginationIndex, at)
    all.transaction.set(list.transaction, at)
    all.index.set(list.index, at)
    at += list.object.length
  }
  return all
}

/** Rows `from … to`; all of them as they are. */
export function sliceSortedRows(rows: SortedRows, from: number, to: number): SortedRows {
  if (from === 0 && to === rows.object.length) return rows
  const keys = rows.keys.map((column) => sliceColumn(column, from, to))
  return { ...sliceRows(rows, from, to), keys }
}
