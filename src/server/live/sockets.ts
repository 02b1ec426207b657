/** `/btql/stream` as a WebSocket: who may open one, and how long it stays open. */
import { networkOf } from '../../access/guess-limits.ts'
import { AssayError, toAssayError } from '../../error.ts'
import { type ClientAddresses, credentialsOf, hasCredentials } from '../credentials.ts'
import type { Connected, Refusal, RequestHead, SocketRoute } from '../http/http-server.ts'
import { framingOf } from '../http/request-framing.ts'
import { namedHeaders } from '../named-headers.ts'
import type { Arrivals } from '../nodes/arrivals.ts'
import { addressHeaders, type PublicUrl } from '../public-url.ts'
import { type ConnectionOptions, closeCodes, SocketConnection } from './socket-connection.ts'

export interface SocketsOptions extends Omit<ConnectionOptions, 'opened' | 'closed'> {
  readonly refuse: (error: AssayError, path: string) => Refusal
  readonly publicUrl: PublicUrl
  readonly addresses: ClientAddresses
  readonly arrivals: Arrivals
}

export const streamPath = '/btql/stream'

/** A message holds a query: longer ones go with `POST /btql`. */
const longestMessage = 2 ** 20

/** How often connections are looked at, and asked for a sign of life. */
const lookEveryMs = 15_000

/** One that neither takes anything nor answers for so long is cut off. */
const longestSilenceMs = 120_000

/** For the first message of who brings no key with the request. */
const authenticationMs = 10_000

/** Changes of the catalog within this time are looked at together. */
const recheckMs = 50

/** Connections that have not brought a key yet, of all and of one address. Each may hold part of a message. */
const mostUnknown = 500
const mostUnknownPerAddress = 50

export class Sockets {
  readonly #options: SocketsOptions & ConnectionOptions
  readonly #open = new Set<SocketConnection>()
  readonly #timer: NodeJS.Timeout
  readonly #stopListening: () => void
  readonly #unknown = new Set<SocketConnection>()
  #closing: (() => void) | undefined
  #isClosing = false
  #recheck: NodeJS.Timeout | undefined

  constructor(options: SocketsOptions) {
    this.#options = {
      ...options,
      opened: (connection) => this.#opened(connection),
      closed: (connection) => this.#closed(connection),
    }
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#timer.unref()
    const stopHearingChanges = options.engine.catalog.onChange(() => {
      if (this.#open.size > 0) this.#recheck ??= setTimeout(() => this.#recheckAll(), recheckMs)
    })
    const stopHearingExpiry = options.access.onExpiry(() => this.#recheckAll())
    this.#stopListening = () => {
      stopHearingChanges()
      stopHearingExpiry()
    }
  }

  get route(): SocketRoute {
    return {
      path: streamPath,
      longestMessage,
      accept: (request, connected) => {
        try {
          if (framingOf(request) !== 'none') {
            throw new AssayError('REQUEST_INVALID', 'a request for a WebSocket has no body')
          }
          return this.#connection(request, connected)
        } catch (thrown) {
          return this.#options.refuse(toAssayError(thrown), streamPath)
        }
      },
    }
  }

  get size(): number {
    return this.#open.size
  }

  /** Takes no more queries; resolves when all connections are closed, after `graceMs` by force. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    this.#stopListening()
    for (const connection of this.#open) connection.drain()
    if (this.#open.size > 0) {
      const isEmpty = new Promise<void>((resolve) => {
        this.#closing = resolve
      })
      const timer = setTimeout(() => {
        for (const connection of this.#open) {
          connection.end(closeCodes.goingAway, 'the server is shutting down')
        }
      }, graceMs)
      await isEmpty
      clearTimeout(timer)
    }
    clearInterval(this.#timer)
    clearTimeout(this.#recheck)
  }

  /** Throws when it is not let in. */
  #connection(request: RequestHead, connected: Connected): SocketConnection {
    if (this.#isClosing) throw new AssayError('STORAGE_UNAVAILABLE', 'the server is shutting down')
    const address = this.#options.addresses.of(connected, request)
    const credentials = credentialsOf(request, false, () => address)
    if (credentials.session !== undefined) this.#requireOwnPage(request)
    const arrival = this.#options.arrivals.ofSeen(request)
    if (hasCredentials(credentials)) {
      return new SocketConnection(this.#options, address, credentials, arrival)
    }
    if (!this.#hasPlace(address)) {
      throw new AssayError('LIMIT_OVERLOADED', 'too many connections have brought no key yet', {
        hint: 'connect with the header "Authorization: Bearer <key>"',
      })
    }
    return new SocketConnection(this.#options, address, undefined, arrival)
  }

  /** For one more connection that brings no key with its request. */
  #hasPlace(address: string): boolean {
    const network = networkOf(address)
    let ofNetwork = 0
    for (const connection of this.#unknown) {
      if (connection.isAuthenticated) this.#unknown.delete(connection)
      else if (networkOf(connection.address) === network) ofNetwork++
    }
    return this.#unknown.size < mostUnknown && ofNetwork < mostUnknownPerAddress
  }

  /** Browsers send the cookie of a session whichever page connects, and say which that is. */
  #requireOwnPage(request: RequestHead): void {
    const own = new URL(this.#options.publicUrl(namedHeaders(request, addressHeaders))).host
    const origin = request.getHeader('origin')
    if (URL.canParse(origin) && new URL(origin).host === own) return
    throw new AssayError('ACCESS_DENIED', 'Pages of other sites may not use the session', {
      hint: 'connect from a page of this service, or send an API key',
    })
  }

  #opened(connection: SocketConnection): void {
    this.#open.add(connection)
    if (connection.isAuthenticated) return
    this.#unknown.add(connection)
    setTimeout(() => {
      this.#unknown.delete(connection)
      if (!connection.isAuthenticated && this.#open.has(connection)) {
        connection.end(closeCodes.unauthenticated, 'no key has come')
      }
    }, authenticationMs).unref()
  }

  #closed(connection: SocketConnection): void {
    this.#unknown.delete(connection)
    this.#open.delete(connection)
    if (this.#open.size === 0) this.#closing?.()
  }

  #look(): void {
    for (const connection of this.#open) {
      if (connection.silentMs > longestSilenceMs) connection.cut()
      else {
        connection.recheck()
        connection.ping()
      }
    }
  }

  #recheckAll(): void {
    clearTimeout(this.#recheck)
    this.#recheck = undefined
    for (const connection of this.#open) connection.recheck()
  }
}
