/** Logic with three values: true, false, and null for unknown. What is not boolean is unknown. */
import { equals } from './compare.ts'
import type { Value } from './value.ts'
import { setOf } from './value-set.ts'

export function and(a: Value, b: Value): boolean | null {
  if (a === false || b === false) return false
  return a === true && b === true ? true : null
}

export function or(a: Value, b: Value): boolean | null {
  if (a === true || b === true) return true
  return a === false && b === false ? false : null
}

export function not(a: Value): boolean | null {
  return typeof a === 'boolean' ? !a : null
}

/** Items that are asked one after the other as fast as a set of them. */
const fewItems = 8

/**
 * `x in list`: true if an item equals `x`; otherwise unknown if `x` or an item is null or cannot be
 * compared with `x`; otherwise false. What is not an array has no items to ask: null.
 */
export function inList(x: Value, list: Value): boolean | null {
  if (x === null || !Array.isArray(list)) return null
  if (list.length > fewItems) return setOf(list).has(x)
  let found: boolean | null = false
  for (const item of list as readonly Value[]) {
    found = or(found, equals(x, item))
    if (found) return true
  }
  return found
}
