import type { FileHandle } from 'node:fs/promises'
import type { Gate } from '../../access/gate.ts'
import { AssayError } from '../../error.ts'
import { contentTypeOf, formatNames } from '../../format/output-format.ts'
import type { AsyncQueries } from '../async/async-queries.ts'
import {
  fileBytes,
  findPage,
  formatPageCursor,
  type PagePlace,
  pageRows,
  readPageCursor,
} from '../async/result-page.ts'
import type { AsyncQueryState } from '../async/result-store.ts'
import { readAsyncBody } from '../query-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'

const mostPageRows = 10_000

/**
 * `POST /btql/async` starts a query that nobody waits for; below it are its status, its result, page by
 * page, and ways to end it. Only who asked sees any of it.
 */
export function asyncRoutes(queries: AsyncQueries): Route[] {
  const shown = (state: AsyncQueryState) => shownState(state, queries)
  return [
    {
      method: 'POST',
      path: '/btql/async',
      access: 'key',
      handle: async (request, gate) => {
        const asked = await readAsyncBody(request, gate)
        const { id, status } = await queries.start(asked, gate)
        return jsonReply({ id, status })
      },
    },
    {
      method: 'GET',
      path: '/btql/async',
      access: 'key',
      handle: (_, gate) => jsonReply({ queries: queries.list(gate).map(shown) }),
    },
    {
      method: 'GET',
      path: '/btql/async/:id',
      access: 'key',
      handle: ({ parameters }, gate) => jsonReply(shown(queries.state(parameters[0]!, gate))),
    },
    {
      method: 'GET',
      path: '/btql/async/:id/result',
      access: 'key',
      handle: (request, gate) => resultReply(queries, request, gate),
    },
    {
      method: 'POST',
      path: '/btql/async/:id/cancel',
      access: 'key',
      handle: async ({ parameters }, gate) =>
        jsonReply(shown(await queries.cancel(parameters[0]!, gate))),
    },
    {
      method: 'DELETE',
      path: '/btql/async/:id',
      access: 'key',
      handle: async ({ parameters }, gate) =>
        jsonReply(shown(await queries.remove(parameters[0]!, gate))),
    },
  ]
}

function shownState(state: AsyncQueryState, queries: AsyncQueries) {
  const { id, status, error, query, format, rowCount, bytes } = state
  const progress = queries.progress(id)
  const expires = queries.expires(state)
  return {
    id,
    status,
    ...(error !== null && { error }),
    query,
    format,
    created: time(state.created),
    ...(state.ended !== null && { ended: time(state.ended) }),
    ...(expires !== null && { expires: time(expires) }),
    row_count: progress?.rowsSent ?? rowCount,
    bytes,
    ...(progress && {
      progress: { rows_to_read: progress.rowsToRead, rows_read: progress.rowsRead },
    }),
  }
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}

/** A page of rows, or, of other formats than JSON lines, the whole file. */
async function resultReply(
  queries: AsyncQueries,
  { parameters, query }: RouteRequest,
  gate: Gate,
): Promise<Reply> {
  const state = queries.state(parameters[0]!, gate)
  const { id, status, error, format, bytes: size } = state
  if (status !== 'succeeded') {
    return jsonReply({ status, rows: [], ...(error !== null && { error }) })
  }
  await queries.requireSources(state, gate)
  if (format !== 'jsonl') {
    const name = `assay-${id}.${formatNames[format].ending}`
    return {
      contentType: contentTypeOf(format),
      isCompressible: formatNames[format].isCompressible,
      headers: { 'content-disposition': `attachment; filename="${name}"` },
      body: reading(queries, id, (file) => fileBytes(file, size)),
    }
  }
  const place = await findPlace(queries, state, query)
  const cursor = place.to < size ? formatPageCursor(place.to) : undefined
  return {
    headers: cursor === undefined ? {} : { 'x-bt-cursor': cursor },
    body: reading(queries, id, (file) => pageBody(pageRows(file, place), cursor)),
  }
}

async function findPlace(
  queries: AsyncQueries,
  state: AsyncQueryState,
  query: URLSearchParams,
): Promise<PagePlace> {
  const limit = pageLimit(query.get('limit'), state)
  const file = await queries.openRows(state.id)
  try {
    const from = await readPageCursor(query.get('cursor'), file, state.bytes)
    return await findPage(file, from, state.bytes, limit)
  } finally {
    await file.close()
  }
}

function pageLimit(text: string | null, { batchSize }: AsyncQueryState): number {
  if (text === null || text === '') return batchSize
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1) return Math.min(limit, mostPageRows)
  throw new AssayError('REQUEST_INVALID', `limit "${text.slice(0, 100)}" is no number of rows`, {
    path: 'limit',
    hint: `give a whole number from 1 to ${mostPageRows}`,
  })
}

async function* pageBody(rows: AsyncIterable<Uint8Array>, cursor: string | undefined) {
  yield Buffer.from('{"status":"succeeded","rows":[')
  yield* rows
  yield Buffer.from(`]${cursor === undefined ? '' : `,"cursor":"${cursor}"`}}`)
}

/** Has the file open only while its bytes are read. */
async function* reading(
  queries: AsyncQueries,
  id: string,
  read: (file: FileHandle) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const file = await queries.openRows(id)
  try {
    yield* read(file)
  } finally {
    await file.close()
  }
}
