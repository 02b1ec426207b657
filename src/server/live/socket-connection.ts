/** One WebSocket: who is at its other end, the queries that run for it, and what it has not taken yet. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Access, Credentials } from '../../access/access.ts'
import type { Gate } from '../../access/gate.ts'
import type { Principal } from '../../access/principal.ts'
import type { Engine } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import { copyOf } from '../../json/copy-bytes.ts'
import { faultText } from '../../parser/given-query.ts'
import { errorFields } from '../error-response.ts'
import type { Peer, PeerListener } from '../http/http-server.ts'
import { type JsonBody, parseJsonBody, requiredString, stringField } from '../json-body.ts'
import type { Logger } from '../logger.ts'
import { givenQuery } from '../query-body.ts'
import { newTraceId } from '../trace-id.ts'
import type { LiveQueries } from './live-queries.ts'
import { aroundRows, type MessageSink, type StreamMessage } from './message.ts'
import { QueryStream } from './query-stream.ts'
import { streamRequest } from './stream-request.ts'

export interface ConnectionOptions {
  readonly engine: Engine
  readonly access: Access
  readonly live: LiveQueries
  readonly logger: Logger
  /** Counts a request. Throws when there were too many. */
  readonly countRequest: (who: Principal) => void
  readonly opened: (connection: SocketConnection) => void
  readonly closed: (connection: SocketConnection) => void
}

/** Why a connection is closed, beyond the codes that there are. */
export const closeCodes = {
  goingAway: 1001,
  unsupported: 1003,
  tryAgain: 1013,
  unauthenticated: 4401,
} as const

/** Queries that one connection may have at a time. */
const mostQueries = 16

const longestName = 100

/** Rows wait for those before them while more than this is on its way. */
const highWater = 256 * 1024

/** What of a long message is handed over in a turn. */
const chunkBytes = 2 ** 20

interface EarlyMessage {
  readonly message: Uint8Array
  readonly isBinary: boolean
}

export class SocketConnection implements MessageSink, PeerListener {
  readonly #options: ConnectionOptions
  /** Of the other end. */
  readonly address: string
  readonly #queries = new Map<string, QueryStream>()
  #credentials: Credentials | undefined
  #peer: Peer | undefined
  /** Why it is closed once its queries have ended. */
  #ending: { readonly code: number; readonly reason: string } | undefined
  /** By `performance.now()`: when the other end was last known to be there. */
  #seenAt = performance.now()
  /** The last that waits to send rows. */
  #lastRows: Promise<void> = Promise.resolve()
  #writable: (() => void) | undefined
  /** Messages that wait for the end of a long one. */
  #waiting: string[] | undefined
  /** Messages of the other end that wait for what it has seen elsewhere; undefined once that is here. */
  #early: EarlyMessage[] | undefined

  /**
   * @param credentials those of the request; undefined when a message is to bring them
   * @param arrival resolves when what the client has seen elsewhere is here; undefined when it is
   */
  constructor(
    options: ConnectionOptions,
    address: string,
    credentials: Credentials | undefined,
    arrival: Promise<void> | undefined,
  ) {
    this.#options = options
    this.address = address
    if (!arrival) this.#enter(credentials)
    else void this.#enterAfter(arrival, credentials)
  }

  /** Throws ACCESS_UNAUTHENTICATED. */
  #enter(credentials: Credentials | undefined): void {
    if (!credentials) return
    this.#principal(credentials)
    this.#credentials = credentials
    if (this.#peer) this.send({ type: 'ready' })
  }

  async #enterAfter(arrival: Promise<void>, credentials: Credentials | undefined): Promise<void> {
    const early: EarlyMessage[] = []
    this.#early = early
    try {
      await arrival
      this.#enter(credentials)
    } catch (thrown) {
      const error = toAssayError(thrown)
      this.send({ type: 'error', ...errorFields(error, { traceId: newTraceId() }) })
      const isUnknown = error.code === 'ACCESS_UNAUTHENTICATED'
      this.end(isUnknown ? closeCodes.unauthenticated : closeCodes.tryAgain, error.message)
      return
    }
    this.#early = undefined
    for (const { message, isBinary } of early) this.receive(message, isBinary)
  }

  get isAuthenticated(): boolean {
    return this.#credentials !== undefined
  }

  get queries(): number {
    return this.#queries.size
  }

  /** For how long nothing has come from the other end, and nothing was taken by it. */
  get silentMs(): number {
    return performance.now() - this.#seenAt
  }

  open(peer: Peer): void {
    this.#peer = peer
    this.#options.opened(this)
    if (this.isAuthenticated) this.send({ type: 'ready' })
  }

  seen(): void {
    this.#seenAt = performance.now()
  }

  receive(message: Uint8Array, isBinary: boolean): void {
    this.seen()
    if (this.#early) {
      if (this.#early.length < mostQueries) this.#early.push({ message: copyOf(message), isBinary })
      else this.end(closeCodes.tryAgain, 'too many messages before the node has what was seen')
      return
    }
    if (isBinary) {
      this.end(closeCodes.unsupported, 'messages are JSON texts')
      return
    }
    const traceId = newTraceId()
    let text: string | undefined
    let name: string | undefined
    try {
      const body = parseJsonBody(message)
      const type = stringField(body, 'type') ?? 'query'
      if (type === 'authenticate') {
        this.#authenticate(body)
        return
      }
      const credentials = this.#requireCredentials()
      const id = stringField(body, 'id')?.slice(0, longestName)
      if (type === 'cancel') {
        this.#queries.get(id ?? '')?.cancel(cancelled())
        return
      }
      if (type !== 'query') throw unknownType(type)
      this.#requirePlace(id)
      name = id
      this.#options.countRequest(this.#principal(credentials))
      const query = givenQuery(body, message)
      text = faultText(query)
      const gateNow = () => this.#gate(traceId)
      const request = streamRequest(body, query, gateNow(), ['json', 'arrow'])
      const { engine, live, logger } = this.#options
      const options = { engine, live, logger, request, traceId, name, gateNow, sink: this }
      this.#run(name ?? '', new QueryStream(options))
    } catch (thrown) {
      const error = toAssayError(thrown)
      const id = name === undefined ? {} : { id: name }
      this.send({ type: 'error', ...id, ...errorFields(error, { traceId, queryText: text }) })
      if (error.code === 'ACCESS_UNAUTHENTICATED') {
        this.end(closeCodes.unauthenticated, 'no valid key')
      }
    }
  }

  /** Whoever is not let in any more is put out. */
  recheck(): void {
    if (!this.#credentials) return
    try {
      this.#principal(this.#credentials)
    } catch (thrown) {
      const error = toAssayError(thrown)
      for (const query of this.#queries.values()) query.cancel(error)
      this.#endWhenDone(closeCodes.unauthenticated, 'the key or the session is not valid any more')
    }
  }

  /** The other end has taken something. */
  drained(): void {
    this.seen()
    this.#writable?.()
  }

  ping(): void {
    this.#peer?.ping()
  }

  /** Takes no more queries, and closes once those that run have ended. */
  drain(): void {
    this.#endWhenDone(closeCodes.goingAway, 'the server is shutting down')
  }

  /** Ends its queries and closes it. */
  end(code: number, reason: string): void {
    const peer = this.#peer
    this.#leave()
    peer?.end(code, reason)
  }

  /** Closes it without a word, as of who takes none. */
  cut(): void {
    const peer = this.#peer
    this.#leave()
    peer?.close()
  }

  closed(): void {
    this.#leave()
    this.#options.closed(this)
  }

  /** Nothing is sent any more, and the work for it ends. */
  #leave(): void {
    this.#peer = undefined
    const error = new AssayError('QUERY_CANCELLED', 'the client left')
    for (const query of this.#queries.values()) query.cancel(error)
    this.#writable?.()
  }

  send(message: StreamMessage): void {
    const text = JSON.stringify(message)
    if (this.#waiting) this.#waiting.push(text)
    else this.#peer?.send(text)
  }

  sendRows(message: StreamMessage, rows: Uint8Array): Promise<void> {
    const { head, tail } = aroundRows(message)
    return this.#inTurn(() => this.#sendLong([Buffer.from(head), rows, Buffer.from(tail)], false))
  }

  sendBytes(message: StreamMessage, bytes: Uint8Array): Promise<void> {
    return this.#inTurn(() => {
      this.send(message)
      return this.#sendLong([bytes], true)
    })
  }

  /** Sends the parts as one message, a bounded chunk a turn. Other messages wait until it has left. */
  async #sendLong(parts: readonly Uint8Array[], isBinary: boolean): Promise<void> {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (length <= chunkBytes) {
      this.#peer?.send(Buffer.concat(parts), isBinary)
      return
    }
    this.#waiting = []
    let sent = 0
    for (const part of parts) {
      for (let at = 0; at < part.length && this.#peer; at += chunkBytes) {
        const chunk = part.subarray(at, at + chunkBytes)
        const place = sent === 0 ? 'first' : sent + chunk.length === length ? 'last' : 'middle'
        this.#peer.sendPart(chunk, place, isBinary)
        sent += chunk.length
        await this.#taken()
        await nextTurn()
      }
    }
    const waiting = this.#waiting
    this.#waiting = undefined
    for (const message of waiting) this.#peer?.send(message)
  }

  /** Large messages go one by one: the next is handed over when the one before has mostly left. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const before = this.#lastRows
    this.#lastRows = (async () => {
      await before
      if (this.#peer) await write()
      await this.#taken()
    })()
    return this.#lastRows
  }

  async #taken(): Promise<void> {
    while (this.#peer && this.#peer.getBufferedAmount() > highWater) {
      await new Promise<void>((resolve) => {
        this.#writable = resolve
      })
    }
    this.#writable = undefined
  }

  #run(name: string, query: QueryStream): void {
    query.check()
    this.#queries.set(name, query)
    void query.run().then(() => {
      this.#queries.delete(name)
      this.#endIfDone()
    })
  }

  #endWhenDone(code: number, reason: string): void {
    this.#ending ??= { code, reason }
    this.#endIfDone()
  }

  #endIfDone(): void {
    if (this.#ending && this.#queries.size === 0) this.end(this.#ending.code, this.#ending.reason)
  }

  #authenticate(body: JsonBody): void {
    const impersonate = stringField(body, 'impersonate')
    const address = () => this.address
    const credentials = { token: requiredString(body, 'key'), impersonate, address }
    this.#principal(credentials)
    this.#credentials = credentials
    this.send({ type: 'ready' })
  }

  #principal(credentials: Credentials): Principal {
    return this.#options.access.authenticate(credentials)
  }

  #gate(traceId: string): Gate {
    return this.#options.access.gate(this.#principal(this.#requireCredentials()), traceId)
  }

  #requireCredentials(): Credentials {
    if (this.#credentials) return this.#credentials
    throw new AssayError('ACCESS_UNAUTHENTICATED', 'the connection has brought no key', {
      hint: 'connect with the header "Authorization: Bearer <key>", or first send {"type": "authenticate", "key": "<key>"}',
    })
  }

  #requirePlace(id: string | undefined): void {
    if (this.#ending) throw new AssayError('STORAGE_UNAVAILABLE', this.#ending.reason)
    if (this.#queries.has(id ?? '')) {
      throw new AssayError('REQUEST_CONFLICT', 'a query of that id is open on this connection', {
        path: 'id',
        hint: 'give each query an id of its own',
      })
    }
    if (this.#queries.size >= mostQueries) {
      throw new AssayError('LIMIT_RATE', `this connection has ${mostQueries} queries open`, {
        hint: 'cancel one of them, or open another connection',
      })
    }
  }
}

function cancelled(): AssayError {
  return new AssayError('QUERY_CANCELLED', 'the query was cancelled')
}

function unknownType(type: string): AssayError {
  return new AssayError('REQUEST_INVALID', `"${type.slice(0, 100)}" is no message`, {
    path: 'type',
    hint: 'send "query", "cancel" or "authenticate"',
  })
}
