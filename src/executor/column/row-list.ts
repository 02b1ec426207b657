/** Rows by their keys, as parallel arrays: a result before its rows are read. */
import { pickCodes, pickNumbers } from '../../kernel/gather.ts'
import type { RowKeyArrays } from '../order/row-order.ts'
import { picked } from './gather-vector.ts'
import { grown } from './grown.ts'
import { sliceColumn } from './relation-column.ts'
import { newResultCodes, newResultNumbers, sliceArray } from './shared-array.ts'
import type { WireValues } from './wire-values.ts'

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

/** Rows up to which the first arrays of a list have room. */
const firstRoom = 64

/** A list that rows are added to: its arrays are longer than it. */
export class GrowingRows implements RowList {
  object = new Int32Array(firstRoom)
  paginationTransaction = new Float64Array(firstRoom)
  paginationIndex = new Int32Array(firstRoom)
  transaction = new Float64Array(firstRoom)
  index = new Int32Array(firstRoom)
  count = 0

  push(keys: RowKeyArrays, row: number): void {
    const at = this.count
    if (at === this.object.length) this.#makeRoom(at + 1)
    this.object[at] = keys.object[row]!
    this.paginationTransaction[at] = keys.paginationTransaction[row]!
    this.paginationIndex[at] = keys.paginationIndex[row]!
    this.transaction[at] = keys.transaction[row]!
    this.index[at] = keys.index[row]!
    this.count = at + 1
  }

  append(rows: RowList): void {
    this.#makeRoom(this.count + rows.object.length)
    place(this, rows, this.count)
    this.count += rows.object.length
  }

  /** Keeps the rows of these places alone, in their order. */
  keep(order: readonly number[]): void {
    Object.assign(this, this.pick(order))
    this.count = order.length
  }

  /** The rows of these places. */
  pick(order: readonly number[]): RowList {
    const { length } = order
    return {
      object: picked(this.object, order, newResultCodes(length)),
      paginationTransaction: picked(this.paginationTransaction, order, newResultNumbers(length)),
      paginationIndex: picked(this.paginationIndex, order, newResultCodes(length)),
      transaction: picked(this.transaction, order, newResultNumbers(length)),
      index: picked(this.index, order, newResultCodes(length)),
    }
  }

  #makeRoom(count: number): void {
    this.object = grown(this.object, count, 0)
    this.paginationTransaction = grown(this.paginationTransaction, count, 0)
    this.paginationIndex = grown(this.paginationIndex, count, 0)
    this.transaction = grown(this.transaction, count, 0)
    this.index = grown(this.index, count, 0)
  }
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

/** The rows of these indexes, in their order. */
export function gatherRows(list: RowList, rows: Int32Array): RowList {
  const gathered = {
    object: new Int32Array(rows.length),
    paginationTransaction: new Float64Array(rows.length),
    paginationIndex: new Int32Array(rows.length),
    transaction: new Float64Array(rows.length),
    index: new Int32Array(rows.length),
  }
  pickCodes(list.object, rows, gathered.object)
  pickNumbers(list.paginationTransaction, rows, gathered.paginationTransaction)
  pickCodes(list.paginationIndex, rows, gathered.paginationIndex)
  pickNumbers(list.transaction, rows, gathered.transaction)
  pickCodes(list.index, rows, gathered.index)
  return gathered
}

export function countRows(lists: readonly RowList[]): number {
  return lists.reduce((sum, { object }) => sum + object.length, 0)
}

/** The rows of all lists, one list after the other. */
export function concatenateRowLists(lists: readonly RowList[]): RowList {
  const count = countRows(lists)
  const all = {
    object: new Int32Array(count),
    paginationTransaction: new Float64Array(count),
    paginationIndex: new Int32Array(count),
    transaction: new Float64Array(count),
    index: new Int32Array(count),
  }
  let at = 0
  for (const list of lists) {
    place(all, list, at)
    at += list.object.length
  }
  return all
}

function place(all: RowList, list: RowList, at: number): void {
  all.object.set(list.object, at)
  all.paginationTransaction.set(list.paginationTransaction, at)
  all.paginationIndex.set(list.paginationIndex, at)
  all.transaction.set(list.transaction, at)
  all.index.set(list.index, at)
}

/** Rows `from … to`; all of them as they are. */
export function sliceSortedRows(rows: SortedRows, from: number, to: number): SortedRows {
  if (from === 0 && to === rows.object.length) return rows
  const keys = rows.keys.map((column) => sliceColumn(column, from, to))
  return { ...sliceRows(rows, from, to), keys }
}
