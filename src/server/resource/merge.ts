import { isJsonObject } from '../../type/exact-json.ts'

type Fields = { readonly [name: string]: unknown }

/** Keys that tell one form of an object from another. */
const tags = ['type', 'event_type', 'viewType'] as const

/**
 * The fields of a PATCH as they become: objects are merged with what is there, at every depth, all
 * else takes its place. Forms of one thing that differ in their tag are not mixed.
 */
export function mergedFields(before: object, patch: Fields): { [name: string]: unknown } {
  const old = new Map(Object.entries(before))
  return Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [name, merged(old.get(name), value)]),
  )
}

function merged(before: unknown, value: unknown): unknown {
  if (!isJsonObject(before) || !isJsonObject(value) || isOtherForm(before, value)) return value
  return { ...before, ...mergedFields(before, value) }
}

function isOtherForm(before: Fields, value: Fields): boolean {
  return tags.some((tag) => Object.hasOwn(value, tag) && value[tag] !== before[tag])
}
