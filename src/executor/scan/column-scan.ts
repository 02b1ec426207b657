/** Gives batches of a `ColumnSet` to expressions. */
import type { BoundObject } from '../../binder/bound.ts'
import { isStoredField } from '../../type/record.ts'
import type { Path } from '../../type/value.ts'
import type { ColumnSet, KeyColumns } from '../../vector/column.ts'
import { isInSet } from '../../vector/row-set.ts'
import type { SharedCodes } from '../../vector/shared-dictionary.ts'
import {
  type DictionaryVector,
  type NumberVector,
  rowsOf,
  type Selection,
  type Vector,
} from '../../vector/vector.ts'
import type {
  Batch,
  FieldPart,
  FieldVariant,
  ObjectEntry,
  Presence,
  StoredField,
} from '../expression/batch.ts'
import { ObjectMembers } from '../expression/object-members.ts'
import { type FieldReader, openField, type RowFetcher } from '../field/field-reader.ts'
import { variantsOf } from '../field/field-variants.ts'
import type { RowList } from '../order/row-list.ts'
import type { SegmentDictionaries } from '../task/task-dictionaries.ts'
import type { FoundRows } from '../text/found-rows.ts'
import { rowsWithPhrase, type SoughtPhrases } from '../text/text-candidates.ts'
import { KeptValues } from '../thread/kept-values.ts'

const noneSelected = new Int32Array(0)

/**
 * By set and field: the next query finds there where its fields are, and what was made of the entries of their
 * dictionaries.
 */
const lastingReaders = new KeptValues<FieldReader>()

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
    this.set = set
    this.#object = object
    this.#rows = rows
    this.#dictionaries = dictionaries
  }

  batch(from: number, rowCount: number): Batch {
    return new ColumnBatch(this, from, rowCount)
  }

  /** Those of the selected rows that may have a phrase at the path; undefined when no index tells. */
  rowsWithPhrase(
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
      ofPhrases.set(path, rowsWithPhrase(this.set, path as readonly string[], phrases))
    }
    const found = ofPhrases.get(path)
    if (found === undefined || found === 'all') return undefined
    if (found === 'none') return noneSelected
    return rowsOf(selection, rowCount).filter((row) => isInSet(found, from + row))
  }

  sharedCodes(path: Path, from: number, rowCount: number): SharedCodes | undefined {
    if (!this.#dictionaries?.has(path)) return undefined
    const column = this.field(path).reader.textColumn?.(from, rowCount)
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
  readonly rowCount: number
  readonly #scan: ColumnScan
  readonly #from: number
  /** What was read, by the places of the fields. */
  readonly #vectors: (Vector | undefined)[] = []
  readonly #stored: (StoredField | undefined)[] = []
  /** Whether their bytes are counted. */
  readonly #isCounted: boolean[] = []
  readonly #parts: ({ readonly parts: readonly FieldPart[] | undefined } | undefined)[] = []

  constructor(scan: ColumnScan, from: number, rowCount: number) {
    this.#scan = scan
    this.#from = from
    this.rowCount = rowCount
  }

  get keys(): RowList {
    return keysBetween(this.#scan.set.keys, this.#from, this.#from + this.rowCount)
  }

  field(path: Path, selection: Selection): Vector {
    const { reader, place } = this.#scan.field(path)
    let vector = this.#vectors[place]
    if (!vector) {
      vector = reader.read(this.#from, this.rowCount, selection)
      if (!this.#isCounted[place]) this.#scan.bytesRead += bytesOf(vector, this.rowCount)
      this.#isCounted[place] = true
      this.#vectors[place] = vector
    }
    return vector
  }

  inPlace(path: Path): NumberVector | DictionaryVector | undefined {
    const { reader } = this.#scan.field(path)
    if (!reader.isInPlace?.(this.#from, this.rowCount)) return undefined
    return this.field(path, undefined) as NumberVector | DictionaryVector
  }

  stored(path: Path): StoredField | undefined {
    const { reader, place } = this.#scan.field(path)
    const known = this.#stored[place]
    if (known) return known
    const found = reader.stored?.(this.#from, this.rowCount)
    this.#stored[place] = found
    if (!found || this.#isCounted[place]) return found
    // As vectors have them, so that what is told depends on no form of storing.
    this.#scan.bytesRead += this.rowCount * (found.kind === 'dictionary' ? 4 : 8)
    this.#isCounted[place] = true
    return found
  }

  isVaried(path: Path): boolean {
    return this.parts(path) !== undefined
  }

  parts(path: Path): readonly FieldPart[] | undefined {
    const { reader, place } = this.#scan.field(path)
    let known = this.#parts[place]
    if (!known) {
      known = { parts: reader.parts?.(this.#from, this.rowCount) }
      this.#parts[place] = known
    }
    return known.parts
  }

  variants(path: Path, selection: Selection): readonly FieldVariant[] | undefined {
    const parts = this.parts(path)
    return parts && variantsOf(parts, selection)
  }

  withPhrase(
    path: Path,
    phrases: SoughtPhrases,
    selection: Selection,
  ): readonly FieldVariant[] | undefined {
    const [from, { rowCount }] = [this.#from, this]
    const rows = this.#scan.rowsWithPhrase(path, phrases, selection, from, rowCount)
    if (!rows) return undefined
    const { reader } = this.#scan.field(path)
    const parts = reader.parts?.(from, rowCount)
    if (parts) return variantsOf(parts, rows)
    return [{ rows, vector: reader.read(from, rowCount, rows), isPacked: false }]
  }

  sharedCodes(path: Path): SharedCodes | undefined {
    return this.#scan.sharedCodes(path, this.#from, this.rowCount)
  }

  presence(path: Path): Presence | undefined {
    return this.#scan.field(path).reader.presence?.(this.#from, this.rowCount)
  }

  hasOnlyObjects(path: Path): boolean {
    return this.#scan.field(path).reader.hasOnlyObjects?.(this.#from, this.rowCount) === true
  }

  isNull(path: Path, selection: Selection): Uint8Array {
    return this.#scan.field(path).reader.isNull(this.#from, this.rowCount, selection)
  }

  entries(path: Path, selection: Selection): readonly ObjectEntry[] | undefined {
    const members = this.#scan.membersOf(path)?.between(this.#from, this.#from + this.rowCount)
    return members?.map((member) => ({
      name: member.name,
      vector: this.field(member.path, selection),
    }))
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
