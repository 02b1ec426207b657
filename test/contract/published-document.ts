/**
 * The operations of the published API document, and what it says of their answers. Which there are is
 * listed here; the document itself, which schemas of answers come from, may lie beside the checkout.
 */
import { existsSync, readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'

const file = new URL('../../../shared/spec/openapi.json', import.meta.url).pathname
const list = new URL('published-operations.txt', import.meta.url)

export const documentIsThere = existsSync(file)
export const missingNote = `answers are not held against their schemas: there is no ${file}`

type Json = { readonly [key: string]: unknown }

interface PublishedOperation {
  readonly method: string
  readonly path: string
  /** Of a 200; undefined where the document says nothing of JSON. */
  readonly isValid: ValidateFunction | undefined
}

/** All operations, OPTIONS too, in the order of the document. */
export function publishedOperations(): PublishedOperation[] {
  const schemas = documentIsThere ? documentSchemas() : undefined
  return listedOperations().map((key) => {
    const [method = '', path = ''] = key.split(' ')
    return { method, path, isValid: schemas?.get(key) }
  })
}

/** Method and path of each. */
export function listedOperations(): string[] {
  return readFileSync(list, 'utf8').trim().split('\n')
}

/** What a 200 of each operation has; undefined where nothing is said of JSON. */
export function documentSchemas(): Map<string, ValidateFunction | undefined> {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Json
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
  ajv.addFormat('uuid', uuid)
  ajv.addFormat(
    'date-time',
    (text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)),
  )
  ajv.addFormat('uri', (text) => URL.canParse(text))
  ajv.addSchema(jsonSchema(document) as object, 'document')
  const operations = Object.entries(document.paths as Record<string, Record<string, Json>>)
  return new Map(
    operations.flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const pointer = ['paths', path, method, 'responses', '200', 'content', 'application/json']
        const schema = at(operation, ['responses', '200', 'content', 'application/json', 'schema'])
        const $ref = `document#/${[...pointer, 'schema'].map(step).join('/')}`
        const isValid = schema === undefined ? undefined : ajv.compile({ $ref })
        return [`${method.toUpperCase()} ${path}`, isValid] as const
      }),
    ),
  )
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type of null, and has bounds of another form. */
function jsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonSchema)
  if (typeof value !== 'object' || value === null) return value
  const {
    nullable,
    exclusiveMinimum: _,
    ...rest
  } = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, jsonSchema(child)]))
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Json)[key] : undefined,
    value,
  )
}

function step(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))
}
