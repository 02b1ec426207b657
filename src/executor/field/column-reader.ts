/**
 * Tells how a field lies in a column set, and reads it: in place when all its values are of one type, row by row
 * when they are mixed, and from the row store what no column holds.
 */
import type { BoundObject } from '../../binder/bound.ts'
import { newBytes, newCodes } from '../../kernel/arena.ts'
import { anyBit, expandBits } from '../../kernel/bitmap.ts'
import { notOf, orInto } from '../../kernel/logic.ts'
import { type Path, type Value, valueAt } from '../../type/value.ts'
import type {
  BooleanColumn,
  ColumnSet,
  PathColumns,
  TextColumn,
  Texts,
} from '../../vector/column.ts'
import {
  isSet,
  objectReader,
  type PathReader,
  pathReader,
  stored,
  textsBetween,
} from '../../vector/read-column.ts'
import {
  compactValues,
  type DictionaryEntries,
  type DictionaryVector,
  type LazyVector,
  lazyVector,
  rowsOf,
  type Selection,
  textEntries,
  type Vector,
  valueEntries,
} from '../../vector/vector.ts'
import {
  type Encoding,
  type FieldPart,
  type Presence,
  unread,
  variantsIn,
} from '../expression/batch.ts'
import { copyValues } from '../expression/over-variants.ts'
import {
  booleanVector,
  type ColumnSource,
  codeSource,
  codeVector,
  encodedCodes,
  encodedNumbers,
  numberSource,
  numberVector,
} from './column-vectors.ts'
import { derivedField } from './derived-reader.ts'
import { ElsewhereRows, type NumberedResidual } from './elsewhere-rows.ts'
import type { FieldReader } from './field-reader.ts'
import { partsOf, type VariantSource } from './field-variants.ts'
import { elementsOfEntries, elementTexts } from './single-texts.ts'

/** Of a dictionary that is kept with what was made of its entries. */
const fewEntries = 1024
const fewEntryBytes = 16 * 1024

/** Of a reader, and of an entry of its dictionary besides its text as a string. */
const [readerBytes, entryBytes] = [2048, 64]

/** Of a byte of JSON once it is parsed, and its elements are numbered. */
const parsedBytes = 16

function isFew({ bytes, offsets }: Texts): boolean {
  return offsets.length <= fewEntries && bytes.length <= fewEntryBytes
}

/** Reads what a row of the set has at a path from the row store. */
export type RowFetcher = (set: ColumnSet, row: number, path: Path) => Value

export function openField(
  set: ColumnSet,
  path: Path,
  object: BoundObject,
  fetch: RowFetcher,
): FieldReader {
  return derivedField(set, path, object) ?? new ColumnFieldReader(set, path, fetch)
}

class ColumnFieldReader implements FieldReader {
  readonly #set: ColumnSet
  readonly #path: Path
  /** The part of the path that columns have: object keys up to the first array index. */
  readonly #base: readonly string[]
  /** What is left to walk inside a value of the base path. */
  readonly #rest: Path
  readonly #columns: PathColumns
  readonly #elsewhere: ElsewhereRows
  /** Whether one column at most has the values of all rows, as they are to be read. */
  readonly #isNeverVaried: boolean
  readonly #fetch: RowFetcher
  /** Made when a value is first read by itself, which few readers do; of rows that have an object, another. */
  #read: PathReader | undefined
  #readObject: PathReader | undefined
  readonly #entries: {
    text?: DictionaryEntries
    json?: DictionaryEntries
    boolean?: DictionaryEntries
    residual?: ResidualEntries
    /** Of a dictionary of lists of one text each, these; null: others are among them. */
    elements?: DictionaryEntries | null
  } = {}

  constructor(set: ColumnSet, path: Path, fetch: RowFetcher) {
    this.#set = set
    this.#path = path
    const index = path.findIndex((part) => typeof part === 'number')
    this.#base = (index < 0 ? path : path.slice(0, index)) as readonly string[]
    this.#rest = path.slice(this.#base.length)
    this.#columns = set.columns(this.#base) ?? {}
    this.#elsewhere = new ElsewhereRows(set, this.#base)
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const columns = [number, timestamp, boolean, text, json].filter((column) => column)
    const isReadable = !json || (json.encoding === 'dictionary' && this.#rest.length === 0)
    this.#isNeverVaried = columns.length <= 1 && isReadable && !objects && this.#elsewhere.areNone
    this.#fetch = fetch
  }

  get lastingBytes(): number | undefined {
    const { text, json } = this.#columns
    if (!this.#isNeverVaried || this.#rest.length > 0) return undefined
    const texts = text ?? json
    if (!texts) return readerBytes
    if (texts.encoding !== 'dictionary' || !isFew(texts.dictionary)) return undefined
    const { bytes, offsets } = texts.dictionary
    const perByte = json ? parsedBytes : 2
    return readerBytes + perByte * bytes.length + entryBytes * offsets.length
  }

  read(from: number, count: number, selection: Selection): Vector {
    if (this.#isVaried(from, count)) return this.#readVaried(from, count, selection)
    const { number, timestamp, boolean, text, json } = this.#columns
    if (this.#rest.length === 0) {
      if (number) return numberVector('number', number, from, count)
      if (timestamp) return numberVector('timestamp', timestamp, from, count)
      if (boolean) return booleanVector(boolean, from, count)
      if (text) return this.#readText(text, from, count, selection)
    }
    if (json?.encoding !== 'dictionary') return { kind: 'constant', value: null }
    return codeVector(json.codes, this.#jsonEntries(json.dictionary), from, count)
  }

  encoding(from: number, count: number): Encoding {
    if (this.#isVaried(from, count)) return { kind: 'mixed', parts: this.#parts(from, count) }
    const { number, timestamp, boolean, text, json } = this.#columns
    if (this.#rest.length === 0) {
      if (number) return encodedNumbers('number', number, from, count)
      if (timestamp) return encodedNumbers('timestamp', timestamp, from, count)
      if (text?.encoding === 'dictionary') {
        return encodedCodes(text.codes, this.#textEntries(text.dictionary), from, count)
      }
      if (json?.encoding === 'dictionary') {
        return encodedCodes(json.codes, this.#jsonEntries(json.dictionary), from, count)
      }
      if (boolean || text) return unread
    }
    return { kind: 'constant', value: null }
  }

  #valueAt(row: number): Value {
    this.#read ??= pathReader(this.#set, this.#base, this.#elsewhere.named)
    const value = this.#read(row)
    return value === stored ? this.#fetch(this.#set, row, this.#path) : valueAt(value, this.#rest)
  }

  #objectAt(row: number): Value {
    this.#readObject ??= objectReader(this.#set, this.#base, this.#elsewhere.named)
    const value = this.#readObject(row)
    return value === stored ? this.#fetch(this.#set, row, this.#path) : value
  }

  presence(from: number, count: number): Presence | undefined {
    if (this.#rest.length > 0 || this.#elsewhere.any(from, count)) return undefined
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const bitmaps = objects ? [objects] : []
    for (const column of [number, timestamp, boolean, text, json]) {
      if (!column) continue
      if (column.validity === undefined) return undefined
      bitmaps.push(column.validity)
    }
    return { bitmaps, first: from }
  }

  nulls(from: number, count: number, selection: Selection): Uint8Array {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const nulls = newBytes(count).fill(0)
    if (this.#rest.length > 0) {
      for (const row of rowsOf(selection, count)) {
        nulls[row] = this.#valueAt(from + row) === null ? 1 : 0
      }
      return nulls
    }
    const variants = [number, timestamp, boolean, text, json].filter((column) => column)
    if (variants.some((column) => column!.validity === undefined)) return nulls
    const present = variants.map((column) => column!.validity!)
    if (objects) present.push(objects)
    const valid = newBytes(count)
    for (const bits of present) {
      expandBits(bits, from, count, valid)
      orInto(nulls, valid, count)
    }
    notOf(nulls, count, nulls)
    for (const { kind, entries, rowsIn } of this.#parts(from, count)) {
      if (kind !== 'elsewhere') continue
      for (const row of rowsIn(selection)) {
        nulls[row] = entries ? 0 : +(this.#valueAt(from + row) === null)
      }
    }
    return nulls
  }

  #parts(from: number, count: number): readonly FieldPart[] {
    const { number, timestamp, boolean, text, json, objects, nulls } = this.#columns
    const sources: VariantSource[] = []
    const whole = this.#rest.length === 0
    const add = (column: { readonly validity: Uint8Array | undefined }, source: ColumnSource) =>
      sources.push({ bits: column.validity ?? 'all', ...source })
    if (whole && number) add(number, numberSource('number', number, from, count))
    if (whole && timestamp) add(timestamp, numberSource('timestamp', timestamp, from, count))
    if (whole && boolean) add(boolean, this.#booleanSource(boolean, from, count))
    if (whole && text) add(text, this.#textSource(text, from, count))
    if (json) add(json, this.#jsonSource(json, from, count))
    if (whole && objects) {
      const source = { kind: 'object', set: this.#set, path: this.#base, first: from } as const
      sources.push({
        kind: 'object',
        bits: objects,
        read: () => lazyVector(count, (row) => this.#objectAt(from + row), source),
      })
    }
    const { numbered } = this.#elsewhere
    if (numbered?.any(from, count)) sources.push(this.#residualSource(numbered, from, count))
    if (this.#elsewhere.anyUnread(from, count)) {
      sources.push({
        kind: 'elsewhere',
        among: (selection) => this.#elsewhere.among(selection, from, count),
        read: () => this.#lazy(from, count, undefined),
        pack: (rows) => lazyVector(rows.length, (i) => this.#valueAt(from + rows[i]!), undefined),
      })
    }
    return partsOf(sources, nulls, from, count)
  }

  textColumn(from: number, count: number): TextColumn | undefined {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    if (this.#rest.length > 0 || number || timestamp || boolean || json) return undefined
    if (objects !== undefined && anyBit(objects, from, count)) return undefined
    return this.#elsewhere.any(from, count) ? undefined : text
  }

  #readText(column: TextColumn, from: number, count: number, selection: Selection): Vector {
    if (column.encoding === 'dictionary') {
      return codeVector(column.codes, this.#textEntries(column.dictionary), from, count)
    }
    const { validity } = column
    let valid: Uint8Array | undefined
    if (validity) {
      valid = newBytes(count)
      expandBits(validity, from, count, valid)
    }
    return { kind: 'text', ...textsBetween(column, from, count, selection), valid }
  }

  #textSource(column: TextColumn, from: number, count: number): ColumnSource {
    if (column.encoding !== 'dictionary') {
      return { kind: 'text', read: (rows) => this.#readText(column, from, count, rows) }
    }
    const entries = this.#textEntries(column.dictionary)
    return codeSource('text', column.codes, from, count, entries)
  }

  #jsonSource(column: TextColumn, from: number, count: number): ColumnSource {
    // What is within the JSON may be null, which no search for text tells.
    if (this.#rest.length > 0) {
      return { kind: 'json', read: () => this.#lazy(from, count, undefined) }
    }
    if (column.encoding === 'dictionary') {
      return codeSource('json', column.codes, from, count, this.#jsonEntries(column.dictionary))
    }
    const read = (rows: Selection): Vector => {
      return this.#lazy(from, count, { kind: 'json', ...textsBetween(column, from, count, rows) })
    }
    return { kind: 'json', read }
  }

  #textEntries(dictionary: Texts): DictionaryEntries {
    this.#entries.text ??= textEntries(dictionary, 'text')
    return this.#entries.text
  }

  #jsonEntries(dictionary: Texts): DictionaryEntries {
    this.#entries.json ??= textEntries(dictionary, 'json')
    return this.#entries.json
  }

  /** Packed as codes of the two values, of which an expression is evaluated once. */
  #booleanSource(column: BooleanColumn, from: number, count: number): ColumnSource {
    this.#entries.boolean ??= valueEntries([false, true])
    const entries = this.#entries.boolean
    return {
      kind: 'boolean',
      entries,
      read: () => booleanVector(column, from, count),
      pack: (rows) => {
        const codes = newCodes(rows.length)
        for (let i = 0; i < rows.length; i++) codes[i] = +isSet(column.bits, from + rows[i]!)
        return { kind: 'dictionary', codes, entries }
      },
    }
  }

  #residualSource(numbered: NumberedResidual, from: number, count: number): VariantSource {
    this.#entries.residual ??= residualEntries(numbered.values.values, this.#rest)
    const { entries, codes } = this.#entries.residual
    const pack = (rows: Int32Array): DictionaryVector => {
      const packed = numbered.codesOf(rows, from, count)
      if (codes) for (let i = 0; i < packed.length; i++) packed[i] = codes[packed[i]!]!
      return { kind: 'dictionary', codes: packed, entries }
    }
    return {
      kind: 'elsewhere',
      entries,
      isCheap: true,
      among: (selection) => numbered.among(selection, from, count),
      pack,
      read: (selection) => {
        const rows = rowsOf(selection, count)
        const packed = pack(rows).codes
        const inPlace = newCodes(count)
        for (let i = 0; i < rows.length; i++) inPlace[rows[i]!] = packed[i]!
        return { kind: 'dictionary', codes: inPlace, entries }
      },
    }
  }

  #lazy(from: number, count: number, source: LazyVector['source']): Vector {
    return lazyVector(count, (row) => this.#valueAt(from + row), source)
  }

  /** A vector of one type where the selected rows have no other; else values. */
  #readVaried(from: number, count: number, selection: Selection): Vector {
    const elements = this.#readElements(from, count, selection)
    if (elements) return elements
    const variants = variantsIn(this.#parts(from, count), selection)
    const [only] = variants
    if (only && variants.length === 1) {
      const { number, timestamp } = this.#columns
      const kind = only.vector.kind
      if (number && kind === 'number') return numberVector('number', number, from, count)
      if (timestamp && kind === 'timestamp') {
        return numberVector('timestamp', timestamp, from, count)
      }
    }
    const values = new Array<Value>(count).fill(null)
    for (const variant of variants) copyValues(variant, count, values)
    return compactValues(values, rowsOf(selection, count))
  }

  /** One element of each list, where lists of one text are all that there is. */
  #readElements(from: number, count: number, selection: Selection): Vector | undefined {
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const [index, ...deeper] = this.#rest
    if (typeof index !== 'number' || index < 0 || deeper.length > 0) return undefined
    if (!json || number || timestamp || boolean || text || objects) return undefined
    if (this.#elsewhere.any(from, count)) return undefined
    const nothing: Vector = { kind: 'constant', value: null }
    if (json.encoding === 'dictionary') {
      const { dictionary, codes } = json
      if (this.#entries.elements === undefined) {
        const texts = elementsOfEntries(dictionary)
        this.#entries.elements = texts ? textEntries(texts, 'text') : null
      }
      const entries = this.#entries.elements
      if (!entries) return undefined
      return index > 0 ? nothing : codeVector(codes, entries, from, count)
    }
    const texts = elementTexts(json, from, count, selection)
    return texts && index > 0 ? nothing : texts
  }

  /** Whether no single column has the values as they are to be read. */
  #isVaried(from: number, count: number): boolean {
    if (this.#isNeverVaried) return false
    const { number, timestamp, boolean, text, json, objects } = this.#columns
    const whole = this.#rest.length === 0
    if (json && (json.encoding !== 'dictionary' || !whole)) return true
    const variants = [number, timestamp, boolean, text, json].filter((column) => column)
    if (variants.length > 1 || this.#elsewhere.any(from, count)) return true
    return whole && objects !== undefined && anyBit(objects, from, count)
  }
}

/** Leaves only those of the rows that are selected. */
interface ResidualEntries {
  readonly entries: DictionaryEntries
  /** Of each value of the residual, what is within it; -1: nothing. Undefined: the value itself. */
  readonly codes: Int32Array | undefined
}

function residualEntries(values: readonly Value[], rest: Path): ResidualEntries {
  if (rest.length === 0) return { entries: valueEntries(values), codes: undefined }
  const within: Value[] = []
  const codes = Int32Array.from(values, (whole) => {
    const value = valueAt(whole, rest)
    return value === null ? -1 : within.push(value) - 1
  })
  return { entries: valueEntries(within), codes }
}
