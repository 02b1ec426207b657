import { isObject, type Value } from '../../type/value.ts'

/** Of a value that is no number, or of a place in an array. */
const fixedBytes = 16

/** About as many bytes as a value takes that is held by itself, beyond its place in an array. */
export function valueBytes(value: Value): number {
  if (typeof value === 'string') return fixedBytes + value.length
  if (typeof value !== 'object' || value === null) return 0
  let bytes = fixedBytes
  if (Array.isArray(value)) {
    for (const element of value as readonly Value[]) bytes += fixedBytes + valueBytes(element)
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) bytes += fixedBytes + key.length + valueBytes(value[key]!)
  }
  return bytes
}
