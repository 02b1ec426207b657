/** `/v1/{type}/{id}/fetch`: pages of whole traces, newest first. */
import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import type { Engine, QueryResult } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
import { printQuery } from '../../../parser/print-query.ts'
import { readJsonQuery } from '../../../parser/read-json-query.ts'
import type { RowChunk } from '../../../scheduler/run-plan.ts'
import { parseJsonBytes } from '../../../type/parse-json.ts'
import type { ObjectType } from '../../../type/record.ts'
import { isObject, type Value } from '../../../type/value.ts'
import { numberField, parseJsonBody, stringField } from '../../json-body.ts'
import type { Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

/** What a request of either method may ask for. */
interface Fetch {
  /** Of traces; without it everything comes. */
  readonly limit: number | undefined
  readonly cursor: string | undefined
  readonly version: string | undefined
  /** The older way to page: the least `(_xact_id, root_span_id)` of the page before. */
  readonly before:
    | { readonly transaction: string; readonly rootSpanId: string | undefined }
    | undefined
  readonly filters: readonly Value[]
}

/** An answer that ends within it has its cursor in a header, too. */
const gatheredBytes = 8 * 1024 * 1024

export function fetchRoutes(engine: Engine, type: ObjectType): Route[] {
  const path = `/v1/${type}/:id/fetch`
  const handle = async (request: RouteRequest, gate: Gate, read: () => Promise<Fetch>) => {
    const id = request.parameters[0]!
    if (!gate.readable(type, id)) throw missingAccess('read', type, id)
    const fetch = await read()
    const result = await engine.query({
      query: queryOf(type, id, fetch),
      view: gate,
      signal: request.signal,
      separator: ',\n',
      ...(fetch.version !== undefined && { version: fetch.version }),
    })
    return eventsReply(result)
  }
  return [
    {
      method: 'POST',
      path,
      access: 'key',
      handle: (request, gate) => handle(request, gate, () => readBody(request)),
    },
    {
      method: 'GET',
      path,
      access: 'key',
      handle: (request, gate) => handle(request, gate, () => Promise.resolve(readQuery(request))),
    },
  ]
}

async function readBody(request: RouteRequest): Promise<Fetch> {
  const bytes = await request.body
  if (bytes.length === 0) return readQuery(request)
  const body = parseJsonBody(bytes)
  const exact = parseJsonBytes(bytes)
  const filters = isObject(exact) ? exact.filters : undefined
  return {
    limit: limitOf(numberField(body, 'limit')),
    cursor: stringField(body, 'cursor'),
    version: stringField(body, 'version'),
    before: beforeOf(stringField(body, 'max_xact_id'), stringField(body, 'max_root_span_id')),
    filters: Array.isArray(filters) ? (filters as readonly Value[]) : [],
  }
}

function readQuery({ query }: RouteRequest): Fetch {
  const given = (name: string) => query.get(name) || undefined
  const limit = given('limit')
  return {
    limit: limitOf(limit === undefined ? undefined : Number(limit)),
    cursor: given('cursor'),
    version: given('version'),
    before: beforeOf(given('max_xact_id'), given('max_root_span_id')),
    filters: [],
  }
}

function limitOf(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return limit
  throw new AssayError('REQUEST_INVALID', 'limit must be a whole number of traces', {
    path: 'limit',
  })
}

function beforeOf(
  transaction: string | undefined,
  rootSpanId: string | undefined,
): Fetch['before'] {
  if (transaction !== undefined) return { transaction, rootSpanId }
  if (rootSpanId === undefined) return undefined
  throw new AssayError('REQUEST_INVALID', '"max_xact_id" is missing', {
    path: 'max_xact_id',
    hint: 'max_root_span_id goes with it',
  })
}

function queryOf(type: ObjectType, id: string, fetch: Fetch): string {
  const { limit, cursor, before, filters } = fetch
  const conditions = filters.map(conditionOf)
  if (before) conditions.push(beforeCondition(before))
  return printQuery(
    readJsonQuery({
      select: [{ op: 'star' }],
      from: {
        op: 'function',
        name: { op: 'ident', name: [type] },
        args: [{ op: 'literal', value: id }],
        shape: 'traces',
      },
      ...(conditions.length > 0 && { filter: { op: 'and', children: conditions } }),
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      // The older paging goes on below a transaction, so its pages must come by transactions.
      ...(before && {
        sort: ['_xact_id', 'root_span_id'].map((name) => ({ expr: field(name), dir: 'desc' })),
      }),
    }),
  )
}

function beforeCondition({ transaction, rootSpanId }: NonNullable<Fetch['before']>): Value {
  const compare = (op: string, name: string, value: string): Value => ({
    op,
    left: field(name),
    right: { op: 'literal', value },
  })
  const isOlder = compare('lt', '_xact_id', transaction)
  if (rootSpanId === undefined) return isOlder
  const isSame = compare('eq', '_xact_id', transaction)
  const isLess = compare('lt', 'root_span_id', rootSpanId)
  return { op: 'or', children: [isOlder, { op: 'and', children: [isSame, isLess] }] }
}

/** `{"type": "path_lookup", "path": […], "value": …}`: the only kind that there ever was. */
function conditionOf(filter: Value, index: number): Value {
  if (filter !== null && isObject(filter) && filter.type === 'path_lookup') {
    const { path, value } = filter
    if (Array.isArray(path) && path.length > 0 && path.every((step) => typeof step === 'string')) {
      return {
        op: 'eq',
        left: { op: 'ident', name: path as Value },
        right: { op: 'literal', value: value ?? null },
      }
    }
  }
  throw new AssayError('REQUEST_INVALID', `filters[${index}] is no filter`, {
    path: `filters[${index}]`,
    hint: 'send {"type": "path_lookup", "path": ["metadata", "model"], "value": "m1"}',
  })
}

function field(name: string): Value {
  return { op: 'ident', name: [name] }
}

/** `{"events": […], "cursor"?}`, sent as it comes; the cursor also in a header where it can be. */
async function eventsReply(result: QueryResult): Promise<Reply> {
  const rows = result.rows[Symbol.asyncIterator]()
  const gathered: RowChunk[] = []
  let bytes = 0
  for (;;) {
    const next = await rows.next()
    if (next.done) break
    gathered.push(next.value)
    bytes += next.value.bytes.length
    if (bytes >= gatheredBytes) return { body: eventsBody(result, gathered, rows) }
  }
  const parts: Uint8Array[] = []
  for await (const part of eventsBody(result, gathered, rows)) parts.push(part)
  const { cursor } = result.finish()
  return {
    ...(cursor !== undefined && { headers: { 'x-bt-cursor': cursor } }),
    body: Buffer.concat(parts),
  }
}

async function* eventsBody(
  result: QueryResult,
  gathered: readonly RowChunk[],
  rows: AsyncIterator<RowChunk>,
): AsyncGenerator<Uint8Array> {
  let separator = '{"events":['
  const write = function* ({ rowCount, bytes }: RowChunk) {
    if (rowCount === 0) return
    yield Buffer.from(separator)
    yield bytes
    separator = ',\n'
  }
  try {
    for (const chunk of gathered) yield* write(chunk)
    for (let next = await rows.next(); !next.done; next = await rows.next())
      yield* write(next.value)
  } finally {
    await rows.return?.()
  }
  const { cursor } = result.finish()
  const end = cursor === undefined ? ']}' : `],"cursor":${JSON.stringify(cursor)}}`
  yield Buffer.from(separator === ',\n' ? end : `${separator}${end}`)
}
