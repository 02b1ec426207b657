import type { Gate } from '../../access/gate.ts'
import type { Engine } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { faultText } from '../../parser/given-query.ts'
import { type JsonBody, parseJsonBody } from '../json-body.ts'
import { EventStream } from '../live/event-stream.ts'
import type { LiveQueries } from '../live/live-queries.ts'
import { QueryStream } from '../live/query-stream.ts'
import { streamPath } from '../live/sockets.ts'
import { streamRequest } from '../live/stream-request.ts'
import type { Logger } from '../logger.ts'
import { givenQuery } from '../query-body.ts'
import type { Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'

interface StreamRouteOptions {
  readonly engine: Engine
  readonly live: LiveQueries
  readonly logger: Logger
}

/** Proxies that gather an answer would hold back its events. */
const eventHeaders = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Fields of a query that a URL may have, which are no texts. */
const booleans = new Set(['live', 'progress', 'audit_log', 'use_columnstore', 'strict_lint_mode'])
const numbers = new Set(['tz_offset', 'query_timeout_seconds', 'inference_depth', 'api_version'])

/** `GET` and `POST /btql/stream`: the messages of the WebSocket of that path as server-sent events. */
export function streamRoutes(options: StreamRouteOptions): Route[] {
  const headers = ['last-event-id']
  return [
    {
      method: 'GET',
      path: streamPath,
      access: 'key',
      headers,
      handle: (request, gate) => {
        const bytes = Buffer.from(JSON.stringify(fieldsOf(request.query)))
        return events(options, request, gate, bytes)
      },
    },
    {
      method: 'POST',
      path: streamPath,
      access: 'key',
      headers,
      handle: async (request, gate) => events(options, request, gate, await request.body),
    },
  ]
}

function events(
  { engine, live, logger }: StreamRouteOptions,
  request: RouteRequest,
  gate: Gate,
  bytes: Uint8Array,
): Reply {
  const body = withLastEvent(parseJsonBody(bytes), request.headers.get('last-event-id'))
  const query = givenQuery(body, bytes)
  request.queryText = faultText(query)
  const sink = new EventStream()
  const stream = new QueryStream({
    engine,
    live,
    logger,
    sink,
    request: streamRequest(body, query, gate, ['json']),
    name: undefined,
    traceId: gate.owner.requestId,
    gateNow: request.gateNow,
  })
  // What is wrong with the query itself has a status of its own.
  stream.check()
  return {
    contentType: 'text/event-stream; charset=utf-8',
    headers: eventHeaders,
    isCompressible: false,
    body: bodyOf(stream, sink, request.signal),
  }
}

/** Nothing runs before it is read, as for a HEAD, and nothing once that has ended. */
async function* bodyOf(stream: QueryStream, sink: EventStream, signal: AbortSignal) {
  const leave = () => {
    const { reason } = signal as { readonly reason: unknown }
    const isTold = reason instanceof AssayError
    stream.cancel(isTold ? reason : new AssayError('QUERY_CANCELLED', 'the client left'))
  }
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  void stream.run().then(() => sink.end())
  try {
    yield* sink
  } finally {
    leave()
  }
}

/** A browser that connects again sends the id of the last event that it had. */
function withLastEvent(body: JsonBody, lastEvent: string | undefined): JsonBody {
  if (lastEvent === undefined || body.get('live') !== true) return body
  return new Map([...body, ['since', lastEvent]])
}

function fieldsOf(query: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(Array.from(query, ([name, text]) => [name, typedValue(name, text)]))
}

function typedValue(name: string, text: string): unknown {
  if (booleans.has(name) && (text === 'true' || text === 'false')) return text === 'true'
  if (numbers.has(name) && text !== '' && Number.isFinite(Number(text))) return Number(text)
  return text
}
