/**
 * Fields that several kinds of entries have. Bodies of requests are checked by the same ones, so
 * every text has a longest length.
 */
import { z } from 'zod'

/** A JSON object; its own text is at most 1 MiB. */
export type Fields = { readonly [key: string]: unknown }

const longestName = 1000
const longestText = 100_000
const longestTag = 1000
const mostItems = 10_000
const longestFields = 2 ** 20

/** UUIDs in any case; kept in lower case. */
export const identifier = z.guid().toLowerCase()

export const name = z.string().min(1).max(longestName)

/** Names things in programs and addresses. */
export const slug = z.string().min(1).max(longestName)

export const text = z.string().max(longestText)

export const shortText = z.string().max(longestName)

/** An `_xact_id`, or what is shown in its place; `parseTransaction` reads it. */
export const version = shortText.meta({ pattern: '^(\\d{1,20}|[0-9a-fA-F]{16})$' })

export const timestamp = z.iso.datetime({ offset: true })

export const tags = z.array(z.string().max(longestTag)).max(mostItems)

export const identifiers = z.array(identifier).max(mostItems)

/**
 * An object of any content. It is passed on as it came: nothing is looked at but its size, so
 * that any key is a key.
 */
export const fields = z
  .custom<Fields>(isObject, 'must be an object')
  .refine((value) => JSON.stringify(value).length <= longestFields, {
    message: `must be at most ${longestFields} characters of JSON`,
  })
  .meta({ id: 'Fields', type: 'object', additionalProperties: true })

/**
 * A word of a vocabulary that grows: those that are known when this is written are examples. Nothing here
 * acts on it.
 */
export const word = z.string().min(1).max(longestName)

/**
 * Forms of an object that its tag tells apart. An object with another tag is kept as it is: it is of a
 * form that came later. A form leaves alone what it does not know, too.
 */
export function openUnion<
  const Tag extends string,
  const Forms extends readonly [z.ZodObject, ...z.ZodObject[]],
>(tag: Tag, forms: Forms) {
  const known = new Set(forms.flatMap((form) => [...literalsOf(form.shape[tag])]))
  const other = z.looseObject({ [tag]: word }).refine((value) => !known.has(value[tag]), {
    message: 'has another form',
    abort: true,
  })
  return z.union([other, ...forms])
}

function literalsOf(schema: unknown): Iterable<unknown> {
  return schema instanceof z.ZodLiteral ? schema.values : []
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
