/** Gives batches of a `ColumnSet` to expressions. */
import type { BoundObject } from '../binder/bound.ts'
import { isStoredField } from '../type/record.ts'
import type { Path } from '../type/value.ts'
import type { ColumnSet, KeyColumns } from '../vector/column.ts'
import { hasRow } from '../vector/row-bits.ts'
import type { SharedCodes } from '../vector/shared-dictionary.ts'
import { rowsOf, type Selection, type Vector } from '../vector/vector.ts'
import type { Batch, FieldPart } from './batch.ts'
import { type FieldReader, openField, type RowFetcher } from './field-reader.ts'
import { variantsOf } from './field-variants.ts'
import type { FoundRows } from './found-rows.ts'
import { ObjectMembers } from './object-members.ts'
import type { RowList } from './row-buffer.ts'
import type { SegmentDictionaries } from './task-dictionaries.ts'
import { rowsWithPhrase, type SoughtPhrases } from './text-candidates.ts'

const noneSelected = new Int32Array(0)

/** The rows of one object in one column set. Batches share the field readers. */
export class ColumnScan {
  readonly #set: ColumnSet
  readonly #object: BoundObject
  readonly #rows: RowFetcher
  readonly #dictionaries: SegmentDictionaries | undefined
  readonly #readers = new Map<string, FieldReader>()
  /** By the paths of the plan's expressions, which are the same in all batches. */
  readonly #readersByPath = new Map<Path, FieldReader>()
  readonly #members = new Map<string, ObjectMembers>()
  readonly #phraseRows = new Map<SoughtPhrases, Map<Path, FoundRows['may'] | undefined>>()
  /** Bytes of columns that batches have read; values read one by one do not count. */
  bytesRead = 0

  /** @param dictionaries those of the segment that the set is, if it is one */
  constructor(
    set: ColumnSet,
    object: BoundObject,
    rows: RowFetcher,
    dictionaries: SegmentDictionaries | undefined,
  ) {
    this.#set = set
    this.#object = object
    this.#rows = rows
    this.#dictionaries = dictionaries
  }

  batch(from: number, rowCount: number): Batch {
    const vectors = new Map<FieldReader, Vector>()
    const field = (path: Path, selection: Selection): Vector => {
      const reader = this.#reader(path)
      let vector = vectors.get(reader)
      if (!vector) {
        vector = reader.read(from, rowCount, selection)
        this.bytesRead += bytesOf(vector, rowCount)
        vectors.set(reader, vector)
      }
      return vector
    }
    const partsOfFields = new Map<FieldReader, readonly FieldPart[] | undefined>()
    const parts = (path: Path): readonly FieldPart[] | undefined => {
      const reader = this.#reader(path)
      if (!partsOfFields.has(reader)) partsOfFields.set(reader, reader.parts?.(from, rowCount))
      return partsOfFields.get(reader)
    }
    const { keys } = this.#set
    return {
      rowCount,
      get keys() {
        return keysBetween(keys, from, from + rowCount)
      },
      field,
      isVaried: (path) => parts(path) !== undefined,
      parts,
      variants: (path, selection) => {
        const ofField = parts(path)
        return ofField && variantsOf(ofField, selection)
      },
      withPhrase: (path, phrases, selection) => {
        const rows = this.#rowsWithPhrase(path, phrases, selection, from, rowCount)
        if (!rows) return undefined
        const reader = this.#reader(path)
        const ofRows = reader.parts?.(from, rowCount)
        if (ofRows) return variantsOf(ofRows, rows)
        return [{ rows, vector: reader.read(from, rowCount, rows), isPacked: false }]
      },
      sharedCodes: (path) => this.#sharedCodes(path, from, rowCount),
      presence: (path) => this.#reader(path).presence?.(from, rowCount),
      hasOnlyObjects: (path) => this.#reader(path).hasOnlyObjects?.(from, rowCount) === true,
      isNull: (path: Path, selection: Selection) =>
        this.#reader(path).isNull(from, rowCount, selection),
      entries: (path, selection) => {
        const members = this.#membersOf(path)?.between(from, from + rowCount)
        return members?.map((member) => ({
          name: member.name,
          vector: field(member.path, selection),
        }))
      },
    }
  }

  #rowsWithPhrase(
    path: Path,
    phrases: SoughtPhrases,
    selection: Selection,
    from: number,
    rowCount: number,
  ): Int32Array | undefined {
    if (path.some((part) => typeof part === 'number')) return undefined
    const ofPhrases = this.#phraseRows.get(phrases) ?? new Map<Path, FoundRows['may'] | undefined>()
    this.#phraseRows.set(phrases, ofPhrases)
    if (!ofPhrases.has(path)) {
      ofPhrases.set(path, rowsWithPhrase(this.#set, path as readonly string[], phrases))
    }
    const found = ofPhrases.get(path)
    if (found === undefined || found === 'all') return undefined
    if (found === 'none') return noneSelected
    return rowsOf(selection, rowCount).filter((row) => hasRow(found, from + row))
  }

  #sharedCodes(path: Path, from: number, rowCount: number): SharedCodes | undefined {
    if (!this.#dictionaries?.has(path)) return undefined
    const column = this.#reader(path).textColumn?.(from, rowCount)
    if (!column) return undefined
    this.bytesRead += rowCount * 4
    return this.#dictionaries.codesOf(path, column, from, rowCount)
  }

  /** Undefined for what is no object of a row's text. */
  #membersOf(path: Path): ObjectMembers | undefined {
    if (!isStoredField(String(path[0])) || path.some((part) => typeof part === 'number')) {
      return undefined
    }
    const key = JSON.stringify(path)
    let members = this.#members.get(key)
    if (!members) {
      members = new ObjectMembers(this.#set, path as readonly string[])
      this.#members.set(key, members)
    }
    return members
  }

  #reader(path: Path): FieldReader {
    const known = this.#readersByPath.get(path)
    if (known) return known
    const key = path.length === 1 ? String(path[0]) : JSON.stringify(path)
    let reader = this.#readers.get(key)
    if (!reader) {
      reader = openField(this.#set, path, this.#object, this.#rows)
      this.#readers.set(key, reader)
    }
    this.#readersByPath.set(path, reader)
    return reader
  }
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
