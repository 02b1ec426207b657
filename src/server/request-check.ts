/**
 * Reads the parameters and JSON bodies of requests by their schemas. What is refused is named with its
 * place and the way out, all faults of a body at once.
 */
import { z } from 'zod'
import { identifier } from '../catalog/schema/field.ts'
import { AssayError } from '../error.ts'
import { fromPlainJson, toPlainJson } from '../type/exact-json.ts'
import { parseJsonBody, rejectDeep } from './json-body.ts'

type Issue = z.core.$ZodIssue

/** Reported of one body. */
const mostFaults = 20

/** What a request has, as its schema knows it. */
export interface Checked<Schema extends z.ZodType> {
  readonly value: z.infer<Schema>
  /** Fields of the request itself that the schema does not know, with what they have. */
  readonly unknown: ReadonlyMap<string, unknown>
  /** Places of what it does not know deeper down, and has no room for. */
  readonly unknownWithin: readonly string[]
}

/**
 * The body as the schema has it; a field that is null counts as one that is absent. What the schema does
 * not know is no fault: clients may be newer than this service.
 */
export function checkBody<Body extends z.ZodType>(schema: Body, bytes: Uint8Array): Checked<Body> {
  const fields = Object.fromEntries(parseJsonBody(bytes))
  for (const [name, value] of Object.entries(fields)) rejectDeep(value, name)
  return checked(schema, fields)
}

/**
 * The parameters as the schema has them: numbers and booleans where it says so, and lists of what is
 * repeated. Lists of ids may also be joined by commas.
 */
export function checkQuery<Query extends z.ZodObject>(
  schema: Query,
  query: URLSearchParams,
): Checked<Query> {
  const given = new Map<string, unknown>()
  for (const name of new Set(query.keys())) {
    const texts = query.getAll(name)
    const type = bareType(schema.shape[name])
    if (type instanceof z.ZodArray) {
      const isId = type.element === identifier
      given.set(name, isId ? texts.flatMap((text) => text.split(',')) : texts)
    } else given.set(name, texts.length > 1 ? texts : typedValue(type, texts[0]!))
  }
  return checked(schema, Object.fromEntries(given))
}

export function checkIdentifier(name: string, text: string): string {
  const { success, data } = identifier.safeParse(text)
  if (success) return data
  throw new AssayError('REQUEST_INVALID', `"${name}" must be a UUID, not "${shorten(text)}"`, {
    path: name,
  })
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  given: { readonly [name: string]: unknown },
): Checked<Schema> {
  const value = check(schema, given)
  const kept: object = typeof value === 'object' && value !== null ? value : {}
  const names = Object.keys(given)
  return {
    value,
    unknown: new Map(
      names.filter((name) => !Object.hasOwn(kept, name)).map((name) => [name, given[name]]),
    ),
    unknownWithin: names.flatMap((name) =>
      Object.hasOwn(kept, name) ? leftOut(given[name], memberOf(kept, name), [name]) : [],
    ),
  }
}

/** Places of members that a value has lost when it was read. Values that nothing was taken from are the same. */
function leftOut(given: unknown, kept: unknown, path: readonly (string | number)[]): string[] {
  if (given === kept || typeof given !== 'object' || given === null) return []
  if (typeof kept !== 'object' || kept === null) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const place = [...path, Array.isArray(given) ? Number(name) : name]
    return Object.hasOwn(kept, name)
      ? leftOut(value, memberOf(kept, name), place)
      : [placeOf(place)]
  })
}

function memberOf(object: object, name: string): unknown {
  return (object as { readonly [name: string]: unknown })[name]
}

/**
 * What the schema makes of a value. It is shown doubles, and no member `__proto__`, which it would drop; what it gives has
 * the numbers (`type/exact-json.ts`) and the names of the value all the same.
 */
export function safeParse<Schema extends z.ZodType>(schema: Schema, value: unknown) {
  const plain = toPlainJson(value)
  const result = schema.safeParse(plain, { reportInput: true })
  if (!result.success || plain === value) return result
  return { ...result, data: fromPlainJson(result.data, value) as z.infer<Schema> }
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = safeParse(schema, value)
  if (result.success) return result.data
  const [first, ...others] = result.error.issues.flatMap(faultsOf).slice(0, mostFaults)
  if (!first) throw new AssayError('INTERNAL', 'a schema refused a value without a reason')
  const { path, hint } = first
  throw new AssayError('REQUEST_INVALID', first.message, {
    ...(path !== undefined && { path }),
    ...(hint !== undefined && { hint }),
    others,
  })
}

function typedValue(type: unknown, text: string): unknown {
  if (type instanceof z.ZodBoolean) return text === 'true' ? true : text === 'false' ? false : text
  if (type instanceof z.ZodNumber && /^-?\d{1,15}$/.test(text)) return Number(text)
  return text
}

function bareType(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? bareType(schema.unwrap())
    : schema
}

function faultsOf(issue: Issue): AssayError[] {
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    // Of the forms that a value may have, the one that it comes nearest to tells most.
    const [nearest] = issue.errors.toSorted((a, b) => distance(a) - distance(b))
    return nearest!.flatMap((inner) =>
      faultsOf({ ...inner, path: [...issue.path, ...inner.path] } as Issue),
    )
  }
  const path = placeOf(issue.path)
  const isMissing = issue.code === 'invalid_type' && issue.input === undefined
  const shown = shorten(path)
  if (isMissing) return [fault(path, `"${shown}" is missing`)]
  return [fault(path, `"${shown}" ${problemOf(issue)}`)]
}

/** Fewer faults deeper down are nearer to a form; a wrong tag is far from it. */
function distance(issues: readonly Issue[]): number {
  const isWrongForm = issues.some(
    ({ path, code }) => path.length === 0 || (path.length === 1 && code === 'invalid_value'),
  )
  return issues.length + (isWrongForm ? 1000 : 0)
}

function problemOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${article(issue.expected)}, not ${kindOf(issue.input)}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : issue.origin === 'array'
          ? `must have at most ${issue.maximum} items`
          : `must be at most ${issue.maximum}`
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`
    case 'invalid_format':
      return `must be ${formats.get(issue.format) ?? `in the form "${issue.format}"`}`
    case 'invalid_union':
      return 'has a tag that is not known'
    case 'custom':
      return issue.message
    default:
      return 'is not valid'
  }
}

const formats: ReadonlyMap<string, string> = new Map([
  ['guid', 'a UUID'],
  ['datetime', 'a time like 2026-01-31T12:00:00Z'],
  ['email', 'an e-mail address'],
])

function article(expected: string): string {
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : article(typeof value)
}

/** `rows[3].id` */
function placeOf(path: readonly PropertyKey[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${String(step)}`,
    )
    .join('')
}

function fault(path: string, message: string, hint?: string): AssayError {
  return new AssayError('REQUEST_INVALID', message, {
    path: shorten(path),
    ...(hint !== undefined && { hint }),
  })
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
