/** Messages of the protocol, whichever of the two encodings they came in, and the values in them. */
import { AssayError } from '../error.ts'
import { decodeUtf8, requireUtf8 } from '../json/utf8.ts'
import { parseJson } from '../type/parse-json.ts'
import type { JsonObject, Value } from '../type/value.ts'
import { decodeRequest, type Signal } from './schema.ts'

export type Encoding = 'json' | 'protobuf'

/** By name; in the order in which they were sent. */
export type Attributes = ReadonlyMap<string, Value>

/** What made a span or a log record. */
export interface Scope {
  readonly name: string
  readonly version: string
}

/** A value of the decoded request: JSON, and bytes in what was a protocol buffer. */
export type Decoded = unknown
export type DecodedObject = { readonly [name: string]: Decoded }

/** Attribute values nest no deeper; what lies below is cut off as null. */
const deepest = 64

/** One span or log record of a request, with what made it. */
export interface Item {
  readonly given: DecodedObject
  readonly resource: Attributes
  readonly scope: Scope
}

/** Throws for what is no request of that signal. */
export function* readItems(body: Uint8Array, encoding: Encoding, signal: Signal): Generator<Item> {
  const { resources, scopes, items } = memberNames[signal]
  const request = objectOf(encoding === 'json' ? readJson(body) : readProtobuf(body, signal))
  for (const ofResource of objectsOf(request[resources])) {
    const resource = attributesOf(objectOf(ofResource.resource).attributes)
    for (const ofScope of objectsOf(ofResource[scopes])) {
      const { name, version } = objectOf(ofScope.scope)
      const scope = { name: textOf(name), version: textOf(version) }
      for (const given of objectsOf(ofScope[items])) yield { given, resource, scope }
    }
  }
}

const memberNames = {
  traces: { resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' },
  logs: { resources: 'resourceLogs', scopes: 'scopeLogs', items: 'logRecords' },
} as const

function readJson(body: Uint8Array): Value {
  requireUtf8(body)
  return parseJson(decodeUtf8(body, 0, body.length))
}

function readProtobuf(body: Uint8Array, signal: Signal): unknown {
  try {
    return decodeRequest(body, signal)
  } catch (cause) {
    const reason = cause instanceof Error ? `: ${cause.message}` : ''
    throw new AssayError('REQUEST_INVALID', `the body is no OTLP export of ${signal}${reason}`, {
      hint: 'send it as protobuf, or as JSON with "content-type: application/json"',
      cause,
    })
  }
}

/** The JSON form is to have numbers; some senders write names. */
export function enumOf(value: Decoded, prefix: string, names: readonly string[]): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return 0
  return Math.max(0, names.indexOf(value.replace(prefix, '')))
}

export function attributesOf(list: Decoded): Attributes {
  const attributes = new Map<string, Value>()
  for (const { key, value } of objectsOf(list)) {
    if (typeof key === 'string') attributes.set(key, decodedValue(value, 0))
  }
  return attributes
}

/** The value that an `AnyValue` holds; of an unknown kind, null. */
export function decodedValue(any: Decoded, depth: number): Value {
  if (depth > deepest) return null
  const given = objectOf(any)
  if (typeof given.stringValue === 'string') return given.stringValue
  if (typeof given.boolValue === 'boolean') return given.boolValue
  if (given.intValue !== undefined && given.intValue !== null) return integerOf(given.intValue)
  if (given.doubleValue !== undefined && given.doubleValue !== null) {
    return Number(given.doubleValue)
  }
  if (given.arrayValue !== undefined && given.arrayValue !== null) {
    return objectsOf(objectOf(given.arrayValue).values).map((item) => decodedValue(item, depth + 1))
  }
  if (given.kvlistValue !== undefined && given.kvlistValue !== null) {
    const members = objectsOf(objectOf(given.kvlistValue).values)
    return Object.fromEntries(
      members.map(({ key, value }) => [textOf(key), decodedValue(value, depth + 1)]),
    ) as JsonObject
  }
  if (given.bytesValue instanceof Uint8Array)
    return Buffer.from(given.bytesValue).toString('base64')
  return typeof given.bytesValue === 'string' ? given.bytesValue : null
}

function integerOf(value: Decoded): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) return null
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : BigInt(value)
}

/** Nanoseconds since 1970, as a decimal text or a number; 0 means that there is no time. */
export function msOf(value: Decoded): number | undefined {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) return undefined
  const nanoseconds = BigInt(text)
  if (nanoseconds === 0n) return undefined
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6
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
  const decoded = Buffer.from(id, 'base64')
  return decoded.length === bytes ? decoded.toString('hex') : undefined
}

export function objectOf(value: Decoded): DecodedObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as DecodedObject) : {}
}

export function objectsOf(value: Decoded): DecodedObject[] {
  return Array.isArray(value) ? value.map(objectOf) : []
}

export function textOf(value: Decoded): string {
  return typeof value === 'string' ? value : ''
}
