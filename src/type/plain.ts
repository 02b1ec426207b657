/**
 * Values as plain data. Structured cloning between threads takes the class from times and intervals,
 * so they, and the arrays and objects that may hold them, travel as tagged tuples.
 */
import { Interval, type JsonObject, Timestamp, type Value } from './value.ts'

export type PlainValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ['time', number, number?]
  | readonly ['interval', number, number]
  | readonly ['array', readonly PlainValue[]]
  | readonly ['object', readonly (readonly [string, PlainValue])[]]

export function toPlain(value: Value): PlainValue {
  if (value === null || typeof value !== 'object') return value
  if (value instanceof Timestamp) return timeTuple(value)
  if (value instanceof Interval) return ['interval', value.months, value.ms]
  if (Array.isArray(value)) return ['array', (value as readonly Value[]).map(toPlain)]
  const object = value as JsonObject
  return ['object', Object.keys(object).map((key) => [key, toPlain(object[key]!)] as const)]
}

function timeTuple({ ms, microseconds }: Timestamp): PlainValue {
  return microseconds === 0 ? ['time', ms] : ['time', ms, microseconds]
}

export function fromPlain(plain: PlainValue): Value {
  if (plain === null || typeof plain !== 'object') return plain
  switch (plain[0]) {
    case 'time':
      return new Timestamp(plain[1], plain[2])
    case 'interval':
      return new Interval(plain[1], plain[2])
    case 'array':
      return plain[1].map(fromPlain)
    case 'object': {
      const object: Record<string, Value> = Object.create(null)
      for (const [key, value] of plain[1]) object[key] = fromPlain(value)
      return object
    }
  }
}
