import { missingAccess } from '../../catalog/missing-access.ts'
import type { Engine } from '../../engine.ts'
import type { ObjectType } from '../../type/record.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'

const types: readonly ObjectType[] = ['project_logs', 'experiment', 'dataset']

/** The routes that write records: `/logs3` for rows of any object, the others for one object. */
export function insertRoutes(engine: Engine): Route[] {
  return [logs3Route(engine), ...types.map((type) => eventsRoute(engine, type))]
}

function logs3Route(engine: Engine): Route {
  return {
    method: 'POST',
    path: '/logs3',
    access: 'key',
    bodySize: 'records',
    handle: async (request, gate) => {
      const body = await request.body
      const { ids, transactionId } = await engine.insert({ body, form: 'logs3', view: gate })
      return jsonReply({ ids, xact_id: transactionId })
    },
  }
}

function eventsRoute(engine: Engine, type: ObjectType): Route {
  return {
    method: 'POST',
    path: `/v1/${type}/:id/insert`,
    access: 'key',
    bodySize: 'records',
    handle: async (request, gate) => {
      const id = request.parameters[0]!
      // Before the body has arrived: who may not write need not send it all.
      if (!gate.writable(type, id)) throw missingAccess('update', type, id)
      const body = await request.body
      const object = { type, id }
      const { ids } = await engine.insert({ body, form: 'events', object, view: gate })
      return jsonReply({ row_ids: ids })
    },
  }
}
