/** Whether arrays, objects and texts hold something, by the rules of `type/includes.ts`. */
import { isObject, type JsonObject, kindOf, type Path, type Value } from '../../type/value.ts'
import {
  allOf,
  anyOf,
  type Bounds,
  conjunction,
  decided,
  isTrue,
  negation,
  never,
  noneOf,
  unproven,
  withOpen,
} from './bounds.ts'
import { comparedConstant, compareValues, type Truths } from './compare-values.ts'
import type { CompiledValue } from './compiled-value.ts'
import { hasOwnColumn, jsonOf, repeatsNames } from './json-text.ts'
import { jsonAt, jsonValue } from './json-value.ts'
import { documentValue } from './record-value.ts'
import { textLiteral } from './sql-text.ts'

/** @param path that of the field, if it is one */
export function includesBounds(
  haystack: CompiledValue,
  path: Path | undefined,
  needle: Value,
): Truths {
  if (needle === null) return { whereTrue: never, whereFalse: never }
  const isThere = decided(negation(haystack.isNull))
  const items = Array.isArray(needle) ? (needle as readonly Value[]) : [needle]
  const held = items.filter((item) => item !== null).map((item) => holdsOne(haystack, path, item))
  if (items.includes(null)) {
    // Unknown where all others are held.
    return { whereTrue: never, whereFalse: allOf([isThere, noneOf(allOf(held))]) }
  }
  const whereTrue = allOf([isThere, ...held])
  return { whereTrue, whereFalse: allOf([isThere, noneOf(whereTrue)]) }
}

function holdsOne(haystack: CompiledValue, path: Path | undefined, item: Value): Bounds {
  const { typed, hidden, isHidden } = haystack
  const literal = typeof item === 'string' ? textLiteral(item) : undefined
  if (path?.join('.') === 'tags') {
    if (literal !== undefined) return decided(`has(tags, ${literal})`)
    return kindOf(item) === 'string' ? unproven : never
  }
  const { array, string } = typed
  const kinds: Bounds[] = []
  if (literal !== undefined && string) {
    kinds.push(decided(isTrue(`position(${string}, ${literal}) > 0`)))
  }
  // A text that no column has may be half of a character of one.
  if (typeof item === 'string' && literal === undefined) kinds.push(unproven)
  if (array !== undefined) {
    kinds.push(allOf([decided(`isNotNull(${array})`), arrayHolds(array, item)]))
  }
  if (hidden.some((kind) => kind === 'array' || kind === 'object')) {
    kinds.push(allOf([decided(isHidden), hiddenHolds(haystack, path, item)]))
  }
  return anyOf(kinds)
}

/** Of a value that is hidden. */
function hiddenHolds(haystack: CompiledValue, path: Path | undefined, item: Value): Bounds {
  if (!path) return unproven
  if (!hasOwnColumn(path)) {
    const isField = documentValue(path)?.isHidden === haystack.isHidden
    return isField && isObject(item) ? hasEntries(item, path, documentEntry) : unproven
  }
  const written = jsonOf(path)
  if (!written) return unproven
  // Of what cannot be extracted nothing is.
  const sql = path.length === 1 ? `JSONExtractRaw(${written.sql})` : written.sql
  const isRepeating = repeatsNames(`if(empty(${sql}), '0', ${sql})`)
  // Objects within an array count where another one is looked for.
  const isRead = isObject(item) ? '1' : isObjectText(sql)
  return withOpen(anyOf([elementHolds(sql, item), objectHolds(sql, item)]), [
    `empty(${sql})`,
    hasNumber(item) ? hasLongNumber(sql) : '0',
    conjunction([isRead, isRepeating]),
  ])
}

/** Of an array as Assay prints it, so that no name is there twice. */
function arrayHolds(array: string, item: Value): Bounds {
  const sql = `ifNull(${array}, '[]')`
  return withOpen(elementHolds(sql, item), [
    `empty(JSONExtractRaw(${sql}))`,
    hasNumber(item) ? hasLongNumber(sql) : '0',
  ])
}

function elementHolds(json: string, item: Value): Bounds {
  return anyItem(`JSONExtractArrayRaw(${json})`, (element) => {
    return isObject(item) ? objectHolds(element, item) : equals(jsonValue(element, []), item)
  })
}

function objectHolds(json: string, item: Value): Bounds {
  if (isObject(item)) {
    return allOf([decided(isObjectText(json)), hasEntries(item, [], jsonEntry(json))])
  }
  const values = `arrayMap(e -> e.2, JSONExtractKeysAndValuesRaw(${json}))`
  return anyItem(values, (value) => equals(jsonValue(value, []), item))
}

function anyItem(list: string, holds: (item: string) => Bounds): Bounds {
  const { sure, may } = holds('j')
  const isAny = (sql: string) => (sql === '0' ? '0' : `arrayExists(j -> ${sql}, ${list})`)
  return { sure: isAny(sure), may: isAny(may) }
}

function isObjectText(json: string): string {
  return `startsWith(${json}, '{')`
}

/** Integers that no double is. */
function hasLongNumber(json: string): string {
  return `match(${json}, '[0-9]{16}')`
}

function hasNumber(value: Value): boolean {
  if (Array.isArray(value)) return (value as readonly Value[]).some(hasNumber)
  if (isObject(value)) return Object.values(value).some(hasNumber)
  return typeof value === 'number' || typeof value === 'bigint'
}

/** What there is at a path of an object. */
type Entry = (
  path: Path,
) => { readonly value: CompiledValue; readonly isObject: string } | undefined

const documentEntry: Entry = (path) => {
  const value = documentValue(path)
  return value && { value, isObject: value.isHidden }
}

const jsonEntry = (json: string): Entry => {
  return (path) => {
    const value = jsonValue(json, path)
    return value && { value, isObject: isObjectText(jsonAt(json, path)!) }
  }
}

/** Whether an object has the entries of another one. */
function hasEntries(needle: JsonObject, path: Path, entry: Entry): Bounds {
  return allOf(Object.entries(needle).map(([name, item]) => hasEntry([...path, name], item, entry)))
}

function hasEntry(path: Path, item: Value, entry: Entry): Bounds {
  const found = entry(path)
  if (!found) return unproven
  const { value, isObject: isAnObject } = found
  if (!isObject(item)) return equals(value, item)
  return withOpen(allOf([decided(isAnObject), hasEntries(item, path, entry)]), value.doubts)
}

function equals(value: CompiledValue | undefined, item: Value): Bounds {
  if (!value) return unproven
  const constant = comparedConstant(item, value)
  // A null in an object is not told from nothing.
  const truth =
    item === null
      ? { sure: '0', may: value.isNull }
      : constant && compareValues('eq', value, constant).whereTrue
  return truth ? withOpen(truth, value.doubts) : unproven
}
