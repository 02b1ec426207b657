/** What is no more, and says what took its place. */
import { AssayError } from '../../error.ts'
import { jsonReply } from '../reply.ts'
import { checkIdentifier } from '../request-check.ts'
import { baseExperiment } from '../route/app/base-experiment.ts'
import type { Route, RouteMethod } from '../route.ts'

const methods: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** By the last part of `/crud/…`; types of objects have the same name under `/v1`. */
const replacements: ReadonlyMap<string, string> = new Map([
  ['base_experiments', 'GET /crud/base_experiments?id=… or POST /api/base_experiment/get_id'],
  ['project_logs', 'POST /v1/project_logs/{project_id}/insert or /fetch'],
  ['logs', 'POST /v1/project_logs/{project_id}/insert or /fetch'],
])

export const removedRoutes: readonly Route[] = [
  {
    // Asked by clients of 2023 at the end of a run.
    method: 'GET',
    path: '/crud/base_experiments',
    access: 'key',
    handle: ({ query }, gate) => {
      const id = checkIdentifier('id', query.get('id') ?? '')
      const base = baseExperiment(gate, gate.require('read', 'experiment', id))
      return jsonReply(base ? [{ id, base_exp_id: base.id, base_exp_name: base.name }] : [])
    },
  },
  ...methods.map(
    (method): Route => ({
      method,
      path: '/crud/:object_type',
      access: 'key',
      handle: ({ parameters }) => {
        const type = parameters[0]!.slice(0, 100)
        throw new AssayError('ROUTE_GONE', `/crud/${type} is no more`, {
          hint: `use ${replacements.get(type) ?? `/v1/${type.replace(/s$/, '')}`}`,
        })
      },
    }),
  ),
]
