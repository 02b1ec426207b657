/**
 * Memtables: rows that were just written as columns in shared memory, so that queries need not
 * shred them, nor the flush that follows. They are a copy: the row store has the rows.
 */

import { LRUCache } from 'lru-cache'
import type { ObjectReference } from '../../type/record.ts'
import { rowsPerTransaction } from '../../type/transaction.ts'
import type { KeyColumns } from '../../vector/column.ts'
import { ColumnTable } from '../../vector/column-table.ts'
import { shareColumns } from '../../vector/shared-columns.ts'
import { rowBytes } from '../row/prepared-blocks.ts'
import { type PreparedRows, rowActions } from '../row/prepared-rows.ts'
import { RowView } from '../row/row.ts'
import { defaultMaximumValueBytes, shred } from '../shred/shred.ts'
import type { VersionedRow } from '../shred/shred-keys.ts'
import { type ChosenPath, choosePaths, PathCounter } from '../shred/shred-paths.ts'
import { shredPlainRows } from '../shred/shred-plain.ts'
import { RowShredder, type ShreddedColumns } from '../shred/shred-row.ts'

/** Prepared rows of one object, if all of them turn out to be new. */
export interface PreparedMemtable {
  /** The place of their object in `PreparedRows.objects`. */
  readonly object: number
  readonly rowCount: number
  /** Columns (`vector/shared-columns.ts`) whose keys are not all known: see `setKeys`. */
  readonly memory: SharedArrayBuffer
  /** Whether that is the memory which was given for it. */
  readonly isGiven: boolean
}

/** Rows of an object that were written after one transaction, and up to another. */
export interface LogRange {
  readonly object: number
  readonly after: number
  readonly through: number
}

/** Fewer rows are left to be shredded together with others. */
const defaultFewestRows = 128

/**
 * Requests of a thread for whose rows the same paths are taken, before they are chosen anew, and rows of
 * each that are looked at for that. A choice by rows of one time would take paths that are rare in all:
 * what has them is read again when memtables are merged.
 */
const requestsPerChoice = 16
const sampledPerRequest = 64

/** Objects whose paths a thread knows: rows of the same object mostly have the same. */
const keptChoices = 64

/** How the paths of an object's rows are chosen, request by request. */
class PathChoice {
  #paths: readonly ChosenPath[] | undefined
  #counter = new PathCounter(undefined)
  #requests = 0
  #rows = 0

  /** The paths for these rows: by those of earlier requests, if there were any. */
  next(rowCount: number, viewAt: (row: number) => RowView): readonly ChosenPath[] {
    const stride = Math.max(1, Math.floor(rowCount / sampledPerRequest))
    // Rows often repeat in a rhythm, so that each request begins elsewhere.
    for (let row = (this.#requests * 7) % stride; row < rowCount; row += stride)
      this.#counter.count(viewAt(row), stride)
    this.#rows += rowCount
    this.#paths ??= choosePaths([{ from: 0, to: rowCount }], viewAt, undefined)
    const chosen = this.#paths
    if (++this.#requests === requestsPerChoice) this.#chooseAnew()
    return chosen
  }

  #chooseAnew(): void {
    this.#counter.endRun(this.#rows)
    this.#paths = this.#counter.choose(this.#rows)
    this.#counter = new PathCounter(undefined)
    this.#requests = 0
    this.#rows = 0
  }
}

/** Makes memtables of prepared rows. One per thread, since rows mostly have the paths of those before. */
export class MemtableBuilder {
  readonly #choices = new LRUCache<string, PathChoice>({ max: keptChoices })
  readonly #fewestRows: number

  constructor(fewestRows = defaultFewestRows) {
    this.#fewestRows = fewestRows
  }

  /**
   * Memtables of the objects that have many rows, all of which replace what their record was.
   *
   * @param given is for one of them
   */
  make(rows: PreparedRows, given?: SharedArrayBuffer): readonly PreparedMemtable[] {
    // A request of more rows than a transaction has shows another one than its keys have.
    if (rows.requestEnds.length === 1 && rows.ids.length > rowsPerTransaction) return []
    const numbers = new Map<number, number[]>()
    for (const block of rows.blocks) {
      const known = numbers.get(block.object)
      if (known) for (const row of block.rows) known.push(row)
      else numbers.set(block.object, [...block.rows])
    }
    for (const { row } of rows.controls) numbers.delete(rows.objectOf[row]!)
    const memtables: PreparedMemtable[] = []
    for (const [object, ofObject] of numbers) {
      if (ofObject.length < this.#fewestRows) continue
      if (ofObject.some((row) => rows.actions[row] !== rowActions.replace)) continue
      const left = memtables.some(({ isGiven }) => isGiven) ? undefined : given
      const memory = this.#memtable(rows, object, ofObject, left)
      const isGiven = memory === left
      memtables.push({ object, rowCount: ofObject.length, memory, isGiven })
    }
    return memtables
  }

  #memtable(
    rows: PreparedRows,
    object: number,
    numbers: readonly number[],
    given: SharedArrayBuffer | undefined,
  ): SharedArrayBuffer {
    const rowCount = numbers.length
    const viewAt = (row: number) => new RowView(rowBytes(rows, numbers[row]!))
    const paths = this.#choice(rows.objects[object]!).next(rowCount, viewAt)
    const keys = newKeys(numbers.map((row) => rows.numbers[row]!))
    const columns = shredPlain(rows, numbers, paths) ?? shredViews(rowCount, viewAt, paths)
    return shareColumns(new ColumnTable({ rowCount, keys, ...columns }), given)
  }

  #choice({ type, id }: ObjectReference): PathChoice {
    const name = `${type}:${id}`
    const choice = this.#choices.get(name) ?? new PathChoice()
    this.#choices.set(name, choice)
    return choice
  }
}

function shredPlain(
  rows: PreparedRows,
  numbers: readonly number[],
  paths: readonly ChosenPath[],
): ShreddedColumns | undefined {
  const startOf = (row: number) => (row === 0 ? 0 : rows.ends[row - 1]!)
  const from = startOf(numbers[0]!)
  const bytes = rows.bytes.subarray(from, rows.ends[numbers.at(-1)!])
  const starts = numbers.map((row) => startOf(row) - from)
  const ends = numbers.map((row) => rows.ends[row]! - from)
  return shredPlainRows(bytes, starts, ends, paths, defaultMaximumValueBytes)
}

function shredViews(
  rowCount: number,
  viewAt: (row: number) => RowView,
  paths: readonly ChosenPath[],
): ShreddedColumns {
  const options = { fields: undefined, maximumValueBytes: defaultMaximumValueBytes }
  const shredder = new RowShredder(rowCount, paths, options)
  for (let row = 0; row < rowCount; row++) shredder.add(row, viewAt(row))
  return shredder.finish()
}

/** Keys of new records, as if the first transaction were 0, and without their object. */
function newKeys(numbers: readonly number[]): KeyColumns {
  const index = new Int32Array(numbers.length)
  const transaction = new Float64Array(numbers.length)
  numbers.forEach((number, row) => {
    index[row] = number % rowsPerTransaction
    transaction[row] = Math.floor(number / rowsPerTransaction)
  })
  return {
    object: new Int32Array(numbers.length),
    paginationTransaction: transaction,
    paginationIndex: index,
    transaction,
    index,
  }
}

/** Rows that were written, in any order, as a memtable; see `shareColumns`. */
export function memtableOf(
  rows: readonly VersionedRow[],
  given?: SharedArrayBuffer,
): SharedArrayBuffer {
  return shareColumns(shred(rows), given)
}
