/** Routes that write records in other forms than plain rows: feedback, and `/v1/insert`. */
import { missingAccess } from '../../../catalog/missing-access.ts'
import type { Fields } from '../../../catalog/schema/field.ts'
import { AssayError } from '../../../error.ts'
import { isJsonObject, writeExactJson } from '../../../type/exact-json.ts'
import type { ObjectType } from '../../../type/record.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { type RecordInserter, writtenBy } from '../../record-inserter.ts'
import { jsonReply } from '../../reply.ts'
import type { Route } from '../../route.ts'
import { feedbackRows } from './feedback.ts'

export function feedbackRoute(writer: RecordInserter, type: ObjectType): Route {
  return {
    method: 'POST',
    path: `/v1/${type}/:id/feedback`,
    access: 'key',
    bodySize: 'records',
    handle: async (request, gate) => {
      const id = request.parameters[0]!
      if (!gate.writable(type, id)) throw missingAccess('update', type, id)
      const body = await readJsonBody(request)
      const events = listOf(body.get('feedback'), 'feedback').flatMap((item, index) =>
        feedbackRows(item, `feedback[${index}]`),
      )
      if (events.length > 0) {
        const object = { type, id }
        const rows = { body: encode({ events }), form: 'events', object } as const
        await writer.insert({ ...rows, ...writtenBy(gate) })
      }
      return jsonReply({ status: 'success' })
    },
  }
}

/** How rows of `/logs3` name an object of each type. */
const namings = {
  experiment: (id: string) => ({ experiment_id: id }),
  dataset: (id: string) => ({ dataset_id: id }),
  project_logs: (id: string) => ({ project_id: id, log_id: 'g' }),
} as const

/** `/v1/insert`: events and feedback of any number of objects, in one transaction. */
export function insertAnywhereRoute(writer: RecordInserter): Route {
  return {
    method: 'POST',
    path: '/v1/insert',
    access: 'key',
    bodySize: 'records',
    handle: async (request, gate) => {
      const body = await readJsonBody(request)
      const rows: Fields[] = []
      const answer: Record<string, Record<string, { row_ids: string[] }>> = {}
      const waiting: { readonly rowIds: string[]; readonly row: number }[] = []
      for (const [type, name] of Object.entries(namings)) {
        const objects = body.get(type)
        if (objects === undefined) continue
        if (!isJsonObject(objects)) throw invalid(type, 'must be an object of objects by id')
        for (const [id, given] of Object.entries(objects)) {
          const path = `${type}.${id.slice(0, 100)}`
          if (!isJsonObject(given)) throw invalid(path, 'must be an object')
          const rowIds: string[] = []
          answer[type] = { ...answer[type], [id]: { row_ids: rowIds } }
          listOf(given.events, `${path}.events`).forEach((event, index) => {
            if (!isJsonObject(event)) {
              throw invalid(`${path}.events[${index}]`, 'must be an object')
            }
            waiting.push({ rowIds, row: rows.length })
            rows.push({ ...event, ...name(id) })
          })
          listOf(given.feedback, `${path}.feedback`).forEach((item, index) => {
            for (const row of feedbackRows(item, `${path}.feedback[${index}]`)) {
              rows.push({ ...row, ...name(id) })
            }
          })
        }
      }
      if (rows.length > 0) {
        const written = { body: encode({ rows }), form: 'logs3', ...writtenBy(gate) } as const
        const inserted = await writer.insert(written)
        for (const { rowIds, row } of waiting) rowIds.push(inserted.ids[row]!)
      }
      return jsonReply(answer)
    },
  }
}

function listOf(list: unknown, path: string): readonly unknown[] {
  if (list === null || list === undefined) return []
  if (Array.isArray(list)) return list
  throw invalid(path, 'must be an array')
}

function encode(body: Fields): Uint8Array {
  return Buffer.from(writeExactJson(body))
}

function invalid(path: string, problem: string): AssayError {
  return new AssayError('REQUEST_INVALID', `${path} ${problem}`, { path })
}
