import { newNumbers, newState } from '../../kernel/arena.ts'
import { sequence } from '../../kernel/sequence.ts'
import type { AggregateState } from '../aggregate/state.ts'
import type { ChosenValues } from '../column/chosen-values.ts'
import { pickedCodes } from '../column/gather-vector.ts'
import type { GroupTable } from '../column/group-table.ts'
import { ColumnBuilder, compactColumn, gatherColumn } from '../column/relation-column.ts'
import type { RowList } from '../column/row-list.ts'
import type { ColumnVector, WireValues } from '../column/wire-values.ts'
import type { Relation } from '../relation/relation.ts'
import { checkCancelled, inCheckedChunks } from '../thread/cancelled.ts'

type NumbersState = AggregateState & Required<Pick<AggregateState, 'writeResults'>>

const noGroups = new Int32Array(0)
const noNumbers = new Float64Array(0)

function hasNumbers(state: AggregateState): state is NumbersState {
  return state.writeResults?.(noGroups, noNumbers) === true
}

function writeAll(state: NumbersState, groups: Int32Array, out: Float64Array): void {
  inCheckedChunks(groups.length, (from, to) => {
    state.writeResults(groups.subarray(from, to), out.subarray(from, to))
  })
}

/** What is known of groups: their keys and aggregates, which are the columns of rows. */
class Groups {
  readonly keyCount: number
  readonly columnCount: number
  readonly #table: GroupTable
  readonly #states: readonly AggregateState[]
  readonly #values: readonly ChosenValues[]

  constructor(
    table: GroupTable,
    states: readonly AggregateState[],
    values: readonly ChosenValues[],
  ) {
    this.keyCount = table.keyCount
    this.columnCount = table.keyCount + states.length + values.length
    this.#values = values
    this.#table = table
    this.#states = states
  }

  /** The column in these groups; undefined: in all. */
  column(index: number, groups: Int32Array | undefined): WireValues {
    if (index < this.keyCount) {
      return compactColumn(this.#table.keyValues(index, groups))
    }
    const { groupCount } = this.#table
    const state = this.#states[index - this.keyCount]
    if (!state) {
      const value = this.#values[index - this.keyCount - this.#states.length]!
      const column = value.toColumn(groupCount)
      return groups ? gatherColumn(column, groups) : column
    }
    const wanted = groups ?? sequence(0, groupCount)
    if (hasNumbers(state)) {
      const values = new Float64Array(wanted.length)
      writeAll(state, wanted, values)
      return { kind: 'number', values }
    }
    const column = state.column?.(wanted)
    if (column) return column
    const builder = new ColumnBuilder(wanted.length)
    for (let i = 0; i < wanted.length; i++) {
      checkCancelled()
      builder.push(state.result(wanted[i]!))
    }
    return builder.finish()
  }

  /** See `GroupRelation.numbersOf`. */
  numbersOf(index: number, groups: Int32Array): Float64Array | undefined {
    const state = this.#numbersState(index)
    if (!state) return undefined
    const values = newState(groups.length, 0)
    writeAll(state, groups, values)
    return values
  }

  /** Instead of the column, of one that has only numbers: those of some of these groups at a time. */
  numberSlices(index: number, groups: Int32Array | undefined): ColumnSlices | undefined {
    const state = this.#numbersState(index)
    if (!state) return undefined
    return (from, to) => {
      const values = newNumbers(to - from)
      const wanted = groups ? groups.subarray(from, to) : sequence(from, to - from)
      state.writeResults(wanted, values)
      return { kind: 'number', values }
    }
  }

  #numbersState(index: number): NumbersState | undefined {
    const state = this.#states[index - this.keyCount]
    return state && hasNumbers(state) ? state : undefined
  }
}

/** Gives rows `from … to` of a column. */
export type ColumnSlices = (from: number, to: number) => ColumnVector

/** The rows that stand for groups; undefined: for all. */
type RowsOfGroups = (groups: Int32Array | undefined) => RowList

/**
 * Groups as rows. A column is made when it is asked for, and of the rows that are left by then: a
 * limit leaves few of many.
 */
export class GroupRelation implements Relation {
  readonly rowCount: number
  readonly fields = []
  readonly #groups: Groups
  /** The group of each row; undefined: row `i` is group `i`. */
  readonly #places: Int32Array | undefined
  readonly #columns: (WireValues | undefined)[]
  readonly #rowsOf: RowsOfGroups | undefined
  #rows: RowList | undefined

  private constructor(
    groups: Groups,
    rowCount: number,
    rowsOf: RowsOfGroups | undefined,
    places: Int32Array | undefined,
    columns: (WireValues | undefined)[],
  ) {
    this.#groups = groups
    this.rowCount = rowCount
    this.#rowsOf = rowsOf
    this.#places = places
    this.#columns = columns
  }

  /** The groups in the order in which they were first seen: keys, aggregates, values of their rows. */
  static of(
    table: GroupTable,
    states: readonly AggregateState[],
    values: readonly ChosenValues[],
    rowsOf: RowsOfGroups | undefined,
  ): GroupRelation {
    const groups = new Groups(table, states, values)
    return new GroupRelation(groups, table.groupCount, rowsOf, undefined, [])
  }

  /** Undefined when groups have none. */
  get rows(): RowList | undefined {
    this.#rows ??= this.#rowsOf?.(this.#places)
    return this.#rows
  }

  get groupColumns(): readonly WireValues[] {
    const columns: WireValues[] = []
    for (let i = 0; i < this.#groups.columnCount; i++) columns.push(this.groupColumn(i)!)
    return columns
  }

  /** Undefined when there is no such column. */
  groupColumn(index: number): WireValues | undefined {
    if (index >= this.#groups.columnCount) return undefined
    this.#columns[index] ??= this.#groups.column(index, this.#places)
    return this.#columns[index]
  }

  /**
   * Numbers of a column of which nothing is kept, good until the next task begins its states; undefined when it has
   * others, is there, or is of all groups.
   */
  numbersOf(index: number): Float64Array | undefined {
    if (this.#columns[index] || !this.#places) return undefined
    return this.#groups.numbersOf(index, this.#places)
  }

  /** A column of which nothing is kept, made as it is asked for: undefined when it is to be made as a whole. */
  numberSlices(index: number): ColumnSlices | undefined {
    return this.#columns[index] ? undefined : this.#groups.numberSlices(index, this.#places)
  }

  /** The rows of these indexes, in their order. */
  gather(rows: Int32Array): GroupRelation {
    const places = this.#places
    return new GroupRelation(
      this.#groups,
      rows.length,
      this.#rowsOf,
      places ? pickedCodes(places, rows) : rows,
      this.#columns.map((column) => column && gatherColumn(column, rows)),
    )
  }

  /** The same groups, which nobody asks for rows. */
  withoutRows(): GroupRelation {
    return new GroupRelation(this.#groups, this.rowCount, undefined, this.#places, this.#columns)
  }

  /** All columns as plain data. */
  toRelation(): Relation {
    const { rowCount, rows, groupColumns, fields } = this
    return { rowCount, rows, groupColumns, fields }
  }
}
