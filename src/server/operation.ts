/**
 * Routes that say what they take and give: their parameters and bodies are checked by the same schemas
 * that the API document is made from.
 */
import { z } from 'zod'
import type { Gate } from '../access/gate.ts'
import type { Reply } from './reply.ts'
import { checkBody, checkIdentifier, checkQuery } from './request-check.ts'
import type { Route, RouteMethod, RouteRequest } from './route.ts'

/** What the API document tells of a route. */
export interface OperationDescription {
  readonly tag: string
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Of a 200; without one the answer is text. */
  readonly answer: z.ZodType | undefined
  readonly isDeprecated?: boolean
}

export interface OperationRequest<Query, Body> {
  /** Ids in the path, in order: UUIDs. */
  readonly ids: readonly string[]
  readonly query: Query
  readonly body: Body
  readonly request: RouteRequest
}

export interface OperationForm<Query extends z.ZodObject, Body extends z.ZodType>
  extends OperationDescription {
  readonly method: RouteMethod
  /** `/v1/thing/:thing_id`: what stands for a part of it is a UUID. */
  readonly path: string
  readonly query?: Query
  readonly body?: Body
  handle(given: OperationRequest<z.infer<Query>, z.infer<Body>>, gate: Gate): Reply | Promise<Reply>
}

const noQuery = z.strictObject({})

export function operation<
  Query extends z.ZodObject = typeof noQuery,
  Body extends z.ZodType = z.ZodUndefined,
>(form: OperationForm<Query, Body>): Route {
  const { method, path, query, body, handle } = form
  const names = path.split('/').filter((part) => part.startsWith(':'))
  return {
    method,
    path,
    access: 'key',
    description: form,
    handle: async (request, gate) => {
      const ids = names.map((name, index) =>
        checkIdentifier(name.slice(1), request.parameters[index]!),
      )
      const given = {
        ids,
        query: checkQuery(query ?? noQuery, request.query) as z.infer<Query>,
        body: (body && checkBody(body, await request.body)) as z.infer<Body>,
        request,
      }
      return handle(given, gate)
    },
  }
}
