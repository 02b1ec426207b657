/** What the functions of JSON are made of. */
import { AssayError } from '../error.ts'
import { compareText } from '../type/compare.ts'
import { parseJson } from '../type/parse-json.ts'
import { isObject, type Path, type PathPart, type Value, valueAt } from '../type/value.ts'

/** A string as the JSON that it is, null if it is none; anything else as it is. */
export function jsonOf(value: Value): Value {
  if (typeof value !== 'string') return value
  // Most texts that are not JSON show it at once; an error for each row takes 10 µs.
  if (!/^\s*(?:[[{"\d-]|true|false|null)/.test(value)) return null
  try {
    return parseJson(value)
  } catch (thrown) {
    if (thrown instanceof AssayError && thrown.family === 'user') return null
    throw thrown
  }
}

export function arrayOf(value: Value): readonly Value[] | null {
  return Array.isArray(value) ? (value as readonly Value[]) : null
}

/** Null for what is no object. Alphabetical, because keys have no order of their own. */
export function keysOf(value: Value): string[] | null {
  return isObject(value) ? Object.keys(value).sort(compareText) : null
}

/**
 * What an object has under a key, or else what is at a path; a number is a place in an array. Null
 * for a path that is not well formed.
 */
export function valueAtText(value: Value, path: Value): Value {
  if (typeof path === 'number') return valueAt(value, [path])
  if (typeof path !== 'string') return null
  if (isObject(value) && Object.hasOwn(value, path)) return value[path]!
  if (lastPath.text !== path) lastPath = { text: path, parts: parsePath(path) }
  return lastPath.parts ? valueAt(value, lastPath.parts) : null
}

/** The path that was read last, which the next row most likely has too. */
let lastPath: { readonly text: string; readonly parts: Path | undefined } = {
  text: '$',
  parts: [],
}

const step = /\.?([^.[\]"]+)|\.?"((?:[^"\\]|\\.)*)"|\[\s*(-?\d+)\s*\]|\[\s*(["'])(.*?)\4\s*\]/y

/**
 * Reads `a.b[0]["key with . in it"][-1]`, with or without `$` or `$.` before it; `$` alone is the
 * whole value. Undefined for anything else.
 */
export function parsePath(text: string): Path | undefined {
  const steps = text.startsWith('$') ? text.slice(1) : text
  if (steps === '') return text === '$' ? [] : undefined
  const isRooted = steps !== text
  if (isRooted ? !/^[.[]/.test(steps) : steps.startsWith('.')) return undefined
  const parts: PathPart[] = []
  step.lastIndex = 0
  while (step.lastIndex < steps.length) {
    // A name needs its dot, but for the first one.
    const mayBeBare = step.lastIndex === 0 || /[.[]/.test(steps[step.lastIndex]!)
    const match = mayBeBare ? step.exec(steps) : null
    if (!match) return undefined
    const [, name, quoted, index, , key] = match
    if (index !== undefined) parts.push(Number(index))
    else parts.push(name ?? quoted?.replace(/\\(.)/gs, '$1') ?? key!)
  }
  return parts
}

/** Null when none of them is an object. */
export function mergeObjects(values: readonly Value[]): Value {
  const objects = values.filter(isObject)
  if (objects.length === 0) return null
  const merged: Record<string, Value> = Object.create(null)
  for (const object of objects) {
    for (const [key, value] of Object.entries(object)) merged[key] = value
  }
  return merged
}
