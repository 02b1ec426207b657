import type { BoundSortKey } from '../../binder/bound.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import { isTimeOfNumber, type Value } from '../../type/value.ts'
import { GrowingRows, type RowList, type SortedRows } from '../column/row-list.ts'
import type { SortThreshold } from '../scan/prune.ts'
import type { OrderResult, OrderTask } from '../task/task.ts'
import { checkAtTimes, inCheckedChunks } from '../thread/cancelled.ts'
import { KeyList } from './key-list.ts'
import { compareNewestFirst, type RowKeyArrays } from './row-order.ts'

/** Of a row, with its places while rows are put in order and in the list that is made of them. */
const rowBytes = 80

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
  readonly #rows = new GrowingRows()
  readonly #keys: readonly KeyList[]
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
    this.#keys = Array.from({ length: sort.length + carriedCount }, () => new KeyList())
  }

  get count(): number {
    return this.#rows.count
  }

  /** Whether wanted rows were left out, all of which come after those that it has. */
  get isPartial(): boolean {
    return this.#isPartial
  }

  /** About as many bytes as the rows take, with the texts among their keys. */
  get heldBytes(): number {
    return this.#keys.reduce((sum, key) => sum + key.heldBytes, this.count * rowBytes)
  }

  /** @param values read the row's sort keys and carried fields */
  push(keys: RowKeyArrays, row: number, values: readonly ((row: number) => Value)[]): void {
    this.#rows.push(keys, row)
    for (let k = 0; k < this.#keys.length; k++) this.#keys[k]!.push(values[k]!(row))
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
    return this.#isCut ? this.#keys[0]?.at(this.#limit - 1) : undefined
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
    this.#rows.append(rows)
    for (const [k, key] of this.#keys.entries()) key.append(rows.keys[k]!, rows.object.length)
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
    return { ...this.#rows.pick(order), keys: this.#keys.map((key) => key.pick(order)) }
  }

  /** Sorts the rows and drops those beyond the limit. */
  cut(): void {
    const order = this.#order()
    this.#isCut = this.#limit > 0 && order.length === this.#limit
    this.#rows.keep(order)
    for (const key of this.#keys) key.keep(order)
  }

  /** Places of the wanted rows, in order. */
  #order(): number[] {
    // Of an array, unlike a typed one, V8 finds the lists that are in order already.
    const order: number[] = new Array(this.count)
    inCheckedChunks(this.count, (from, to) => {
      for (let place = from; place < to; place++) order[place] = place
    })
    order.sort((a, b) => this.#compare(a, b))
    if (order.length > this.#limit) order.length = this.#limit
    return order
  }

  #compare(a: number, b: number): number {
    checkAtTimes()
    for (let k = 0; k < this.#descending.length; k++) {
      const order = this.#keys[k]!.compare(a, b, this.#descending[k]!)
      if (order !== 0) return order
    }
    return compareNewestFirst(this.#rows, a, this.#rows, b)
  }
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
  if (isTimeOfNumber(value)) return { kind: 'timestamp', value: value.ms }
  return undefined
}

/** How many values the plan's scans keep with a row besides its sort keys. */
export function carriedCount({ stage }: PhysicalPlan): number {
  return stage.kind === 'rows' ? stage.carried.length : 0
}
