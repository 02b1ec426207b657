/**
 * Fields of stored rows by the columns of segments. The text of a row lies in a block with others, so that rows in an
 * order of their own have a block decompressed for each of them; a column is asked for one value in some ten
 * nanoseconds.
 */
import type { BoundObject } from '../../binder/bound.ts'
import type { ObjectRows } from '../../storage/segment/metadata.ts'
import type { Path } from '../../type/value.ts'
import type { ColumnSet } from '../../vector/column.ts'
import { comparePagination, lowerBound, paginationKeyAt } from '../../vector/row-keys.ts'
import type { RowList } from '../column/row-list.ts'
import { type FieldAtRow, fieldAtRow } from '../field/field-at-row.ts'
import type { TaskStorage } from '../scan/row-run.ts'
import type { TaskInput } from '../task/task.ts'

/** The segments among inputs. */
export function segmentsOf(inputs: readonly TaskInput[]): number[] {
  const segments = new Set<number>()
  for (const input of inputs) if (input.kind === 'segment') segments.add(input.segment)
  return [...segments]
}

export class RowColumns {
  readonly #parts = new Map<number, readonly ObjectPart[]>()
  /** That of the row which was found last. */
  #last: ObjectPart | undefined

  /**
   * @param segments those that may have rows of the objects
   * @param paths rows are looked for where the columns have all of these: a row that is to be read for one field tells
   *     the others, too
   */
  constructor(
    objects: readonly BoundObject[],
    segments: readonly number[],
    paths: readonly Path[],
    storage: Pick<TaskStorage, 'openSegment' | 'segmentMetadata'>,
  ) {
    for (const object of objects) {
      // An entry of a history is made of a row, and is not the row.
      if (object.isHistory) continue
      const parts = segments.flatMap((segment) => {
        const { objects } = storage.segmentMetadata(segment)
        const rows = objects.find((each) => each.object === object.number)
        return rows ? [new ObjectPart(object, rows, paths, () => storage.openSegment(segment))] : []
      })
      if (parts.length > 0) this.#parts.set(object.number, parts)
    }
  }

  /** Rows `from … to` of the list. */
  placed(list: RowList, from: number, to: number): PlacedRows {
    const parts = new Array<ObjectPart | undefined>(to - from)
    const rows = new Int32Array(to - from)
    for (let i = 0; i < rows.length; i++) {
      const part = this.#partOf(list, from + i)
      parts[i] = part
      if (part) rows[i] = part.found
    }
    return new PlacedRows(parts, rows)
  }

  /** The part that has the row, as its `found`; undefined when none has. */
  #partOf(list: RowList, row: number): ObjectPart | undefined {
    const object = list.object[row]!
    const last = this.#last
    if (last?.object.number === object && last.find(list, row)) return last
    const parts = this.#parts.get(object)
    if (!parts) return undefined
    for (const part of parts) {
      if (part === last || !part.find(list, row)) continue
      this.#last = part
      return part
    }
    return undefined
  }
}

/** Rows in the order of a list, each in a segment or in none. */
export class PlacedRows {
  readonly #parts: readonly (ObjectPart | undefined)[]
  /** Their rows in the segments. */
  readonly #rows: Int32Array

  constructor(parts: readonly (ObjectPart | undefined)[], rows: Int32Array) {
    this.#parts = parts
    this.#rows = rows
  }

  /** The field in these rows. */
  field(path: Path): FieldAtRow {
    let last: ObjectPart | undefined
    let field: FieldAtRow | undefined
    const fieldOf = (row: number) => {
      const part = this.#parts[row]
      if (part !== last) {
        last = part
        field = part?.field(path)
      }
      return field
    }
    return {
      valueAt: (row) => fieldOf(row)?.valueAt(this.#rows[row]!),
      textAt: (row) => fieldOf(row)?.textAt(this.#rows[row]!),
    }
  }
}

/** The rows of one object in one segment. */
class ObjectPart {
  readonly object: BoundObject
  /** The row that `find` found last. */
  found: number
  readonly #rows: ObjectRows
  readonly #paths: readonly Path[]
  readonly #open: () => ColumnSet
  #opened: OpenedPart | undefined
  readonly #fields = new Map<Path, FieldAtRow | undefined>()

  constructor(
    object: BoundObject,
    rows: ObjectRows,
    paths: readonly Path[],
    open: () => ColumnSet,
  ) {
    this.object = object
    this.found = rows.to
    this.#rows = rows
    this.#paths = paths
    this.#open = open
  }

  /** Whether it has the version that the row of the list is. */
  find(list: RowList, row: number): boolean {
    const key = paginationKeyAt(list, row)
    const { from, to, firstPagination, lastPagination } = this.#rows
    if (key.transaction < firstPagination.transaction) return false
    if (key.transaction > lastPagination.transaction) return false
    const { keys } = this.#openedPart()
    if (!keys) return false
    // Most lists have the newest row first.
    let at = this.found - 1
    if (at < from || comparePagination(keys, at, key) !== 0) at = lowerBound(keys, from, to, key)
    while (at > from && comparePagination(keys, at - 1, key) === 0) at--
    for (; at < to && comparePagination(keys, at, key) === 0; at++) {
      if (keys.transaction[at] !== list.transaction[row]) continue
      if (keys.index[at] !== list.index[row]) continue
      this.found = at
      return true
    }
    return false
  }

  field(path: Path): FieldAtRow | undefined {
    return this.#fieldOf(this.#openedPart().set, path)
  }

  #fieldOf(set: ColumnSet, path: Path): FieldAtRow | undefined {
    if (!this.#fields.has(path)) this.#fields.set(path, fieldAtRow(set, path, this.object))
    return this.#fields.get(path)
  }

  #openedPart(): OpenedPart {
    if (!this.#opened) {
      const set = this.#open()
      const hasAll = this.#paths.every((path) => this.#fieldOf(set, path) !== undefined)
      this.#opened = { set, keys: hasAll ? rowKeysOf(set) : undefined }
    }
    return this.#opened
  }
}

interface OpenedPart {
  readonly set: ColumnSet
  /** Undefined where no row is to be looked for. */
  readonly keys: RowList | undefined
}

/** As properties, which are read for each row; those of a set are opened when they are asked for. */
function rowKeysOf({ keys }: ColumnSet): RowList {
  const { object, paginationTransaction, paginationIndex, transaction, index } = keys
  return { object, paginationTransaction, paginationIndex, transaction, index }
}
