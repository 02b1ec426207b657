import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { identifier } from '../../catalog/schema/field.ts'
import type { OperationDescription } from '../operation.ts'
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
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Assay',
      version,
      description: 'Records of evaluating and monitoring LLM applications, and queries over them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
  })
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
  { tag, summary, query, body, answer, isDeprecated }: OperationDescription,
  key: string,
): Parameters<OpenAPIRegistry['registerPath']>[0] {
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
        body: { required: true, content: { 'application/json': { schema: body } } },
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
        Object.entries(faults).map(([status, text]) => [
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
