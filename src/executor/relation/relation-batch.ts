/** Gives batches of a relation to expressions. Stored rows are read when a field of them is. */
import { type BoundObject, hiddenField, isHiddenField } from '../../binder/bound.ts'
import { assert } from '../../error.ts'
import type { ByteWriter } from '../../json/byte-writer.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { RowView } from '../../storage/row/row.ts'
import { isStoredField } from '../../type/record.ts'
import { type Path, type Value, valueAt } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import { versionKeyAt } from '../../vector/row-keys.ts'
import {
  compactValues,
  rowsOf,
  type Selection,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import { ColumnBuilder, vectorSlices } from '../column/relation-column.ts'
import { noRow } from '../column/row-choice.ts'
import type { RowList } from '../column/row-list.ts'
import type { ColumnVector, WireValues } from '../column/wire-values.ts'
import { type Batch, type Field, VectorField } from '../expression/batch.ts'
import type { Evaluator } from '../expression/evaluator.ts'
import type { FieldAtRow } from '../field/field-at-row.ts'
import type { ColumnSlices } from '../group/group-relation.ts'
import { storedRow, type TaskStorage } from '../scan/row-run.ts'
import { fieldOfRow } from '../scan/row-scan.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { comparedField, type Relation } from './relation.ts'
import { groupColumnSlices } from './relation-parts.ts'
import { type PlacedRows, RowColumns } from './row-columns.ts'

/** Rows of a batch whose stored rows may be read: each may be some megabytes. */
const storedBatchRows = 256

/** Where the stored rows of a relation are read. */
export interface RowSources {
  readonly storage: TaskStorage
  /** Those in which rows may be found. */
  readonly segments: readonly number[]
  /** The fields that will be read of each row; absent: these are not known. */
  readonly paths?: readonly Path[]
}

/**
 * Rows that are read from the row store alone: all bytes of a column are checked when a thread opens it first, which are
 * megabytes.
 */
const fewRows = 128

/** The stored row that a row of a relation is made of, or the one that this is compared with. */
type Side = 'rows' | 'compared'

/** A relation that is read batch by batch, by one task. */
export class RelationReader {
  readonly relation: Relation
  readonly #objects: ReadonlyMap<number, BoundObject>
  readonly #storage: TaskStorage
  readonly #groupColumns = new Map<number, ColumnSlices>()
  readonly #fields: ReadonlyMap<string, ColumnSlices>
  readonly #openColumns: ((side: Side) => RowColumns) | undefined
  readonly #columns = new Map<Side, RowColumns>()
  readonly #comparedPaths = new Map<Path, Path>()
  #objectNumbers: ColumnSlices | undefined

  constructor(
    relation: Relation,
    { objects }: Pick<PhysicalPlan, 'objects'>,
    { segments, paths = [], storage }: RowSources,
  ) {
    this.relation = relation
    this.#objects = new Map(objects.map((object) => [object.number, object]))
    this.#storage = storage
    this.#fields = new Map(
      relation.fields.map(({ name, values }) => [name, vectorSlices(values)] as const),
    )
    const isWorthColumns = relation.rowCount > fewRows && segments.length > 0
    // Not before they are asked: groups choose their rows when these are first asked for.
    if (isWorthColumns) {
      this.#openColumns = (side) => {
        return new RowColumns(objects, segments, this.#storedPaths(paths, side), storage)
      }
    }
  }

  /** All rows in order. Throws QUERY_CANCELLED between batches. */
  *batches(): Generator<{ readonly from: number; readonly batch: RelationBatch }> {
    const { rowCount, rows } = this.relation
    const size = rows ? storedBatchRows : granuleRows
    for (let from = 0; from < rowCount; from += size) {
      checkCancelled()
      yield { from, batch: this.batch(from, Math.min(rowCount, from + size)) }
    }
  }

  /** Rows `from … to`. */
  batch(from: number, to: number): RelationBatch {
    return new RelationBatch(this, from, to)
  }

  /** What the expression gives for all rows. */
  evaluate(evaluator: Evaluator): WireValues {
    const builder = new ColumnBuilder(this.relation.rowCount)
    for (const { batch } of this.batches()) {
      builder.append(evaluator(batch, undefined), batch.rowCount, undefined)
    }
    return builder.finish()
  }

  /** A column of the aggregation below. */
  groupColumn(index: number): ColumnSlices {
    let slices = this.#groupColumns.get(index)
    if (!slices) {
      slices = groupColumnSlices(this.relation, index)
      assert(slices, 'an expression names a column that the aggregation does not give')
      this.#groupColumns.set(index, slices)
    }
    return slices
  }

  /** A field that is none of a stored row. */
  field(name: string): ColumnSlices | undefined {
    if (name === hiddenField.object) this.#objectNumbers ??= this.#numbersOfObjects()
    return this.#fields.get(name) ?? (name === hiddenField.object ? this.#objectNumbers : undefined)
  }

  #numbersOfObjects(): ColumnSlices | undefined {
    const { rows } = this.relation
    if (!rows || this.#fields.has(hiddenField.object)) return undefined
    const values = new Float64Array(rows.object)
    for (let row = 0; row < values.length; row++)
      if (values[row] === noRow) values[row] = Number.NaN
    return vectorSlices({ kind: 'number', values })
  }

  /** Names of the fields that are none of stored rows, but for hidden ones. */
  shownFields(): string[] {
    return [...this.#fields.keys()].filter((name) => !isHiddenField(name))
  }

  /** Whether the field is read from the rows' stored text. */
  isStored(name: string): boolean {
    const { rows, compared } = this.relation
    if (!rows || this.#fields.has(name)) return false
    return isStoredField(name) && !(compared && name === comparedField.name)
  }

  /** Rows `from … to` where segments have them; undefined when none is looked for there. */
  placed(side: Side, from: number, to: number): PlacedRows | undefined {
    const rows = this.relation[side]
    if (!rows || !this.#openColumns) return undefined
    const columns = this.#columns.get(side) ?? this.#openColumns(side)
    this.#columns.set(side, columns)
    return columns.placed(rows, from, to)
  }

  /** `compared.id` as the row has it that is compared: `id`, the same object each time, by which columns are known. */
  comparedPath(path: Path): Path {
    const known = this.#comparedPaths.get(path) ?? path.slice(1)
    this.#comparedPaths.set(path, known)
    return known
  }

  /** Those of the paths that are fields of the stored rows of a side. */
  #storedPaths(paths: readonly Path[], side: Side): Path[] {
    const isCompared = (path: Path) => this.relation.compared && path[0] === comparedField.name
    if (side === 'rows') return paths.filter((path) => !isCompared(path))
    return paths
      .filter((path) => isCompared(path) && isPartOfCompared(path[1]))
      .map((path) => this.comparedPath(path))
  }

  objectOf(number: number): BoundObject {
    const object = this.#objects.get(number)
    assert(object, 'a row belongs to an object that the plan does not name')
    return object
  }

  /**
   * The stored row of a row of the list; undefined when it is made of none. Throws QUERY_CANCELLED: rows of an
   * order of their own may each lie in a block that is to be decompressed.
   */
  storedRow(rows: RowList | undefined, row: number): StoredRow | undefined {
    checkCancelled()
    const object = this.#objectAt(rows, row)
    if (!rows || !object) return undefined
    const view = storedRow(this.#storage.records, object, versionKeyAt(rows, row))
    assert(view, rowIsMissing)
    return { view, object }
  }

  /**
   * Appends the stored row of a row of the relation as `select: *` shows it, without making it first; false where it is
   * none, or is shown in another way. Throws as `storedRow`.
   */
  printStored(row: number, out: ByteWriter): boolean {
    checkCancelled()
    const { rows } = this.relation
    const object = this.#objectAt(rows, row)
    if (!rows || !object || object.isHistory) return false
    const printed = this.#storage.records.print(object, versionKeyAt(rows, row), out)
    assert(printed, rowIsMissing)
    return true
  }

  #objectAt(rows: RowList | undefined, row: number): BoundObject | undefined {
    const number = rows ? rows.object[row]! : noRow
    return number === noRow ? undefined : this.objectOf(number)
  }
}

const rowIsMissing = 'a result names a row that the row store does not have'

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
  readonly #compared: (StoredRow | undefined)[] = []
  /** By name of a field, and by index of a column of the aggregation. */
  readonly #slices = new Map<string | number, ColumnVector>()
  /** By path: the values that were read so far. */
  readonly #known = new Map<string, Value[]>()
  readonly #placed = new Map<Side, PlacedRows | undefined>()

  constructor(reader: RelationReader, from: number, to: number) {
    this.rowCount = to - from
    this.#reader = reader
    this.#from = from
    this.#to = to
    const { rows } = reader.relation
    this.keys = rows && viewRows(rows, from, to)
  }

  field(path: Path): Field {
    return new VectorField((selection) => this.#read(path, selection))
  }

  #read(path: Path, selection: Selection): Vector {
    const name = String(path[0])
    if (name === hiddenField.groupColumn) return this.#groupColumn(path[1] as number)
    const whole = this.#slice(name, this.#reader.field(name))
    if (whole) {
      if (path.length === 1) return whole
      const read = valueReader(whole)
      return this.#values(path, selection, (row) => valueAt(read(row), path, 1))
    }
    const { rows, compared } = this.#reader.relation
    if (compared && name === comparedField.name) {
      return this.#values(path, selection, this.#comparedBy(this.#reader.comparedPath(path)))
    }
    if (!rows) return { kind: 'constant', value: null }
    const known = this.inColumns(path)
    return this.#values(path, selection, (row) => {
      const value = known?.valueAt(row)
      return value === undefined ? fieldOf(this.storedRow(row), path) : value
    })
  }

  #groupColumn(index: number): Vector {
    return this.#slice(index, this.#reader.groupColumn(index))!
  }

  #slice(column: string | number, slices: ColumnSlices | undefined): ColumnVector | undefined {
    let vector = this.#slices.get(column)
    if (!vector && slices) {
      vector = slices(this.#from, this.#to)
      this.#slices.set(column, vector)
    }
    return vector
  }

  /** A field of stored rows by the columns of segments; undefined where these are not to be asked. */
  inColumns(path: Path, side: Side = 'rows'): FieldAtRow | undefined {
    if (!this.#placed.has(side)) {
      this.#placed.set(side, this.#reader.placed(side, this.#from, this.#to))
    }
    return this.#placed.get(side)?.field(path)
  }

  /** The stored row that a row of the batch is made of, if it is. */
  storedRow(row: number): StoredRow | undefined {
    this.#rows[row] ??= this.#reader.storedRow(this.#reader.relation.rows, this.#from + row)
    return this.#rows[row]
  }

  /** See `RelationReader.printStored`. */
  printStored(row: number, out: ByteWriter): boolean {
    return this.#reader.printStored(this.#from + row, out)
  }

  /** A field of the rows that are compared; null where there is none. */
  #comparedBy(path: Path): (row: number) => Value {
    const compared = this.#reader.relation.compared!
    const read = this.#comparedField(path, compared)
    return (row) => (compared.object[this.#from + row] === noRow ? null : read(row))
  }

  #comparedField(path: Path, compared: RowList): (row: number) => Value {
    const [name, ...rest] = path
    const made = (field: string) => {
      let read: ((row: number) => Value) | undefined
      return (row: number) => {
        read ??= valueReader(this.#slice(field, this.#reader.field(field))!)
        return valueAt(read(row), rest)
      }
    }
    if (name === 'scores') return made(hiddenField.comparedScores)
    if (name === 'metrics') return made(hiddenField.comparedMetrics)
    if (name === undefined) {
      const parts = [...comparedField.parts, 'scores', 'metrics'].sort()
      const readers = parts.map((part) => [part, this.#comparedField([part], compared)] as const)
      return (row) => {
        const whole: Record<string, Value> = Object.create(null)
        for (const [part, read] of readers) whole[part] = read(row)
        return whole
      }
    }
    if (!isPartOfCompared(name)) return () => null
    const known = this.inColumns(path, 'compared')
    return (row) => {
      const value = known?.valueAt(row)
      if (value !== undefined) return value
      this.#compared[row] ??= this.#reader.storedRow(compared, this.#from + row)
      return fieldOf(this.#compared[row], path)
    }
  }

  /** What `read` gives for the selected rows; each is read once. */
  #values(path: Path, selection: Selection, read: (row: number) => Value): Vector {
    const key = JSON.stringify(path)
    const values = this.#known.get(key) ?? new Array<Value>(this.rowCount)
    this.#known.set(key, values)
    const alive = rowsOf(selection, this.rowCount)
    for (const row of alive) if (values[row] === undefined) values[row] = read(row)
    return compactValues(values, alive)
  }
}

function isPartOfCompared(name: string | number | undefined): boolean {
  return comparedField.parts.some((part) => part === name)
}

function fieldOf(stored: StoredRow | undefined, path: Path): Value {
  return stored ? fieldOfRow(stored.view, path, stored.object) : null
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
