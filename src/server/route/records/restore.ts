/** Puts a dataset back to an earlier version, by writing what differs. */
import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import type { Engine, QueryResult } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
import { copyOf } from '../../../json/copy-bytes.ts'
import { isJsonObject, writeExactJson } from '../../../type/exact-json.ts'
import { parseTransaction } from '../../../type/transaction.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { requiredString } from '../../json-body.ts'
import { parsedRows } from '../../query-rows.ts'
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
        const { transactionId } = await engine.insert({
          body,
          form: 'events',
          object,
          view: gate,
          mostRows: Number.POSITIVE_INFINITY,
        })
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
  const version = requiredString(await readJsonBody(request), 'version')
  parseTransaction(version)
  const then = await versions(engine, request, gate, datasetId, version)
  const now = await versions(engine, request, gate, datasetId, undefined)
  const changed = [...then.keys()].filter((id) => !now.has(id))
  const written = [...then.keys()].filter((id) => now.has(id) && now.get(id) !== then.get(id))
  for (let from = 0; from < written.length; from += idsPerQuery) {
    const ids = written.slice(from, from + idsPerQuery)
    const before = await contents(engine, request, gate, { datasetId, ids, version })
    const after = await contents(engine, request, gate, { datasetId, ids, version: undefined })
    for (const id of ids) if (before.get(id) !== after.get(id)) changed.push(id)
  }
  return { datasetId, version, changed, added: [...now.keys()].filter((id) => !then.has(id)) }
}

interface Selected {
  readonly datasetId: string
  readonly ids: readonly string[]
  readonly version: string | undefined
}

/** By id, texts that are equal where records are: who wrote them and when is left out. */
async function contents(
  engine: Engine,
  { signal }: RouteRequest,
  gate: Gate,
  selected: Selected,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for await (const rows of parsedRows(await recordsOf(engine, signal, gate, selected))) {
    for (const { _xact_id, audit_data, ...row } of rows) {
      found.set(String(row.id), writeExactJson(sortedByName(row)))
    }
  }
  return found
}

/** The same, with the members of objects in one order. */
function sortedByName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedByName)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).map(
    ([name, member]) => [name, sortedByName(member)] as const,
  )
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Records as JSON texts, with commas between them. */
async function recordsOf(
  engine: Engine,
  signal: AbortSignal,
  view: Gate,
  { datasetId, ids, version }: Selected,
): Promise<QueryResult['rows']> {
  const { rows } = await engine.query({
    query: `select: * | from: dataset('${datasetId}') | filter: id in ${JSON.stringify(ids)}`,
    view,
    signal,
    separator: ',\n',
    ...(version !== undefined && { version }),
  })
  return rows
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
  for await (const part of parsedRows(rows)) {
    for (const { id, _xact_id } of part) found.set(String(id), String(_xact_id))
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
    const ids = changed.slice(from, from + idsPerQuery)
    const records = await recordsOf(engine, signal, gate, { datasetId, ids, version })
    for await (const { rowCount, bytes } of records) if (rowCount > 0) add(copyOf(bytes))
  }
  for (const id of added) add(Buffer.from(JSON.stringify({ id, _object_delete: true })))
  parts.push(Buffer.from(']}'))
  return Buffer.concat(parts)
}
