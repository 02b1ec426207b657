/** Gives batches of a `ColumnSet` to expressions. */
import type { BoundObject } from '../binder/bound.ts'
import type { Path } from '../type/value.ts'
import type { ColumnSet } from '../vector/column.ts'
import type { Selection, Vector } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { type FieldReader, openField, type RowFetcher } from './field-reader.ts'

/** The rows of one object in one column set. Batches share the field readers. */
export class ColumnScan {
  readonly #set: ColumnSet
  readonly #object: BoundObject
  readonly #rows: RowFetcher
  readonly #readers = new Map<string, FieldReader>()
  /** Bytes of columns that batches have read; values read one by one do not count. */
  bytesRead = 0

  constructor(set: ColumnSet, object: BoundObject, rows: RowFetcher) {
    this.#set = set
    this.#object = object
    this.#rows = rows
  }

  batch(from: number, rowCount: number): Batch {
    const vectors = new Map<FieldReader, Vector>()
    return {
      rowCount,
      field: (path, selection) => {
        const reader = this.#reader(path)
        let vector = vectors.get(reader)
        if (!vector) {
          vector = reader.read(from, rowCount, selection)
          this.bytesRead += bytesOf(vector, rowCount)
          vectors.set(reader, vector)
        }
        return vector
      },
      isNull: (path: Path, selection: Selection) =>
        this.#reader(path).isNull(from, rowCount, selection),
    }
  }

  #reader(path: Path): FieldReader {
    const key = path.length === 1 ? String(path[0]) : JSON.stringify(path)
    let reader = this.#readers.get(key)
    if (!reader) {
      reader = openField(this.#set, path, this.#object, this.#rows)
      this.#readers.set(key, reader)
    }
    return reader
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
