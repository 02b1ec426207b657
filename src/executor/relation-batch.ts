/** Gives batches of a relation to expressions. Stored rows are read when a field of them is. */
import { type BoundObject, hiddenField } from '../binder/bound.ts'
import { assert } from '../error.ts'
import type { RowView } from '../storage/row.ts'
import { type Path, type Value, valueAt } from '../type/value.ts'
import { granuleRows } from '../vector/column.ts'
import { versionKeyAt } from '../vector/row-keys.ts'
import {
  compactValues,
  rowsOf,
  type Selection,
  type Vector,
  valueReader,
} from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import type { Evaluator } from './compile.ts'
import type { Relation, RelationColumn } from './relation.ts'
import { ColumnBuilder, type ColumnVector, columnVector, sliceVector } from './relation-column.ts'
import type { RowList } from './row-buffer.ts'
import { noRow } from './row-choice.ts'
import type { TaskStorage } from './row-run.ts'
import { fieldOfRow } from './row-scan.ts'
import { checkCancelled } from './scan.ts'

/** Rows of a batch whose stored rows may be read: each may be some megabytes. */
const storedBatchRows = 256

/** A relation that is read batch by batch, by one task. */
export class RelationReader {
  readonly relation: Relation
  readonly #objects: ReadonlyMap<number, BoundObject>
  readonly #storage: TaskStorage
  readonly #cancelled: Int32Array | undefined
  readonly #groupColumns: readonly ColumnVector[]
  readonly #fields: ReadonlyMap<string, ColumnVector>

  constructor(
    relation: Relation,
    objects: readonly BoundObject[],
    storage: TaskStorage,
    cancelled: Int32Array | undefined,
  ) {
    this.relation = relation
    this.#objects = new Map(objects.map((object) => [object.number, object]))
    this.#storage = storage
    this.#cancelled = cancelled
    this.#groupColumns = relation.groupColumns.map(columnVector)
    this.#fields = new Map(
      relation.fields.map(({ name, values }) => [name, columnVector(values)] as const),
    )
    if (relation.rows && !this.#fields.has(hiddenField.object)) {
      const values = Float64Array.from(relation.rows.object)
      this.#fields = new Map([...this.#fields, [hiddenField.object, { kind: 'number', values }]])
    }
  }

  /** All rows in order. Throws QUERY_CANCELLED between batches. */
  *batches(): Generator<{ readonly from: number; readonly batch: RelationBatch }> {
    const { rowCount, rows } = this.relation
    const size = rows ? storedBatchRows : granuleRows
    for (let from = 0; from < rowCount; from += size) {
      checkCancelled(this.#cancelled)
      yield { from, batch: this.batch(from, Math.min(rowCount, from + size)) }
    }
  }

  /** Rows `from … to`. */
  batch(from: number, to: number): RelationBatch {
    return new RelationBatch(this, from, to)
  }

  /** What the expression gives for all rows. */
  evaluate(evaluator: Evaluator): RelationColumn {
    const builder = new ColumnBuilder(this.relation.rowCount)
    for (const { batch } of this.batches()) {
      builder.append(evaluator(batch, undefined), batch.rowCount, undefined)
    }
    return builder.finish()
  }

  groupColumn(index: number): ColumnVector {
    const column = this.#groupColumns[index]
    assert(column, 'an expression names a column that the aggregation does not give')
    return column
  }

  /** A field that is none of a stored row. */
  field(name: string): ColumnVector | undefined {
    return this.#fields.get(name)
  }

  /** Names of the fields that are none of stored rows, but for hidden ones. */
  shownFields(): string[] {
    return [...this.#fields.keys()].filter((name) => !name.startsWith('#'))
  }

  /** Undefined when the row is made of none. */
  storedRow(row: number): StoredRow | undefined {
    const { rows } = this.relation
    if (!rows) return undefined
    const number = rows.object[row]!
    if (number === noRow) return undefined
    const object = this.#objects.get(number)
    assert(object, 'a row belongs to an object that the plan does not name')
    const view = this.#storage.records.rowAt(number, versionKeyAt(rows, row))
    assert(view, 'a result names a row that the row store does not have')
    return { view, object }
  }
}

export interface StoredRow {
  readonly view: RowView
  readonly object: BoundObject
}

export class RelationBatch implements Batch {
  readonly rowCount: number
  readonly keys: RowList | undefined
  readonly #reader: RelationReader
  readonly #from: number
  readonly #to: number
  readonly #rows: (StoredRow | undefined)[] = []
  /** By path: the values that were read so far. */
  readonly #values = new Map<string, Value[]>()

  constructor(reader: RelationReader, from: number, to: number) {
    this.rowCount = to - from
    this.#reader = reader
    this.#from = from
    this.#to = to
    const { rows } = reader.relation
    this.keys = rows && viewRows(rows, from, to)
  }

  field(path: Path, selection: Selection): Vector {
    const field = this.#reader.field(String(path[0]))
    if (field) {
      const whole = sliceVector(field, this.#from, this.#to)
      return path.length === 1 ? whole : this.#inside(whole, path, selection)
    }
    if (!this.#reader.relation.rows) return { kind: 'constant', value: null }
    const key = JSON.stringify(path)
    const values = this.#values.get(key) ?? new Array<Value>(this.rowCount)
    this.#values.set(key, values)
    const alive = rowsOf(selection, this.rowCount)
    for (const row of alive) {
      if (values[row] === undefined) values[row] = this.#fieldOf(row, path)
    }
    return compactValues(values, alive)
  }

  isNull(path: Path, selection: Selection): Uint8Array {
    const read = valueReader(this.field(path, selection))
    const nulls = new Uint8Array(this.rowCount)
    for (const row of rowsOf(selection, this.rowCount)) nulls[row] = read(row) === null ? 1 : 0
    return nulls
  }

  groupColumn(index: number): Vector {
    return sliceVector(this.#reader.groupColumn(index), this.#from, this.#to)
  }

  /** The stored row that a row of the batch is made of, if it is. */
  storedRow(row: number): StoredRow | undefined {
    this.#rows[row] ??= this.#reader.storedRow(this.#from + row)
    return this.#rows[row]
  }

  #fieldOf(row: number, path: Path): Value {
    const stored = this.storedRow(row)
    return stored ? fieldOfRow(stored.view, path, stored.object) : null
  }

  #inside(field: Vector, path: Path, selection: Selection): Vector {
    const read = valueReader(field)
    const values = new Array<Value>(this.rowCount)
    const alive = rowsOf(selection, this.rowCount)
    for (const row of alive) values[row] = valueAt(read(row), path, 1)
    return compactValues(values, alive)
  }
}

/** Rows `from … to` of a list, sharing its memory. */
function viewRows(rows: RowList, from: number, to: number): RowList {
  return {
    object: rows.object.subarray(from, to),
    paginationTransaction: rows.paginationTransaction.subarray(from, to),
    paginationIndex: rows.paginationIndex.subarray(from, to),
    transaction: rows.transaction.subarray(from, to),
    index: rows.index.subarray(from, to),
  }
}
