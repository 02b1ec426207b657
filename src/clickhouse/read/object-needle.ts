/** Whether a field in the column of fields includes an object: a comparison of each value that the object has. */
import { isObject, type JsonObject, type Path, type Value } from '../../type/value.ts'
import { writeSortedJson } from '../../type/write-json.ts'
import {
  allOf,
  anyOf,
  type Bounds,
  conjunction,
  decided,
  disjunction,
  isTrue,
  negation,
  unproven,
} from './bounds.ts'
import { comparedConstant, compareValues } from './compare-values.ts'
import type { CompiledValue } from './compiled-value.ts'
import { documentValue } from './record-value.ts'
import { textLiteral } from './sql-text.ts'

/** Undefined where what is searched is no field in the column of fields. */
export function includesObject(
  haystack: CompiledValue,
  path: Path,
  needle: JsonObject,
): Bounds | undefined {
  const field = documentValue(path)
  const array = field?.typed.array
  if (field?.isHidden !== haystack.isHidden || array === undefined) return undefined
  const isArray = decided(`isNotNull(${array})`)
  const ofArray = allOf([isArray, { sure: '0', may: mayHold(array, needle) }])
  return anyOf([ofArray, hasEntries(field, path, needle)])
}

function hasEntries(value: CompiledValue, path: Path, needle: JsonObject): Bounds {
  const entries = Object.entries(needle).map(([name, item]) => hasEntry([...path, name], item))
  return allOf([decided(value.isHidden), ...entries])
}

function hasEntry(path: Path, item: Value): Bounds {
  const value = documentValue(path)
  if (!value) return unproven
  const held = isObject(item) ? hasEntries(value, path, item) : equals(value, item)
  const isInDoubt = disjunction(value.doubts)
  return {
    sure: conjunction([held.sure, negation(isInDoubt)]),
    may: disjunction([held.may, isInDoubt]),
  }
}

function equals(value: CompiledValue, item: Value): Bounds {
  // A null in an object is not told from nothing.
  if (item === null) return { sure: '0', may: value.isNull }
  const constant = comparedConstant(item, value)
  return constant ? compareValues('eq', value, constant).whereTrue : unproven
}

/** Entries that an element has stand in the array's JSON, each as it is printed. */
function mayHold(array: string, needle: JsonObject): string {
  return conjunction(
    Object.entries(needle).map(([name, item]) => {
      const literal = textLiteral(`${JSON.stringify(name)}:${beginOf(item)}`)
      return literal === undefined ? '1' : isTrue(`position(${array}, ${literal}) > 0`)
    }),
  )
}

/** How all values that hold the item begin, as far as they do so alike: a large number may be an integer or a double. */
function beginOf(item: Value): string {
  if (isObject(item)) return '{'
  const isAlike = item === null || typeof item === 'boolean' || typeof item === 'string'
  return isAlike || Number.isSafeInteger(item) ? writeSortedJson(item) : ''
}
