/** What the parts of spans and log records mean, whichever of the two encodings they came in. */
import { AssayError } from '../error.ts'
import { isObject, type JsonObject, type Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import { anyValue, member, type Remark } from './any-value.ts'

/** By name; in the order in which they were sent. */
export type Attributes = ReadonlyMap<string, Value>

/** What made a span or a log record. */
export interface Scope {
  readonly name: string
  readonly version: string
}

/** A member of a message, which is JSON, or of a protocol buffer, where it may be bytes, too. */
export type Decoded = unknown

/** The members of a message by their names in JSON; null for what is not set. */
export class Fields {
  readonly #object: JsonObject

  constructor(message: Decoded) {
    this.#object = objectOf(message)
  }

  get(name: string): Decoded {
    return member(this.#object, name)
  }

  text(name: string): string {
    return textOf(this.get(name))
  }

  list(name: string): readonly Decoded[] {
    const list = this.get(name)
    return Array.isArray(list) ? list : []
  }

  /** Undefined where there is none, which is told unless the protocol has a way to say so. */
  id(name: string, bytes: number, remark: Remark): string | undefined {
    const given = this.get(name)
    const id = hexOf(given, bytes)
    if (id === undefined && !isNoId(given)) remark(`${name} is not ${bytes} bytes`)
    return id
  }

  /** In nanoseconds since 1970; undefined where there is none. */
  time(name: string, remark: Remark): bigint | undefined {
    const given = this.get(name)
    const time = nanosecondsOf(given)
    if (time === undefined && !isNoTime(given)) remark(`${name} is no time in nanoseconds`)
    return time
  }

  attributes(remark: Remark): Attributes {
    return attributesOf(this.get('attributes'), remark)
  }
}

/** The JSON form is to have numbers; some senders write names. */
export function enumOf(value: Decoded, prefix: string, names: readonly string[]): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return 0
  if (/^\d{1,9}$/.test(value)) return Number(value)
  return Math.max(0, names.indexOf(value.toUpperCase().replace(prefix, '')))
}

/** A list of keys and values; instead of it some senders write an object. */
export function attributesOf(given: Decoded, remark: Remark): Attributes {
  const attributes = new Map<string, Value>()
  const add = (key: string, value: Decoded) => {
    try {
      attributes.set(
        key,
        anyValue(value, (text) => remark(`attribute "${key}" ${text}`)),
      )
    } catch (thrown) {
      const message = `attribute "${key.slice(0, 100)}": ${reasonOf(thrown)}`
      throw new AssayError('REQUEST_INVALID', message, { cause: thrown })
    }
  }
  if (Array.isArray(given)) {
    for (const entry of given) {
      const fields = new Fields(entry)
      const key = fields.get('key')
      if (key === null || typeof key === 'object') remark('an attribute has no key')
      else add(String(key), fields.get('value'))
    }
  } else if (given !== null && given !== undefined) {
    const object = objectOf(given)
    for (const key of Object.keys(object)) add(key, object[key])
    if (typeof given !== 'object') remark('its attributes are no list')
  }
  return attributes
}

const oneSecond = 1_000_000_000n

/** Nanoseconds since 1970, as a decimal text or a number; 0 means that there is no time. */
function nanosecondsOf(value: Decoded): bigint | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    return undefined
  }
  const text = String(value)
  if (!/^\d{1,20}$/.test(text)) return undefined
  const nanoseconds = BigInt(text)
  return nanoseconds === 0n ? undefined : nanoseconds
}

/** The nearest double: later times never give smaller ones. */
export function secondsOf(nanoseconds: bigint): number {
  const fraction = String(nanoseconds % oneSecond).padStart(9, '0')
  return Number(`${nanoseconds / oneSecond}.${fraction}`)
}

/** ISO 8601 down to the microsecond that has begun: later times never give earlier ones. */
export function timestampOf(nanoseconds: bigint): string {
  const iso = new Date(Number(nanoseconds / 1_000_000n)).toISOString()
  const microseconds = Number((nanoseconds / 1000n) % 1000n)
  if (microseconds > 0) return `${iso.slice(0, -1)}${String(microseconds).padStart(3, '0')}Z`
  return iso.replace('.000Z', 'Z')
}

/** Undefined for an id that is missing, of another length, or all zeros: the protocol's "none". */
export function hexOf(id: Decoded, bytes: number): string | undefined {
  if (id instanceof Uint8Array) {
    const isId = id.length === bytes && id.some((byte) => byte !== 0)
    return isId ? Buffer.from(id).toString('hex') : undefined
  }
  if (typeof id !== 'string' || id === '') return undefined
  if (/^[0-9a-f]+$/i.test(id) && id.length === 2 * bytes) {
    return /[1-9a-f]/i.test(id) ? id.toLowerCase() : undefined
  }
  // Some encoders of JSON write bytes in base64, as they do in other messages.
  const decoded = /^[A-Za-z0-9+/]+={0,2}$/.test(id) ? Buffer.from(id, 'base64') : undefined
  return decoded?.length === bytes && decoded.some((byte) => byte !== 0)
    ? decoded.toString('hex')
    : undefined
}

function isNoId(given: Decoded): boolean {
  if (given === null) return true
  if (given instanceof Uint8Array) return given.every((byte) => byte === 0)
  return typeof given === 'string' && /^0*$/.test(given)
}

function isNoTime(given: Decoded): boolean {
  return given === null || given === 0 || given === '' || given === '0'
}

function objectOf(value: Decoded): JsonObject {
  const isPlain = typeof value === 'object' && value !== null && isObject(value as Value)
  return isPlain ? (value as JsonObject) : {}
}

/** Numbers and the like where a text belongs are what they look like. */
export function textOf(value: Decoded): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined || value instanceof Uint8Array) return ''
  return writeJson(value as Value)
}

/** Why a message could not be read. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
