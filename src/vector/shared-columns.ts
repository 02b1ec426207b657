/**
 * A set of columns in one piece of shared memory, so that a thread makes it and all read it in place.
 *
 *     memory = layout start u32, layout bytes u32, row count u32, 1 if it has shown transactions u32,
 *              pagination transaction f64*, transaction f64*, [shown transaction f64*],
 *              object i32*, pagination index i32*, index i32*,
 *              arrays, each at a multiple of 8 bytes, layout as JSON
 *
 * Numbers are in the order of the machine: nothing of this is ever stored. The keys lie where they are
 * found without the layout, because the transactions of rows are known only after they were written.
 */
import { copyWhole } from '../json/copy-bytes.ts'
import type { KeyColumns, NumberColumn, PathColumns, TextColumn, Texts } from './column.ts'
import { ColumnTable, type ColumnTableParts } from './column-table.ts'
import { elementsOf } from './elements.ts'

const headBytes = 16
const alignment = 8

/** Where an array begins, and how many elements it has. */
type Place = readonly [offset: number, length: number]

interface TextsPlace {
  readonly bytes: Place
  readonly offsets: Place
}

interface TextPlaces {
  readonly validity?: Place
  /** Of the texts of rows; or, with `codes`, of the dictionary. */
  readonly texts: TextsPlace
  readonly codes?: Place
}

interface ValuePlaces {
  readonly values: Place
  readonly validity?: Place
}

interface PathPlaces {
  readonly path: readonly string[]
  readonly number?: ValuePlaces
  readonly timestamp?: ValuePlaces
  readonly boolean?: ValuePlaces
  readonly text?: TextPlaces
  readonly json?: TextPlaces
  readonly objects?: Place
  readonly stored?: Place
  readonly nulls?: Place
}

interface Layout {
  readonly paths: readonly PathPlaces[]
  readonly residual?: TextPlaces
  readonly residualPaths?: readonly (readonly string[])[]
}

type Mutable<T> = { -readonly [name in keyof T]: T[name] }

/**
 * Copies columns, none of which may be compressed, into memory that threads share.
 *
 * @param given is where they are put if they fit
 */
export function shareColumns(table: ColumnTable, given?: SharedArrayBuffer): SharedArrayBuffer {
  const { rowCount, keys, residual, residualPaths } = table
  const shown = keys.shownTransaction
  const writer = new Arrays(headBytes)
  writer.place(keys.paginationTransaction)
  writer.place(keys.transaction)
  if (shown) writer.place(shown)
  writer.placeTight(keys.object)
  writer.placeTight(keys.paginationIndex)
  writer.placeTight(keys.index)
  const layout: Layout = {
    paths: [[], ...table.pathsBelow([])].map((path) => {
      return { path, ...placePath(writer, table.columns(path) ?? {}, rowCount) }
    }),
    ...(residual && { residual: placeText(writer, residual, rowCount) }),
    ...(residualPaths && { residualPaths }),
  }
  const text = Buffer.from(JSON.stringify(layout))
  const [start, length] = writer.place(text)
  const isEnough = given && given.byteLength >= writer.end
  const memory = isEnough ? given : new SharedArrayBuffer(writer.end)
  new Uint32Array(memory, 0, 4).set([start, length, rowCount, shown ? 1 : 0])
  writer.copyTo(memory)
  return memory
}

/** Bytes of the memory that columns take. */
export function sharedBytes(memory: SharedArrayBuffer): number {
  const [start, length] = new Uint32Array(memory, 0, 2)
  return start! + length!
}

/** The columns that `shareColumns` has put there. */
export function openSharedColumns(memory: SharedArrayBuffer): ColumnTable {
  const head = new Uint32Array(memory, 0, 4)
  const text = Buffer.from(memory, head[0], head[1]).toString()
  const { paths, residual, residualPaths } = JSON.parse(text) as Layout
  const parts: ColumnTableParts = {
    rowCount: head[2]!,
    keys: sharedKeys(memory),
    paths: paths.map((places) => [places.path, () => openPath(memory, places)] as const),
    residual: residual && (() => openText(memory, residual)),
    residualPaths,
  }
  return new ColumnTable(parts)
}

/**
 * Says of which object all rows are, and which transaction the first of them was written in, as new records:
 * until then transactions are counted from 0 on.
 */
export function setKeys(memory: SharedArrayBuffer, object: number, first: number): void {
  const keys = sharedKeys(memory)
  keys.object.fill(object)
  for (const column of [keys.paginationTransaction, keys.transaction]) {
    for (let row = 0; row < column.length; row++) column[row]! += first
  }
}

/** The keys alone: without reading the layout. */
export function sharedKeys(memory: SharedArrayBuffer): KeyColumns {
  const head = new Uint32Array(memory, 0, 4)
  const [count, hasShown] = [head[2]!, head[3]!]
  const doubles = (index: number) => new Float64Array(memory, headBytes + index * count * 8, count)
  const integersAt = headBytes + (2 + hasShown) * count * 8
  const integers = (index: number) => new Int32Array(memory, integersAt + index * count * 4, count)
  return {
    paginationTransaction: doubles(0),
    transaction: doubles(1),
    ...(hasShown === 1 && { shownTransaction: doubles(2) }),
    object: integers(0),
    paginationIndex: integers(1),
    index: integers(2),
  }
}

type Numbers = Uint8Array | Int32Array | Float64Array

/** Gives arrays their places, and copies them there in the end. */
class Arrays {
  end: number
  readonly #placed: { readonly array: Numbers; readonly offset: number }[] = []

  constructor(start: number) {
    this.end = start
  }

  place(array: Numbers): Place {
    this.end = Math.ceil(this.end / alignment) * alignment
    return this.placeTight(array)
  }

  /** Right after the array before it, whose elements are as long or longer. */
  placeTight(array: Numbers): Place {
    const offset = this.end
    this.#placed.push({ array, offset })
    this.end += array.byteLength
    return [offset, array.length]
  }

  copyTo(memory: SharedArrayBuffer): void {
    const all = Buffer.from(memory)
    for (const { array, offset } of this.#placed) {
      copyWhole(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), all, offset)
    }
  }
}

function placePath(
  writer: Arrays,
  columns: PathColumns,
  rowCount: number,
): Omit<PathPlaces, 'path'> {
  const places: Mutable<Omit<PathPlaces, 'path'>> = {}
  for (const type of ['number', 'timestamp'] as const) {
    const column = columns[type]
    if (!column) continue
    places[type] = placeValues(writer, column.values.between(0, rowCount), column.validity)
  }
  const { boolean } = columns
  if (boolean) places.boolean = placeValues(writer, boolean.bits, boolean.validity)
  for (const type of ['text', 'json'] as const) {
    const column = columns[type]
    if (column) places[type] = placeText(writer, column, rowCount)
  }
  for (const type of ['objects', 'stored', 'nulls'] as const) {
    const bitmap = columns[type]
    if (bitmap) places[type] = writer.place(bitmap)
  }
  return places
}

function placeValues(
  writer: Arrays,
  values: Numbers,
  validity: Uint8Array | undefined,
): ValuePlaces {
  return { values: writer.place(values), ...(validity && { validity: writer.place(validity) }) }
}

function placeText(writer: Arrays, column: TextColumn, rowCount: number): TextPlaces {
  if (column.encoding === 'compressed') throw new TypeError('compressed columns are not shared')
  const { bytes, offsets } = column.encoding === 'plain' ? column.texts : column.dictionary
  const { validity } = column
  return {
    texts: {
      bytes: writer.place(bytes.subarray(0, offsets.at(-1)!)),
      offsets: writer.place(offsets),
    },
    ...(column.encoding === 'dictionary' && {
      codes: writer.place(column.codes.between(0, rowCount)),
    }),
    ...(validity && { validity: writer.place(validity) }),
  }
}

function openPath(memory: SharedArrayBuffer, places: PathPlaces): PathColumns {
  const opened: Mutable<PathColumns> = {}
  for (const type of ['number', 'timestamp'] as const) {
    const column = places[type]
    if (column) opened[type] = openNumbers(memory, column)
  }
  const { boolean } = places
  if (boolean) {
    opened.boolean = {
      bits: bytesAt(memory, boolean.values),
      validity: validityAt(memory, boolean.validity),
    }
  }
  for (const type of ['text', 'json'] as const) {
    const column = places[type]
    if (column) opened[type] = openText(memory, column)
  }
  for (const type of ['objects', 'stored', 'nulls'] as const) {
    const bitmap = places[type]
    if (bitmap) opened[type] = bytesAt(memory, bitmap)
  }
  return opened
}

function openNumbers(memory: SharedArrayBuffer, { values, validity }: ValuePlaces): NumberColumn {
  const [offset, length] = values
  return {
    values: elementsOf(new Float64Array(memory, offset, length)),
    validity: validityAt(memory, validity),
  }
}

function openText(memory: SharedArrayBuffer, places: TextPlaces): TextColumn {
  const validity = validityAt(memory, places.validity)
  const texts = openTexts(memory, places.texts)
  if (!places.codes) return { encoding: 'plain', texts, validity }
  const codes = elementsOf(integersAt(memory, places.codes))
  return { encoding: 'dictionary', codes, dictionary: texts, validity }
}

function openTexts(memory: SharedArrayBuffer, { bytes, offsets }: TextsPlace): Texts {
  const [offset, length] = bytes
  return { bytes: Buffer.from(memory, offset, length), offsets: integersAt(memory, offsets) }
}

function integersAt(memory: SharedArrayBuffer, [offset, length]: Place): Int32Array {
  return new Int32Array(memory, offset, length)
}

function bytesAt(memory: SharedArrayBuffer, [offset, length]: Place): Uint8Array {
  return new Uint8Array(memory, offset, length)
}

function validityAt(memory: SharedArrayBuffer, place: Place | undefined): Uint8Array | undefined {
  return place && bytesAt(memory, place)
}
