/** `/v1/{type}/{id}/fetch`: pages of whole traces, newest first. */
import type { Gate } from '../../../access/gate.ts'
import { missingAccess } from '../../../catalog/missing-access.ts'
import type { Fields } from '../../../catalog/schema/field.ts'
import type { Engine, QueryResult } from '../../../engine.ts'
import { AssayError } from '../../../error.ts'
import { JsonQuery } from '../../../parser/given-query.ts'
import type { RowChunk } from '../../../scheduler/answer/answer-frame.ts'
import { isJsonObject } from '../../../type/exact-json.ts'
import type { ObjectType } from '../../../type/record.ts'
import { formatTransaction, parseTransaction } from '../../../type/transaction.ts'
import type { Value } from '../../../type/value.ts'
import { readJsonBody } from '../../ignored-fields.ts'
import { numberField, stringField } from '../../json-body.ts'
import { endRows } from '../../query-answer.ts'
import { queryRows } from '../../query-rows.ts'
import type { Reply } from '../../reply.ts'
import type { Route, RouteRequest } from '../../route.ts'

/** What a request of either method may ask for. */
interface Fetch {
  /** Of traces; without it everything comes. */
  readonly limit: number | undefined
  readonly cursor: string | undefined
  readonly version: string | undefined
  /** The older way to page, if that is how it pages. */
  readonly pages: OlderPaging | undefined
  /** Conditions in the JSON form of queries. */
  readonly conditions: readonly unknown[]
}

/**
 * Clients that know no cursor ask for what is below the least `(_xact_id, root_span_id)` of the page
 * before. So a page must have the traces in which that is greatest. A transaction has always as many
 * digits, so that the two can be compared as one text.
 */
interface OlderPaging {
  readonly limit: number | undefined
  readonly below: string | undefined
}

/** An answer that ends within it has its cursor in a header, too. */
const gatheredBytes = 8 * 1024 * 1024

export function fetchRoutes(engine: Engine, type: ObjectType): Route[] {
  const path = `/v1/${type}/:id/fetch`
  const handle = async (request: RouteRequest, gate: Gate, read: () => Promise<Fetch>) => {
    const id = request.parameters[0]!
    if (!gate.readable(type, id)) throw missingAccess('read', type, id)
    const fetch = await read()
    const asked = {
      view: gate,
      signal: request.signal,
      ...(fetch.version !== undefined && { version: fetch.version }),
    }
    const { pages } = fetch
    const traces =
      pages && (await queryRows(engine, { ...asked, query: tracesQuery(type, id, pages) }))
    const query = rowsQuery(type, id, traces ? ofTraces(fetch, traces) : fetch)
    return eventsReply(await engine.query({ ...asked, query, separator: ',\n' }))
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
  const body = await readJsonBody(request)
  const filters = body.get('filters')
  const limit = limitOf(numberField(body, 'limit'))
  return {
    limit,
    cursor: stringField(body, 'cursor'),
    version: stringField(body, 'version'),
    pages: pagesOf(limit, stringField(body, 'max_xact_id'), stringField(body, 'max_root_span_id')),
    conditions: Array.isArray(filters) ? filters.map(conditionOf) : [],
  }
}

function readQuery({ query }: RouteRequest): Fetch {
  const given = (name: string) => query.get(name) || undefined
  const text = query.get('limit')
  const limit = limitOf(text === null ? undefined : /^\d+$/.test(text) ? Number(text) : Number.NaN)
  const below = pagesOf(limit, given('max_xact_id'), given('max_root_span_id'))
  const cursor = given('cursor')
  return {
    limit,
    cursor,
    version: given('version'),
    pages: below ?? (limit === undefined || cursor ? undefined : { limit, below: undefined }),
    conditions: [],
  }
}

function limitOf(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return limit
  throw new AssayError('REQUEST_INVALID', 'limit must be a whole number of traces', {
    path: 'limit',
  })
}

function pagesOf(
  limit: number | undefined,
  transaction: string | undefined,
  rootSpanId: string | undefined,
): OlderPaging | undefined {
  if (transaction !== undefined) {
    const version = formatTransaction(parseTransaction(transaction))
    return { limit, below: version + (rootSpanId ?? '') }
  }
  if (rootSpanId === undefined) return undefined
  throw new AssayError('REQUEST_INVALID', '"max_xact_id" is missing', {
    path: 'max_xact_id',
    hint: 'max_root_span_id goes with it',
  })
}

function rowsQuery(type: ObjectType, id: string, { limit, cursor, conditions }: Fetch): JsonQuery {
  return new JsonQuery(
    {
      select: [{ op: 'star' }],
      from: sourceOf(type, id, 'traces'),
      ...(conditions.length > 0 && { filter: { op: 'and', children: conditions } }),
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    },
    { path: '' },
  )
}

/** The traces of a page, by the least place that any of their spans has. */
function tracesQuery(type: ObjectType, id: string, { limit, below }: OlderPaging): JsonQuery {
  const place = call('concat', [field('_xact_id'), field('root_span_id')])
  const least = field('place')
  return new JsonQuery(
    {
      dimensions: [{ expr: field('root_span_id'), alias: 'trace' }],
      measures: [{ expr: call('min', [place]), alias: 'place' }],
      from: sourceOf(type, id, 'spans'),
      ...(below !== undefined && {
        final_filter: { op: 'lt', left: least, right: { op: 'literal', value: below } },
      }),
      sort: [{ expr: least, dir: 'desc' }],
      ...(limit !== undefined && { limit }),
    },
    { path: '' },
  )
}

function ofTraces(fetch: Fetch, traces: readonly Fields[]): Fetch {
  const value = traces.map(({ trace }) => String(trace))
  const isOfPage: Value = {
    op: 'in',
    left: field('root_span_id'),
    right: { op: 'literal', value },
  }
  return {
    ...fetch,
    limit: undefined,
    cursor: undefined,
    conditions: [...fetch.conditions, isOfPage],
  }
}

function sourceOf(type: ObjectType, id: string, shape: 'spans' | 'traces'): Value {
  return { ...call(type, [{ op: 'literal', value: id }]), shape }
}

function call(name: string, args: readonly Value[]) {
  return { op: 'function', name: { op: 'ident', name: [name] }, args } as const
}

/** `{"type": "path_lookup", "path": […], "value": …}`: the only kind that there ever was. */
function conditionOf(filter: unknown, index: number): unknown {
  if (isJsonObject(filter) && filter.type === 'path_lookup') {
    const { path, value } = filter
    if (Array.isArray(path) && path.length > 0 && path.every((step) => typeof step === 'string')) {
      return {
        op: 'eq',
        left: { op: 'ident', name: path },
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
    if (bytes >= gatheredBytes) {
      return { body: eventsBody(result, gathered, rows), discard: () => endRows(rows) }
    }
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
