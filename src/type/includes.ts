/** The `includes` operator: whether an array, an object or a string holds something. */
import { sameValue } from './compare.ts'
import { hasPart } from './find-part.ts'
import { and } from './logic.ts'
import { isObject, type JsonObject, type Value } from './value.ts'

/**
 * Whether `haystack` holds `needle`, or every element of a needle that is an array. An array holds
 * its elements, and an object if one of its elements does; an object holds its values, and an object
 * whose entries are all among its own; a string holds its substrings.
 */
export function includes(haystack: Value, needle: Value): boolean | null {
  if (haystack === null || needle === null) return null
  if (!Array.isArray(needle)) return includesOne(haystack, needle)
  let held: boolean | null = true
  for (const item of needle as readonly Value[]) {
    held = and(held, item === null ? null : includesOne(haystack, item))
    if (held === false) return false
  }
  return held
}

function includesOne(haystack: Value, needle: Value): boolean {
  if (typeof haystack === 'string') return typeof needle === 'string' && hasPart(haystack, needle)
  if (Array.isArray(haystack)) {
    return (haystack as readonly Value[]).some((item) => holds(item, needle))
  }
  if (!isObject(haystack)) return false
  if (isObject(needle)) return holdsEntries(haystack, needle)
  return Object.keys(haystack).some((key) => sameValue(haystack[key]!, needle))
}

/** Objects hold objects that say less than they do; everything else holds only its equal. */
function holds(value: Value, needle: Value): boolean {
  if (isObject(value) && isObject(needle)) return holdsEntries(value, needle)
  return sameValue(value, needle)
}

function holdsEntries(value: JsonObject, needle: JsonObject): boolean {
  return Object.keys(needle).every(
    (key) => Object.hasOwn(value, key) && holds(value[key]!, needle[key]!),
  )
}
