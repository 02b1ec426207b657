/** Gives batches of a `ColumnSet` to expressions. */
import type { BoundObject } from '../../binder/bound.ts'
import { isStoredField } from '../../type/record.ts'
import type { Path } from '../../type/value.ts'
import type { ColumnSet, KeyColumns } from '../../vector/column.ts'
import type { SharedCodes } from '../../vector/shared-dictionary.ts'
import type { DictionaryVector, NumberVector, Selection, Vector } from '../../vector/vector.ts'
import type { RowList } from '../column/row-list.ts'
import {
  type Batch,
  type Encoding,
  Field,
  type FieldSource,
  type ObjectMember,
  type Presence,
  type StoredField,
} from '../expression/batch.ts'
import { ObjectMembers } from '../expression/object-members.ts'
import { openField, type RowFetcher } from '../field/column-reader.ts'
import type { FieldReader } from '../field/field-reader.ts'
import type { SegmentDictionaries } from '../task/task-dictionaries.ts'
import { ValueCache } from '../thread/value-cache.ts'

/**
 * By set and field: the next query finds there where its fields are, and what was made of the entries of their
 * dictionaries.
 */
const lastingReaders = new ValueCache<FieldReader>()

/** A field reader with its number among those of its scan. */
interface OpenedField {
  readonly reader: FieldReader
  readonly place: number
}

/** The rows of one object in one column set. Batches share the field readers. */
export class ColumnScan {
  readonly set: ColumnSet
  readonly #object: BoundObject
  readonly #rows: RowFetcher
  readonly #dictionaries: SegmentDictionaries | undefined
  readonly #fields = new Map<string, OpenedField>()
  /** By the paths of the plan's expressions, which are the same in all batches. */
  readonly #fieldsByPath = new Map<Path, OpenedField>()
  readonly #members = new Map<string, ObjectMembers>()
  /** Bytes of columns that batches have read; values read one by one do not count. */
  bytesRead = 0

  /** @param dictionaries those of the segment that the set is, if it is one */
  constructor(
    set: ColumnSet,
    object: BoundObject,
    rows: RowFetcher,
    dictionaries: SegmentDictionaries | undefined,
  ) {
    this.set = set
    this.#object = object
    this.#rows = rows
    this.#dictionaries = dictionaries
  }

  batch(from: number, rowCount: number): Batch {
    return new ColumnBatch(this, from, rowCount)
  }

  sharedCodes(path: Path, from: number, rowCount: number): SharedCodes | undefined {
    if (!this.#dictionaries?.has(path)) return undefined
    const column = this.field(path).reader.textColumn(from, rowCount)
    if (!column) return undefined
    this.bytesRead += rowCount * 4
    return this.#dictionaries.codesOf(path, column, from, rowCount)
  }

  /** Undefined for what is no object of a row's text. */
  membersOf(path: Path): ObjectMembers | undefined {
    if (!isStoredField(String(path[0])) || path.some((part) => typeof part === 'number')) {
      return undefined
    }
    const key = JSON.stringify(path)
    let members = this.#members.get(key)
    if (!members) {
      members = new ObjectMembers(this.set, path as readonly string[])
      this.#members.set(key, members)
    }
    return members
  }

  field(path: Path): OpenedField {
    const known = this.#fieldsByPath.get(path)
    if (known) return known
    const key = path.length === 1 ? String(path[0]) : JSON.stringify(path)
    let field = this.#fields.get(key)
    if (!field) {
      const reader = this.#open(path, key)
      field = { reader, place: this.#fields.size }
      this.#fields.set(key, field)
    }
    this.#fieldsByPath.set(path, field)
    return field
  }

  #open(path: Path, key: string): FieldReader {
    const { set } = this
    const known = lastingReaders.get(set, key)
    if (known) return known
    const reader = openField(set, path, this.#object, this.#rows)
    const { lastingBytes } = reader
    if (lastingBytes !== undefined) lastingReaders.set(set, reader, lastingBytes, key)
    return reader
  }
}

class ColumnBatch implements Batch {
  readonly scan: ColumnScan
  readonly from: number
  readonly rowCount: number
  /** By their places in the scan. */
  readonly #fields: (ColumnField | undefined)[] = []

  constructor(scan: ColumnScan, from: number, rowCount: number) {
    this.scan = scan
    this.from = from
    this.rowCount = rowCount
  }

  get keys(): RowList {
    return keysBetween(this.scan.set.keys, this.from, this.from + this.rowCount)
  }

  field(path: Path): Field {
    const { reader, place } = this.scan.field(path)
    let field = this.#fields[place]
    if (!field) {
      field = new ColumnField(this, path, reader)
      this.#fields[place] = field
    }
    return field
  }
}

/** What was found and read of a field is kept for the batch. */
class ColumnField extends Field {
  readonly #batch: ColumnBatch
  readonly #path: Path
  readonly #reader: FieldReader
  #encoding: Encoding | undefined
  #vector: Vector | undefined
  #isCounted = false

  constructor(batch: ColumnBatch, path: Path, reader: FieldReader) {
    super()
    this.#batch = batch
    this.#path = path
    this.#reader = reader
  }

  override get encoding(): Encoding {
    if (!this.#encoding) {
      const { from, rowCount } = this.#batch
      const encoding = this.#reader.encoding(from, rowCount)
      this.#encoding = encoding
      // As vectors have them, so that what is told depends on no form of storing.
      if (encoding.kind === 'narrow') this.#count(rowCount * widthOf(encoding.stored))
      if (encoding.kind === 'flat') this.#count(rowCount * widthOf(encoding.vector))
    }
    return this.#encoding
  }

  override get presence(): Presence | undefined {
    return this.#reader.presence(this.#batch.from, this.#batch.rowCount)
  }

  override get shared(): SharedCodes | undefined {
    return this.#batch.scan.sharedCodes(this.#path, this.#batch.from, this.#batch.rowCount)
  }

  override get members(): readonly ObjectMember[] | undefined {
    const { scan, from, rowCount } = this.#batch
    const members = scan.membersOf(this.#path)?.between(from, from + rowCount)
    return members?.map(({ name, path }) => ({ name, field: this.#batch.field(path) }))
  }

  override get source(): FieldSource {
    const { scan, from } = this.#batch
    const apart = () => new ColumnField(this.#batch, this.#path, this.#reader)
    return { set: scan.set, first: from, apart }
  }

  read(selection: Selection): Vector {
    let vector = this.#vector
    if (!vector) {
      const { from, rowCount } = this.#batch
      vector = this.#reader.read(from, rowCount, selection)
      this.#vector = vector
      this.#count(bytesOf(vector, rowCount))
    }
    return vector
  }

  override nulls(_: number, selection: Selection): Uint8Array {
    return this.#reader.nulls(this.#batch.from, this.#batch.rowCount, selection)
  }

  #count(bytes: number): void {
    if (!this.#isCounted) this.#batch.scan.bytesRead += bytes
    this.#isCounted = true
  }
}

function widthOf({ kind }: StoredField | NumberVector | DictionaryVector): number {
  return kind === 'dictionary' ? 4 : 8
}

/** The keys of rows `from … to`, in place. */
export function keysBetween(keys: KeyColumns, from: number, to: number): RowList {
  return {
    object: keys.object.subarray(from, to),
    paginationTransaction: keys.paginationTransaction.subarray(from, to),
    paginationIndex: keys.paginationIndex.subarray(from, to),
    transaction: keys.transaction.subarray(from, to),
    index: keys.index.subarray(from, to),
  }
}

function bytesOf(vector: Vector, rowCount: number): number {
  switch (vector.kind) {
    case 'number':
    case 'timestamp':
      return rowCount * 8
    case 'dictionary':
      return rowCount * 4
    case 'boolean':
      return rowCount / 8
    case 'text': {
      const { first, texts } = vector
      return texts.offsets[first + rowCount]! - texts.offsets[first]! + rowCount * 4
    }
    default:
      return 0
  }
}
