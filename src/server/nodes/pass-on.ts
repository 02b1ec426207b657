/** Routes that a query node does not answer itself: their requests go to the home node, which decides about them. */
import type { IncomingMessage } from 'node:http'
import { parseTransaction } from '../../type/transaction.ts'
import type { PublicUrl } from '../public-url.ts'
import type { Reply } from '../reply.ts'
import type { Route, RouteRequest } from '../route.ts'
import type { Home } from './home.ts'
import { positionHeader, transactionHeader } from './seen.ts'

/** Of one connection alone, or of the body as it was sent to this node. */
const ownOfRequest = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'proxy-connection',
  'proxy-authorization',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
])

/** The same of an answer, and what this node says itself. */
const ownOfAnswer = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
  'date',
  'vary',
  'server',
  'uwebsockets',
  'content-length',
  'content-type',
  'content-encoding',
  'x-request-id',
  'x-bt-internal-trace-id',
  'x-bt-api-duration-ms',
  'access-control-allow-origin',
  'access-control-expose-headers',
])

/** Its own changes are here when a client is told of them, unless that takes longer. */
const longestWaitMs = 2000

export interface PassOnOptions {
  readonly home: Home
  readonly publicUrl: PublicUrl
}

/** The same routes; those that only the home answers are passed on to it. */
export function passedOn(routes: readonly Route[], options: PassOnOptions): Route[] {
  return routes.map((route): Route => {
    if (route.servedBy === 'any') return route
    const handle = (request: RouteRequest) => passOn(request, options)
    const { access, ...target } = route
    if (access === 'open') {
      const { admit: _, ...others } = target as Extract<Route, { access: 'open' }>
      return { ...others, access, headers: 'all', handle }
    }
    const { waitsForBody: _, ...others } = target as Extract<Route, { access: 'key' }>
    return { ...others, access, headers: 'all', handle }
  })
}

async function passOn(request: RouteRequest, { home, publicUrl }: PassOnOptions): Promise<Reply> {
  const { method, url, signal } = request
  // All of its parameters are for the home to look at.
  for (const _ of request.query);
  const own = new URL(publicUrl(request.headers))
  const headers: Record<string, string> = { 'accept-encoding': 'identity' }
  for (const [name, value] of request.headers) if (!ownOfRequest.has(name)) headers[name] = value
  headers['x-forwarded-host'] = own.host
  headers['x-forwarded-proto'] = own.protocol.slice(0, -1)
  if (request.address !== '') headers['x-forwarded-for'] = request.address
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await request.body : undefined
  const answer = await home.connection.send({ method, path: url, headers, body, signal })
  if (hasBody) await untilHere(home, answer)
  return replyOf(answer, method, home)
}

/** Whoever changes something through this node finds it here. */
async function untilHere(home: Home, { headers }: IncomingMessage): Promise<void> {
  const transaction = transactionOf(headers[transactionHeader])
  const position = numberOf(headers[positionHeader])
  // It is done all the same, and told of: the next request may bring the transaction along.
  await Promise.allSettled([
    ...(position === undefined ? [] : [home.caughtUp(position, longestWaitMs)]),
    ...(transaction === undefined ? [] : [home.reached(transaction, longestWaitMs)]),
  ])
}

/** Longer bodies are sent as they come. */
const wholeBytes = 256 * 1024

async function replyOf(answer: IncomingMessage, method: string, home: Home): Promise<Reply> {
  const status = answer.statusCode ?? 502
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !ownOfAnswer.has(name)) headers[name] = value
  }
  const contentType = answer.headers['content-type']
  const head = { status, headers, ...(contentType !== undefined && { contentType }) }
  const length = Number(answer.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  const body = bodyOf(answer, home)
  if (method !== 'HEAD' && status !== 204 && status !== 304 && length > wholeBytes) {
    const isCompressible = answer.headers['content-range'] === undefined
    return { ...head, isCompressible, body }
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return { ...head, body: Buffer.concat(chunks) }
}

async function* bodyOf(answer: IncomingMessage, home: Home): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of answer) yield chunk as Uint8Array
  } catch (thrown) {
    throw home.connection.unavailable(thrown)
  } finally {
    // Whoever leaves early ends it at the home, too.
    answer.destroy()
  }
}

function transactionOf(value: string | readonly string[] | undefined): number | undefined {
  return typeof value === 'string' ? parseTransaction(value) : undefined
}

function numberOf(value: string | readonly string[] | undefined): number | undefined {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
}
