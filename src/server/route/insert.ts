import { missingAccess } from '../../catalog/missing-access.ts'
import type { ObjectType } from '../../type/record.ts'
import { type RecordInserter, writtenBy } from '../record-inserter.ts'
import { jsonReply } from '../reply.ts'
import type { Route } from '../route.ts'

const types: readonly ObjectType[] = ['project_logs', 'experiment', 'dataset']

/** The routes that write records of one object. */
export function insertRoutes(writer: RecordInserter): Route[] {
  return types.map((type) => eventsRoute(writer, type))
}

function eventsRoute(writer: RecordInserter, type: ObjectType): Route {
  return {
    method: 'POST',
    path: `/v1/${type}/:id/insert`,
    access: 'key',
    bodySize: 'records',
    isInsert: true,
    handle: async (request, gate) => {
      const id = request.parameters[0]!
      // Before the body has arrived: who may not write need not send it all.
      if (!gate.writable(type, id)) throw missingAccess('update', type, id)
      const body = await request.body
      const object = { type, id }
      const { ids } = await writer.insert({ body, form: 'events', object, ...writtenBy(gate) })
      return jsonReply({ row_ids: ids })
    },
  }
}
