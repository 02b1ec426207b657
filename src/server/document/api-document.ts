import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { identifier } from '../../catalog/schema/field.ts'
import type { OperationDescription } from '../operation-description.ts'
import type { Route } from '../route.ts'
import { version } from '../version.ts'
import { recordOperations } from './record-operations.ts'

export type ApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>

const errorBody = z
  .object({
    Code: z.string(),
    Message: z.string(),
    InternalTraceId: z.string(),
    Path: z.string(),
    Service: z.string(),
    error: z.looseObject({ code: z.string(), path: z.string().optional() }),
  })
  .meta({ id: 'Error' })

/** Answers that every route can give. */
const faults = {
  400: 'The request has a fault; `error.path` is its place',
  401: 'No valid key',
  403: 'It is not there, or may not be touched',
  429: 'Too much at once; `retry-after` says when to come again',
  500: 'The service failed',
} as const

const notDone = { 501: 'It is known, and not done here; `error.hint` says what to do instead' }

/** OpenAPI 3.1 of all routes that say what they take and give. */
export function apiDocument(routes: readonly Route[]): ApiDocument {
  const registry = new OpenAPIRegistry()
  const key = registry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
  })
  for (const route of routes) {
    const description = descriptionOf(route)
    if (description) registry.registerPath(pathOf(route, description, key.name))
  }
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Assay',
      version,
      description: 'Records of evaluating and monitoring LLM applications, and queries over them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
  })
  return withFormsOfNull(document) as ApiDocument
}

/**
 * Where a null may stand in place of a value, it is another form of it. The generator asks of a null what it asks
 * of a schema that it refers to, and some readers of formats take them for no rule where a null may be.
 */
function withFormsOfNull(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withFormsOfNull)
  if (typeof schema !== 'object' || schema === null) return schema
  const { type, allOf, ...rules } = schema as { readonly [name: string]: unknown }
  if (mayBeNull(type) && ('format' in rules || 'pattern' in rules)) {
    return { anyOf: [{ type: type[0], ...rules }, { type: 'null' }] }
  }
  const [referred, rule] = Array.isArray(allOf) && allOf.length === 2 ? allOf : []
  if (referred?.$ref !== undefined && mayBeNull(rule.type)) {
    return { ...rules, anyOf: [referred, { type: 'null' }] }
  }
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, withFormsOfNull(value)]),
  )
}

function mayBeNull(type: unknown): type is readonly [string, 'null'] {
  return Array.isArray(type) && type.length === 2 && type[1] === 'null'
}

export function descriptionOf({
  method,
  path,
  description,
}: Route): OperationDescription | undefined {
  return description ?? recordOperations.get(`${method} ${path}`)
}

function pathOf(
  { method, path, access }: Route,
  operation: OperationDescription,
  key: string,
): Parameters<OpenAPIRegistry['registerPath']>[0] {
  const { tag, summary, query, body, answer, isDeprecated } = operation
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)
  const params = z.object(Object.fromEntries(names.map((name) => [name, identifier])))
  const error = { 'application/json': { schema: errorBody } }
  return {
    method: method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete',
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    operationId: operationId(method, path),
    tags: [tag],
    summary,
    ...(isDeprecated && { deprecated: true }),
    security: access === 'open' ? [] : [{ [key]: [] }],
    request: {
      ...(names.length > 0 && { params }),
      ...(query && { query }),
      ...(body && {
        body: {
          required: operation.isBodyOptional !== true,
          content: { 'application/json': { schema: body } },
        },
      }),
    },
    responses: {
      200: {
        description: 'Done',
        content: answer
          ? { 'application/json': { schema: answer } }
          : { 'text/plain': { schema: z.string() } },
      },
      ...Object.fromEntries(
        Object.entries({ ...faults, ...(operation.isNotDone && notDone) }).map(([status, text]) => [
          status,
          { description: text, content: error },
        ]),
      ),
    },
  }
}

/** `getProjectTagById`: unique, since paths are. */
function operationId(method: string, path: string): string {
  const words = path
    .replaceAll(/:(\w+)/g, 'by_id')
    .split(/[/_]/)
    .filter((word) => word !== '' && word !== 'v1')
  const capitals = words.map((word) => word[0]!.toUpperCase() + word.slice(1))
  return `${method.toLowerCase()}${capitals.join('') || 'Index'}`
}
