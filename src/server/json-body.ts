/**
 * Reads small JSON bodies, field by field. A null is the same as an absent field. Numbers within objects are as
 * `type/exact-json.ts` has them.
 */
import type { Fields } from '../catalog/schema/field.ts'
import { AssayError } from '../error.ts'
import { hasMoreValues } from '../json/count-values.ts'
import { ExactNumber, isJsonObject, parseExactJson } from '../type/exact-json.ts'

/** Deepest nesting of a stored JSON value. */
const deepest = 1000

const decoder = new TextDecoder('utf-8', { fatal: true })

export type JsonBody = ReadonlyMap<string, unknown>

/** What is parsed as a whole takes some hundred bytes for each value, be it two bytes long. */
const mostValues = 1_000_000

/** Throws a 413 for a text of very many values, before it is parsed. */
export function requireFewValues(bytes: Uint8Array): void {
  if (!hasMoreValues(bytes, mostValues)) return
  throw new AssayError(
    'REQUEST_TOO_LARGE',
    `the body has more than ${mostValues.toLocaleString('en')} values, which is the most of a request`,
    { hint: 'send fewer items per request' },
  )
}

/** Throws a 400 for anything but a JSON object, and a 413 for very many values. */
export function parseJsonBody(bytes: Uint8Array): JsonBody {
  requireFewValues(bytes)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw new AssayError('REQUEST_NOT_UTF8', 'the body is not UTF-8 text', { cause })
  }
  let value: unknown
  try {
    value = parseExactJson(text)
  } catch (cause) {
    if (cause instanceof AssayError) throw cause
    const reason = cause instanceof Error ? cause.message : ''
    const message = text.trim() === '' ? 'the body is empty' : `the body is not JSON: ${reason}`
    throw new AssayError('REQUEST_NOT_JSON', message, { cause, hint: 'send a JSON object' })
  }
  if (!isJsonObject(value)) {
    throw new AssayError('REQUEST_INVALID', `the body must be an object, not ${article(value)}`)
  }
  return new Map(Object.entries(value).filter(([, field]) => field !== null))
}

export function stringField(body: JsonBody, name: string): string | undefined {
  return field(body, name, 'a string', (value) => typeof value === 'string')
}

export function requiredString(body: JsonBody, name: string): string {
  const value = stringField(body, name)
  if (value === undefined) {
    throw new AssayError('REQUEST_INVALID', `"${name}" is missing`, { path: name })
  }
  return value
}

export function booleanField(body: JsonBody, name: string): boolean | undefined {
  return field(body, name, 'true or false', (value) => typeof value === 'boolean')
}

export function numberField(body: JsonBody, name: string): number | undefined {
  const value = body.get(name)
  if (value instanceof ExactNumber) return Number(value.text)
  return field(body, name, 'a number', (value) => typeof value === 'number')
}

export function objectField(body: JsonBody, name: string): Fields | undefined {
  const value = field<Fields>(body, name, 'an object', isJsonObject)
  if (value !== undefined) rejectDeep(value, name)
  return value
}

export function stringsField(body: JsonBody, name: string): string[] | undefined {
  return field<string[]>(
    body,
    name,
    'an array of strings',
    (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  )
}

function field<T>(
  body: JsonBody,
  name: string,
  expected: string,
  matches: (value: unknown) => boolean,
): T | undefined {
  const value = body.get(name)
  if (value === undefined) return undefined
  if (matches(value)) return value as T
  throw new AssayError('REQUEST_INVALID', `"${name}" must be ${expected}, not ${article(value)}`, {
    path: name,
  })
}

/** Throws a 400. Without recursion, which a hostile body could drive out of stack. */
export function rejectDeep(value: unknown, path: string): void {
  let level: unknown[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) {
      throw new AssayError('REQUEST_TOO_DEEP', `"${path}" is nested more than ${deepest} deep`, {
        path,
      })
    }
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    )
  }
}

function article(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (value instanceof ExactNumber) return 'a number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
