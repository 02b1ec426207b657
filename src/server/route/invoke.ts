/** `/function/invoke`. One function is part of the service: the one that makes a thread of a trace. */
import { z } from 'zod'
import type { Engine } from '../../engine.ts'
import { readJsonBody } from '../ignored-fields.ts'
import type { JsonBody } from '../json-body.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'
import { type TraceReference, threadOf } from '../thread.ts'
import { functionsAreNotRun } from './not-run.ts'

const threadFunctions: ReadonlySet<unknown> = new Set(['project_default', 'thread'])

const threadInput = z.object({
  trace_ref: z.object({
    object_type: z.enum(['project_logs', 'experiment', 'playground_logs', 'dataset']),
    object_id: z.string(),
    root_span_id: z.string(),
  }),
})

export function invokeRoutes(engine: Engine): Route[] {
  return [
    {
      method: 'POST',
      path: '/function/invoke',
      access: 'key',
      handle: async (request, gate) => {
        const trace = askedThread(await readJsonBody(request))
        if (!trace) throw functionsAreNotRun()
        return jsonReply(await threadOf({ engine, gate, signal: request.signal }, trace))
      },
    },
  ]
}

/** The trace of which a body asks for the thread; undefined if it asks for anything else. */
function askedThread(body: JsonBody): TraceReference | undefined {
  const isThread = threadFunctions.has(body.get('global_function'))
  if (!isThread || body.get('function_type') !== 'preprocessor') return undefined
  const { success, data } = threadInput.safeParse(body.get('input'))
  if (!success || body.get('stream') === true) return undefined
  const { object_type, object_id, root_span_id } = data.trace_ref
  return { objectType: object_type, objectId: object_id, rootSpanId: root_span_id }
}
