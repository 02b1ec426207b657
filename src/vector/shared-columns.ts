/**
 * A set of columns in one piece of shared memory, so that a thread makes it and all read it in place.
 *
 *     memory = 8 numbers u32 (`head`),
 *              pagination transaction f64*, transaction f64*, [shown transaction f64*],
 *              object i32*, pagination index i32*, index i32*,
 *              arrays, each at a multiple of 8 bytes, their places (offset u32, length u32)*,
 *              shape as JSON, paths of residual values as JSON
 *
 * Numbers are in the order of the machine: nothing of this is ever stored. The keys lie where they are
 * found without the shape, because the transactions of rows are known only after they were written. Sets of an
 * object mostly have one shape, which a thread reads once.
 */
import { LRUCache } from 'lru-cache'
import { copyWhole } from '../json/copy-bytes.ts'
import type { KeyColumns, NumberColumn, PathColumns, TextColumn, Texts } from './column.ts'
import { ColumnTable, type PathColumnsSource } from './column-table.ts'
import { elementsOf } from './elements.ts'
import { PathTree } from './path-tree.ts'

/** What the first numbers of the memory are: offsets and lengths in bytes, how many rows, and 1 or 0. */
const head = {
  places: 0,
  shape: 1,
  shapeBytes: 2,
  residualPaths: 3,
  residualPathsBytes: 4,
  rowCount: 5,
  hasShown: 6,
} as const
const headNumbers = 8
const headBytes = 4 * headNumbers
const alignment = 8

/** Where an array begins, and how many elements it has. */
type Place = readonly [offset: number, length: number]

/** Which arrays a column has: of the bytes and offsets of its texts, then of these. */
interface TextShape {
  readonly hasCodes: boolean
  readonly hasValidity: boolean
}

interface ValuesShape {
  readonly hasValidity: boolean
}

/** Of a path's columns those that there are, whose arrays follow each other in this order. */
interface PathShape {
  readonly path: readonly string[]
  readonly number?: ValuesShape
  readonly timestamp?: ValuesShape
  readonly boolean?: ValuesShape
  readonly text?: TextShape
  readonly json?: TextShape
  readonly objects?: true
  readonly stored?: true
  readonly nulls?: true
}

interface Shape {
  readonly paths: readonly PathShape[]
  /** Whose arrays are after those of all paths. */
  readonly residual?: TextShape
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
  writer.put(keys.paginationTransaction)
  writer.put(keys.transaction)
  if (shown) writer.put(shown)
  writer.putTight(keys.object)
  writer.putTight(keys.paginationIndex)
  writer.putTight(keys.index)
  const shape: Shape = {
    paths: [[], ...table.pathsBelow([])].map((path) => {
      return { path, ...placePath(writer, table.columns(path) ?? {}, rowCount) }
    }),
    ...(residual && { residual: placeText(writer, residual, rowCount) }),
  }
  const places = writer.put(Uint32Array.from(writer.places))
  const shapeText = Buffer.from(JSON.stringify(shape))
  const residualText = Buffer.from(JSON.stringify(residualPaths))
  const shapeAt = writer.put(shapeText)
  const residualAt = writer.put(residualText)
  const isEnough = given && given.byteLength >= writer.end
  const memory = isEnough ? given : new SharedArrayBuffer(writer.end)
  const numbers = new Uint32Array(memory, 0, headNumbers)
  numbers[head.places] = places
  numbers[head.shape] = shapeAt
  numbers[head.shapeBytes] = shapeText.length
  numbers[head.residualPaths] = residualAt
  numbers[head.residualPathsBytes] = residualText.length
  numbers[head.rowCount] = rowCount
  numbers[head.hasShown] = shown ? 1 : 0
  writer.copyTo(memory)
  return memory
}

/** Bytes of the memory that columns take. */
export function sharedBytes(memory: SharedArrayBuffer): number {
  const numbers = new Uint32Array(memory, 0, headNumbers)
  return numbers[head.residualPaths]! + numbers[head.residualPathsBytes]!
}

/** The columns that `shareColumns` has put there. */
export function openSharedColumns(memory: SharedArrayBuffer): ColumnTable {
  const numbers = new Uint32Array(memory, 0, headNumbers)
  const textAt = (at: number, bytes: number) => Buffer.from(memory, at, bytes).toString()
  const shape = knownShape(textAt(numbers[head.shape]!, numbers[head.shapeBytes]!))
  const placesAt = numbers[head.places]!
  const arrays = new SharedArrays(memory, new Uint32Array(memory, placesAt, 2 * shape.arrays))
  const { residual, residualStart } = shape
  const residualText = textAt(numbers[head.residualPaths]!, numbers[head.residualPathsBytes]!)
  return new ColumnTable({
    rowCount: numbers[head.rowCount]!,
    keys: sharedKeys(memory),
    paths: new SharedPaths(shape, arrays),
    residual: residual && (() => openText(residual, arrays.from(residualStart))),
    residualPaths: JSON.parse(residualText) as string[][],
  })
}

/** A shape as it is used: its paths by name, and where the arrays of each begin among all. */
interface KnownShape extends Shape {
  readonly numbers: PathTree<number>
  readonly starts: readonly number[]
  readonly residualStart: number
  readonly arrays: number
}

/** Characters of the shapes that a thread keeps. To read one anew took most of the time to open a part of a thousand rows. */
const knownShapes = new LRUCache<string, KnownShape>({ maxSize: 2 ** 20 })

function knownShape(text: string): KnownShape {
  let known = knownShapes.get(text)
  if (known === undefined) {
    known = withStarts(JSON.parse(text) as Shape)
    knownShapes.set(text, known, { size: text.length })
  }
  return known
}

function withStarts({ paths, residual }: Shape): KnownShape {
  const numbers = new PathTree<number>()
  const starts: number[] = []
  let arrays = 0
  for (const [i, shape] of paths.entries()) {
    numbers.set(shape.path, i)
    starts.push(arrays)
    arrays += arraysOf(shape)
  }
  const residualStart = arrays
  if (residual) arrays += arraysOfText(residual)
  return { paths, ...(residual && { residual }), numbers, starts, residualStart, arrays }
}

function arraysOf({ number, timestamp, boolean, text, json, ...others }: PathShape): number {
  let arrays = 0
  for (const values of [number, timestamp, boolean]) if (values) arrays += 1 + +values.hasValidity
  for (const texts of [text, json]) if (texts) arrays += arraysOfText(texts)
  for (const bitmap of [others.objects, others.stored, others.nulls]) if (bitmap) arrays++
  return arrays
}

function arraysOfText({ hasCodes, hasValidity }: TextShape): number {
  return 2 + +hasCodes + +hasValidity
}

/** Columns that are opened when they are first asked for. */
class SharedPaths implements PathColumnsSource {
  readonly #shape: KnownShape
  readonly #arrays: SharedArrays
  readonly #opened: (PathColumns | undefined)[] = []

  constructor(shape: KnownShape, arrays: SharedArrays) {
    this.#shape = shape
    this.#arrays = arrays
  }

  columns(path: readonly string[]): PathColumns | undefined {
    const { numbers, paths, starts } = this.#shape
    const number = numbers.get(path)
    if (number === undefined) return undefined
    this.#opened[number] ??= openPath(paths[number]!, this.#arrays.from(starts[number]!))
    return this.#opened[number]
  }

  pathsBelow(path: readonly string[]): readonly (readonly string[])[] {
    return this.#shape.numbers.below(path)
  }
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

/** The keys alone: without reading the shape. */
export function sharedKeys(memory: SharedArrayBuffer): KeyColumns {
  const numbers = new Uint32Array(memory, 0, headNumbers)
  const [count, hasShown] = [numbers[head.rowCount]!, numbers[head.hasShown]!]
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

type Numbers = Uint8Array | Int32Array | Uint32Array | Float64Array

/** Gives arrays their places, and copies them there in the end. */
class Arrays {
  end: number
  /** Offset and length of those that the shape tells of. */
  readonly places: number[] = []
  readonly #put: { readonly array: Numbers; readonly offset: number }[] = []

  constructor(start: number) {
    this.end = start
  }

  place(array: Numbers): void {
    this.places.push(this.put(array), array.length)
  }

  /** Gives its offset. */
  put(array: Numbers): number {
    this.end = Math.ceil(this.end / alignment) * alignment
    return this.putTight(array)
  }

  /** Right after the array before it, whose elements are as long or longer. */
  putTight(array: Numbers): number {
    const offset = this.end
    this.#put.push({ array, offset })
    this.end += array.byteLength
    return offset
  }

  copyTo(memory: SharedArrayBuffer): void {
    const all = Buffer.from(memory)
    for (const { array, offset } of this.#put) {
      copyWhole(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), all, offset)
    }
  }
}

function placePath(
  writer: Arrays,
  columns: PathColumns,
  rowCount: number,
): Omit<PathShape, 'path'> {
  const shape: Mutable<Omit<PathShape, 'path'>> = {}
  for (const type of ['number', 'timestamp'] as const) {
    const column = columns[type]
    if (!column) continue
    shape[type] = placeValues(writer, column.values.between(0, rowCount), column.validity)
  }
  const { boolean } = columns
  if (boolean) shape.boolean = placeValues(writer, boolean.bits, boolean.validity)
  for (const type of ['text', 'json'] as const) {
    const column = columns[type]
    if (column) shape[type] = placeText(writer, column, rowCount)
  }
  for (const type of ['objects', 'stored', 'nulls'] as const) {
    const bitmap = columns[type]
    if (!bitmap) continue
    writer.place(bitmap)
    shape[type] = true
  }
  return shape
}

function placeValues(
  writer: Arrays,
  values: Numbers,
  validity: Uint8Array | undefined,
): ValuesShape {
  writer.place(values)
  return { hasValidity: placeValidity(writer, validity) }
}

function placeText(writer: Arrays, column: TextColumn, rowCount: number): TextShape {
  if (column.encoding === 'compressed') throw new TypeError('compressed columns are not shared')
  const { bytes, offsets } = column.encoding === 'plain' ? column.texts : column.dictionary
  writer.place(bytes.subarray(0, offsets.at(-1)!))
  writer.place(offsets)
  const hasCodes = column.encoding === 'dictionary'
  if (hasCodes) writer.place(column.codes.between(0, rowCount))
  return { hasCodes, hasValidity: placeValidity(writer, column.validity) }
}

function placeValidity(writer: Arrays, validity: Uint8Array | undefined): boolean {
  if (validity) writer.place(validity)
  return validity !== undefined
}

/** The arrays of a memory, one after the other. */
class SharedArrays {
  readonly #memory: SharedArrayBuffer
  readonly #places: Uint32Array
  #next = 0

  constructor(memory: SharedArrayBuffer, places: Uint32Array) {
    this.#memory = memory
    this.#places = places
  }

  /** Those from the array of that number on; what was given before has ended. */
  from(number: number): this {
    this.#next = number
    return this
  }

  doubles(): Float64Array {
    const [offset, length] = this.#place()
    return new Float64Array(this.#memory, offset, length)
  }

  integers(): Int32Array {
    const [offset, length] = this.#place()
    return new Int32Array(this.#memory, offset, length)
  }

  bytes(): Uint8Array {
    const [offset, length] = this.#place()
    return new Uint8Array(this.#memory, offset, length)
  }

  /** As a Buffer, as which texts are read. */
  buffer(): Buffer {
    return Buffer.from(this.#memory, ...this.#place())
  }

  #place(): Place {
    const at = 2 * this.#next++
    return [this.#places[at]!, this.#places[at + 1]!]
  }
}

function openPath(shape: PathShape, arrays: SharedArrays): PathColumns {
  const opened: Mutable<PathColumns> = {}
  for (const type of ['number', 'timestamp'] as const) {
    const values = shape[type]
    if (values) opened[type] = openNumbers(values, arrays)
  }
  const { boolean } = shape
  if (boolean) opened.boolean = { bits: arrays.bytes(), validity: openValidity(boolean, arrays) }
  for (const type of ['text', 'json'] as const) {
    const texts = shape[type]
    if (texts) opened[type] = openText(texts, arrays)
  }
  for (const type of ['objects', 'stored', 'nulls'] as const) {
    if (shape[type]) opened[type] = arrays.bytes()
  }
  return opened
}

function openNumbers(shape: ValuesShape, arrays: SharedArrays): NumberColumn {
  const values = elementsOf(arrays.doubles())
  return { values, validity: openValidity(shape, arrays) }
}

function openText(shape: TextShape, arrays: SharedArrays): TextColumn {
  const texts: Texts = { bytes: arrays.buffer(), offsets: arrays.integers() }
  if (!shape.hasCodes) {
    return { encoding: 'plain', texts, validity: openValidity(shape, arrays) }
  }
  const codes = elementsOf(arrays.integers())
  const validity = openValidity(shape, arrays)
  return { encoding: 'dictionary', codes, dictionary: texts, validity }
}

function openValidity({ hasValidity }: ValuesShape, arrays: SharedArrays): Uint8Array | undefined {
  return hasValidity ? arrays.bytes() : undefined
}
