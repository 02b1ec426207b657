/**
 * Routes that say what they take and give: their parameters and bodies are checked by the same schemas
 * that the API document is made from.
 */
import { z } from 'zod'
import type { Gate } from '../access/gate.ts'
import { type Fields, fields } from '../catalog/schema/field.ts'
import { AssayError } from '../error.ts'
import type { OperationDescription } from './operation-description.ts'
import type { Reply } from './reply.ts'
import { checkBody, checkIdentifier, checkQuery } from './request-check.ts'
import type { Route, RouteMethod, RouteRequest } from './route.ts'

export interface OperationRequest<Query, Body> {
  /** Ids in the path, in order: UUIDs. */
  readonly ids: readonly string[]
  readonly query: Query
  readonly body: Body
  /** Fields of the body that its schema does not know and the operation keeps. */
  readonly further: Fields
  readonly request: RouteRequest
}

export interface OperationForm<Query extends z.ZodObject, Body extends z.ZodType>
  extends OperationDescription {
  readonly method: RouteMethod
  /** `/v1/thing/:thing_id`: what stands for a part of it is a UUID. */
  readonly path: string
  readonly query?: Query
  readonly body?: Body
  /** Whether a field of the body that its schema does not know is kept; none is, if not given. */
  keeps?(name: string): boolean
  handle(given: OperationRequest<z.infer<Query>, z.infer<Body>>, gate: Gate): Reply | Promise<Reply>
}

const noQuery = z.object({})

export function operation<
  Query extends z.ZodObject = typeof noQuery,
  Body extends z.ZodType = z.ZodUndefined,
>(form: OperationForm<Query, Body>): Route {
  const { method, path, query = noQuery, body, keeps, handle } = form
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
      const asked = checkQuery(query, request.query)
      const sent = body && checkBody(body, await request.body)
      const unknown = [...(sent?.unknown ?? [])]
      const ignored = unknown.flatMap(([name]) => (keeps?.(name) ? [] : [name]))
      request.ignored = () => [...ignored, ...(sent?.unknownWithin ?? []), ...asked.unknown.keys()]
      const given = {
        ids,
        query: asked.value as z.infer<Query>,
        body: sent?.value as z.infer<Body>,
        further: requireShort(Object.fromEntries(unknown.filter(([name]) => keeps?.(name)))),
        request,
      }
      return handle(given, gate)
    },
  }
}

/** Throws a 400 when what is kept of a body has more text than an object of any content may have. */
export function requireShort(further: Fields): Fields {
  if (fields.safeParse(further).success) return further
  const [name = ''] = Object.keys(further)
  throw new AssayError('REQUEST_INVALID', 'fields that are not known here have too much text', {
    path: name.slice(0, 200),
    hint: 'put them into "metadata", or leave them out',
  })
}
