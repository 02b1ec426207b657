/** Puts a dataset back to an earlier version, by writing what differs. */
import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import type { Engine } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
import { parseTransaction } from '../../../type/transaction.ts'
import { parseJsonBody, requiredString } from '../../json-body.ts'
import { jsonReply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

interface Difference {
  readonly datasetId: string
  readonly version: string
  /** Ids of records that are gone or other than they were. */
  readonly changed: readonly string[]
  /** Ids of records that were not there. */
  readonly added: readonly string[]
}

/** Ids in one look-up. */
const idsPerQuery = 1000

export function restoreRoutes(engine: Engine, maxBodyBytes: number): Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/dataset/:id/restore/preview',
      access: 'key',
      handle: async (request, gate) => {
        const { changed, added } = await differenceOf(engine, request, gate)
        return jsonReply({ rows_to_restore: changed.length, rows_to_delete: added.length })
      },
    },
    {
      method: 'POST',
      path: '/v1/dataset/:id/restore',
      access: 'key',
      handle: async (request, gate) => {
        const id = request.parameters[0]!
        if (!gate.writable('dataset', id)) throw missingAccess('update', 'dataset', id)
        const difference = await differenceOf(engine, request, gate)
        const { changed, added } = difference
        const counts = { rows_restored: changed.length, rows_deleted: added.length }
        if (changed.length + added.length === 0) return jsonReply({ xact_id: null, ...counts })
        const body = await compensation(engine, request, gate, difference, maxBodyBytes)
        const object = { type: 'dataset', id } as const
        const { transactionId } = await engine.insert({ body, form: 'events', object, view: gate })
        return jsonReply({ xact_id: transactionId, ...counts })
      },
    },
  ]
}

async function differenceOf(
  engine: Engine,
  request: RouteRequest,
  gate: Gate,
): Promise<Difference> {
  const datasetId = request.parameters[0]!
  if (!gate.readable('dataset', datasetId)) throw missingAccess('read', 'dataset', datasetId)
  const version = requiredString(parseJsonBody(await request.body), 'version')
  parseTransaction(version)
  const then = await versions(engine, request, gate, datasetId, version)
  const now = await versions(engine, request, gate, datasetId, undefined)
  return {
    datasetId,
    version,
    changed: [...then.keys()].filter((id) => now.get(id) !== then.get(id)),
    added: [...now.keys()].filter((id) => !then.has(id)),
  }
}

/** The transaction that wrote each record last, by id. */
async function versions(
  engine: Engine,
  { signal }: RouteRequest,
  gate: Gate,
  datasetId: string,
  version: string | undefined,
): Promise<Map<string, string>> {
  const { rows } = await engine.query({
    query: `select: id, _xact_id | from: dataset('${datasetId}')`,
    view: gate,
    signal,
    separator: ',\n',
    ...(version !== undefined && { version }),
  })
  const found = new Map<string, string>()
  for await (const { rowCount, bytes } of rows) {
    if (rowCount === 0) continue
    for (const { id, _xact_id } of JSON.parse(`[${Buffer.from(bytes)}]`) as {
      id: string
      _xact_id: string
    }[]) {
      found.set(id, _xact_id)
    }
  }
  return found
}

/** A request's body that undoes the difference, in one transaction. */
async function compensation(
  engine: Engine,
  { signal }: RouteRequest,
  gate: Gate,
  { datasetId, version, changed, added }: Difference,
  maxBodyBytes: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  const add = (bytes: Uint8Array) => {
    parts.push(Buffer.from(parts.length === 0 ? '{"events":[' : ','), bytes)
    size += bytes.length + 1
    if (size <= maxBodyBytes) return
    throw new AssayError('REQUEST_TOO_LARGE', 'the restored records are too large for one write', {
      hint: 'restore a version with fewer differences, or raise --max-body-bytes',
    })
  }
  for (let from = 0; from < changed.length; from += idsPerQuery) {
    const ids = JSON.stringify(changed.slice(from, from + idsPerQuery))
    const { rows } = await engine.query({
      query: `select: * | from: dataset('${datasetId}') | filter: id in ${ids}`,
      version,
      view: gate,
      signal,
      separator: ',\n',
    })
    for await (const { rowCount, bytes } of rows) if (rowCount > 0) add(bytes.slice())
  }
  for (const id of added) add(Buffer.from(JSON.stringify({ id, _object_delete: true })))
  parts.push(Buffer.from(']}'))
  return Buffer.concat(parts)
}
