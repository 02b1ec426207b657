/**
 * The values of the language while a query runs. They are JSON's, and two more that only
 * expressions make: points in time and intervals.
 *
 * A number is a double, except for an integer that a double cannot hold, which is a `bigint`;
 * `1` and `1.0` are one value, and a `bigint` never lies within ±2^53.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Timestamp
  | Interval
  | readonly Value[]
  | JsonObject

export interface JsonObject {
  readonly [key: string]: Value
}

/**
 * A point in time: milliseconds since 1970 UTC, with a fraction down to microseconds. Further away than `nearMs` a double
 * has no room for that fraction: milliseconds are whole there, and microseconds apart.
 */
export class Timestamp {
  readonly ms: number
  /** 0 to 999, which come after `ms`; 0 within `nearMs`. */
  readonly microseconds: number

  /** `type/time.ts` makes them of parts. */
  constructor(ms: number, microseconds = 0) {
    this.ms = ms
    this.microseconds = microseconds
  }
}

/** Within so many milliseconds of 1970, until the year 2248, doubles tell all microseconds apart. */
export const nearMs = 2 ** 43

/** Whether a point in time is told by its milliseconds, as a number, alone. */
export function isTimeOfNumber(value: Value | undefined): value is Timestamp {
  return value instanceof Timestamp && value.microseconds === 0
}

/** A span of calendar time. Months are apart because their length depends on where they start. */
export class Interval {
  readonly months: number
  readonly ms: number

  constructor(months: number, ms: number) {
    this.months = months
    this.ms = ms
  }
}

/** What a value is, for rules that depend on it. `bigint` counts as a number. */
export type ValueKind =
  | 'null'
  | 'boolean'
  | 'number'
  | 'timestamp'
  | 'interval'
  | 'string'
  | 'array'
  | 'object'

export function kindOf(value: Value): ValueKind {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'boolean':
      return 'boolean'
    case 'number':
    case 'bigint':
      return 'number'
    case 'string':
      return 'string'
    default:
      if (value instanceof Timestamp) return 'timestamp'
      if (value instanceof Interval) return 'interval'
      return Array.isArray(value) ? 'array' : 'object'
  }
}

export function isObject(value: Value): value is JsonObject {
  return kindOf(value) === 'object'
}

/** A step into nested JSON: an object's key, or an array's index (negative from the end). */
export type PathPart = string | number
export type Path = readonly PathPart[]

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && leadsTo(a, b)
}

/** Whether the first path is the other one or begins it. */
export function leadsTo(a: Path, b: Path): boolean {
  return a.length <= b.length && a.every((part, i) => part === b[i])
}

/** Reads what is at `path`, or null where a step leads nowhere. Inherited keys do not exist. */
export function valueAt(value: Value, path: Path, from = 0): Value {
  let current = value
  for (let i = from; i < path.length; i++) {
    const part = path[i]!
    if (typeof part === 'number') {
      if (!Array.isArray(current)) return null
      current = (current as readonly Value[]).at(part) ?? null
    } else {
      if (!isObject(current) || !Object.hasOwn(current, part)) return null
      current = current[part]!
    }
  }
  return current
}
