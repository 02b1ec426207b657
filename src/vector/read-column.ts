/** Reads single values out of columns. Scans use the columns themselves. */
import { noteLong } from '../json/turn-limit.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { parseJsonBytes } from '../type/parse-json.ts'
import { isObject, Timestamp, type Value } from '../type/value.ts'
import type { ColumnSet, PathColumns, TextColumn, Texts, UnnumberedColumn } from './column.ts'

/** Stands for a value that only the row store has. */
export const stored = Symbol('stored')

/** Reads the value at one path, null when there is none, from the row that is given. */
export type PathReader = (row: number) => Value | typeof stored

export function isSet(bitmap: Uint8Array, row: number): boolean {
  return (bitmap[row >> 3]! & (1 << (row & 7))) !== 0
}

/** Bits that are set. */
export function countSet(bitmap: Uint8Array): number {
  let count = 0
  for (let i = 0; i < bitmap.length; i++) {
    let byte = bitmap[i]!
    byte -= (byte >> 1) & 0x55
    byte = (byte & 0x33) + ((byte >> 2) & 0x33)
    count += (byte + (byte >> 4)) & 0x0f
  }
  return count
}

/** Whether the row has a value, by a validity that is undefined when all rows have one. */
export function isValid(validity: Uint8Array | undefined, row: number): boolean {
  return validity === undefined || isSet(validity, row)
}

/** The `index`-th text's bytes, in place. */
export function bytesOfText(texts: Texts, index: number): Uint8Array {
  return texts.bytes.subarray(texts.offsets[index]!, texts.offsets[index + 1]!)
}

/** The row's text as bytes in place; undefined when it has none. */
export function textBytesAt(column: TextColumn, row: number): Uint8Array | undefined {
  if (!isValid(column.validity, row)) return undefined
  switch (column.encoding) {
    case 'plain':
      return bytesOfText(column.texts, row)
    case 'compressed':
      return column.texts.textAt(row)
    case 'dictionary':
      return bytesOfText(column.dictionary, column.codes.at(row))
  }
}

/**
 * The texts of rows `from … from + count`: that of row `from` is text `first`.
 *
 * @param rows those that are needed, counted from `from`; other texts may be empty
 */
export function textsBetween(
  column: UnnumberedColumn,
  from: number,
  count: number,
  rows: Int32Array | undefined,
): { readonly texts: Texts; readonly first: number } {
  if (column.encoding !== 'plain') {
    return { texts: column.texts.between(from, count, rows), first: 0 }
  }
  const { offsets } = column.texts
  noteLong(offsets[from + count]! - offsets[from]!)
  return { texts: column.texts, first: from }
}

/** The row's text; undefined when it has none. */
export function textAt(column: TextColumn, row: number): string | undefined {
  const bytes = textBytesAt(column, row)
  return bytes && decodeUtf8(bytes)
}

/**
 * The bitmaps of rows of which only the row store has what is at `path`: a row may be left to it at
 * the path itself or at any prefix, the empty path included.
 */
export function storedRows(set: ColumnSet, path: readonly string[]): readonly Uint8Array[] {
  const bitmaps: Uint8Array[] = []
  for (let length = 0; length <= path.length; length++) {
    const bitmap = set.columns(path.slice(0, length))?.stored
    if (bitmap !== undefined) bitmaps.push(bitmap)
  }
  return bitmaps
}

/** Rows of which the residual may have something at a path; all that have one are among them. */
export interface RestRows {
  has(row: number): boolean
}

/**
 * Makes a reader of whole values: objects are put together from the columns below the path and the
 * residual. `stored` when any part of the value is only in the row store.
 *
 * @param named absent: any row may have something there in its residual
 */
export function pathReader(set: ColumnSet, path: readonly string[], named?: RestRows): PathReader {
  const storedAround = storedRows(set, path.slice(0, -1))
  const node = readNode(set, path)
  const restAt = restReader(set, path, named)
  return (row) => {
    for (const bitmap of storedAround) if (isSet(bitmap, row)) return stored
    return readValue(node, row, restAt?.(row)) ?? null
  }
}

/** The same for rows that are among the `objects` of the path, which need not be asked what else they have there. */
export function objectReader(
  set: ColumnSet,
  path: readonly string[],
  named?: RestRows,
): PathReader {
  const node = readNode(set, path)
  const restAt = restReader(set, path, named)
  return (row) => readObject(node, row, restAt?.(row))
}

/** Entries of a residual's dictionary that are kept once they are parsed. */
const keptRests = 1024

/** Reads what residuals have at the path; undefined where none has anything. */
function restReader(
  set: ColumnSet,
  path: readonly string[],
  named: RestRows | undefined,
): ((row: number) => Value | undefined) | undefined {
  const residual = set.residualMayHold(path) ? set.residual : undefined
  if (!residual) return undefined
  const parse = (bytes: Uint8Array | undefined) => {
    let rest = bytes && parseJsonBytes(bytes)
    for (const key of path) rest = memberOf(rest, key)
    return rest
  }
  if (residual.encoding !== 'dictionary') {
    return (row) => (named?.has(row) === false ? undefined : parse(textBytesAt(residual, row)))
  }
  const { codes, dictionary } = residual
  const kept = new Map<number, Value | undefined>()
  return (row) => {
    const code = codes.at(row)
    if (code < 0 || kept.has(code)) return kept.get(code)
    const rest = parse(bytesOfText(dictionary, code))
    if (kept.size < keptRests) kept.set(code, rest)
    return rest
  }
}

/** A path with the paths right below it. */
interface ReadNode {
  readonly isRoot: boolean
  readonly columns: PathColumns
  readonly children: ReadonlyMap<string, ReadNode>
  /** The same, one after the other. */
  readonly members: readonly ReadNode[]
  /** Those of few members, none of which are objects or lists. */
  readonly known: KnownObjects | undefined
}

/** Members of an object whose values are looked up, what is known of them, and how long a text may be. */
const [mostMembers, mostKnown, mostCharacters] = [4, 1024, 64]

/** Objects that have the same values of the first members, by that of the next. */
interface MembersKnown {
  readonly next: Map<Value | undefined, MembersKnown>
  /** That of all of its members. */
  object?: Value
}

/** Objects by the values of their members, one after the other. */
class KnownObjects {
  readonly first: MembersKnown = { next: new Map() }
  #size = 0

  /** Undefined of a value that is not looked up. */
  after(members: MembersKnown, value: Value | undefined | typeof stored): MembersKnown | undefined {
    if (typeof value === 'symbol' || (typeof value === 'object' && value !== null)) return undefined
    const known = members.next.get(value)
    if (known || this.#size === mostKnown) return known
    if (typeof value === 'string' && value.length > mostCharacters) return undefined
    const added: MembersKnown = { next: new Map() }
    members.next.set(value, added)
    this.#size++
    return added
  }
}

const noColumns: PathColumns = {}

function readNode(set: ColumnSet, path: readonly string[]): ReadNode {
  const children = new Map<string, ReadNode>()
  for (const below of set.pathsBelow(path)) {
    if (below.length === path.length + 1) children.set(below.at(-1)!, readNode(set, below))
  }
  const isRoot = path.length === 0
  const areFew = !isRoot && children.size <= mostMembers
  const members = [...children.values()]
  const isFlat = members.every((member) => member.children.size === 0)
  const known = areFew && isFlat ? new KnownObjects() : undefined
  return { isRoot, columns: set.columns(path) ?? noColumns, children, members, known }
}

/** Undefined when the row has nothing there, null when it says so. */
function readValue(
  node: ReadNode,
  row: number,
  rest: Value | undefined,
): Value | undefined | typeof stored {
  const { number, timestamp, boolean, text, json, objects, nulls } = node.columns
  if (node.columns.stored && isSet(node.columns.stored, row)) return stored
  if (number && isValid(number.validity, row)) return number.values.at(row)
  if (text && isValid(text.validity, row)) return textAt(text, row)!
  if (boolean && isValid(boolean.validity, row)) return isSet(boolean.bits, row)
  if (timestamp && isValid(timestamp.validity, row)) return new Timestamp(timestamp.values.at(row))
  if (json && isValid(json.validity, row)) return parseJsonBytes(textBytesAt(json, row)!)
  if (node.isRoot || (objects && isSet(objects, row))) return readObject(node, row, rest)
  return nulls && isSet(nulls, row) ? null : rest
}

function readObject(node: ReadNode, row: number, rest: Value | undefined): Value | typeof stored {
  return node.known && rest === undefined
    ? knownObject(node, node.known, row)
    : newObject(node, row, rest)
}

/** The same object for all rows that have it, so that whoever numbers values need not compare them. */
function knownObject(node: ReadNode, known: KnownObjects, row: number): Value | typeof stored {
  let members: MembersKnown | undefined = known.first
  for (let i = 0; i < node.members.length; i++) {
    members = known.after(members, readValue(node.members[i]!, row, undefined))
    if (!members) return newObject(node, row, undefined)
  }
  // No member is in the row store alone.
  members.object ??= newObject(node, row, undefined) as Value
  return members.object
}

function newObject(node: ReadNode, row: number, rest: Value | undefined): Value | typeof stored {
  const members: Record<string, Value> = Object.create(null)
  for (const [key, child] of node.children) {
    const value = readValue(child, row, memberOf(rest, key))
    if (value === stored) return stored
    if (value !== undefined) members[key] = value
  }
  if (rest !== undefined && isObject(rest)) {
    for (const key of Object.keys(rest)) {
      if (!node.children.has(key)) members[key] = rest[key]!
    }
  }
  return members
}

function memberOf(value: Value | undefined, key: string): Value | undefined {
  if (value === undefined || !isObject(value)) return undefined
  return Object.hasOwn(value, key) ? value[key] : undefined
}
