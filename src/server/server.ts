/**
 * The HTTP server. Life of a request: match a route, authenticate, receive the body, let the route
 * make a reply, send it, write one line into the log.
 */

import { setImmediate } from 'node:timers/promises'
import type { Access } from '../access/access.ts'
import type { Gate } from '../access/gate.ts'
import type { Principal } from '../access/principal.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { SignInSettings } from '../access/sign-in-settings.ts'
import type { Attachments } from '../attachment/attachments.ts'
import type { BackupState } from '../backup/backup-state.ts'
import type { GrpcPort, RequestRates } from '../config.ts'
import type { Engine } from '../engine.ts'
import { AssayError } from '../error.ts'
import type { LanguageModel } from '../search/ask-model.ts'
import { allRoutes } from './all-routes.ts'
import type { AsyncQueries } from './async/async-queries.ts'
import { RequestBody } from './body.ts'
import { BodyMemory } from './body-memory.ts'
import { ByteBudget } from './byte-budget.ts'
import { corsHeaders, preflightReply } from './cors.ts'
import { ClientAddresses, credentialsOf } from './credentials.ts'
import { errorReply } from './error-response.ts'
import { Exchange } from './exchange.ts'
import type { ScheduledExports } from './export/scheduled-exports.ts'
import { OtlpGrpcServer } from './grpc/otlp-grpc.ts'
import { headerLines } from './http/header-lines.ts'
import type { HttpServer, Refusal, RequestHead, Responder } from './http/http-server.ts'
import { framingOf } from './http/request-framing.ts'
import { withIgnoredFields } from './ignored-fields.ts'
import { LiveQueries } from './live/live-queries.ts'
import { Sockets } from './live/sockets.ts'
import type { Logger } from './logger.ts'
import { Metrics } from './metrics.ts'
import { namedHeaders } from './named-headers.ts'
import { Arrivals } from './nodes/arrivals.ts'
import type { Home } from './nodes/home.ts'
import { passedOn } from './nodes/pass-on.ts'
import { ageLine, pageOf, positionHeader, transactionHeader } from './nodes/seen.ts'
import { OpenExchanges } from './open-exchanges.ts'
import { longestCredentials, OpenRequests } from './open-requests.ts'
import { addressHeaders, type PublicUrl, publicUrl } from './public-url.ts'
import { RecordInserter } from './record-inserter.ts'
import type { Reply, WholeReply } from './reply.ts'
import { RequestNotes } from './request-notes.ts'
import { RequestLimits } from './request-rate.ts'
import { refusalOf, type SendOptions } from './response.ts'
import type { Retention } from './retention/retention.ts'
import { ExportReceiver } from './route/otlp/receive.ts'
import { type Route, type RouteMatch, Router } from './route.ts'
import { ServedRequest } from './served-request.ts'

export interface ServerOptions {
  readonly http: HttpServer
  readonly engine: Engine
  readonly access: Access
  readonly host: string
  readonly port: number
  readonly otlpGrpcPort?: GrpcPort | undefined
  readonly attachments: Attachments
  readonly retention: Retention
  readonly exports: ScheduledExports
  readonly asyncQueries: AsyncQueries
  readonly secrets: SecretBox
  readonly backups: BackupState
  readonly dataDirectory: string
  readonly signIn: SignInSettings
  readonly bootstrapKey?: string | undefined
  readonly maxBodyBytes: number
  readonly requestsPerMinute?: RequestRates
  /** Base of the URLs in answers; that of the request when not given. */
  readonly publicUrl?: string | undefined
  /** Before the service; 0 when not given. */
  readonly trustedProxies?: number
  /** Translates searches in words. */
  readonly languageModel?: LanguageModel | undefined
  /** Of a query node: where what it does not answer itself is passed on to. */
  readonly home?: Home | undefined
  readonly logger: Logger
}

const corsLines = headerLines(corsHeaders)

/** Queries and names: nothing of that size is held up by parsing it in the main thread. */
const smallBodyBytes = 16 * 2 ** 20

export class Server {
  readonly #options: ServerOptions
  readonly #http: HttpServer
  readonly #router: Router
  readonly #bodies: ByteBudget
  /** Of requests that do not say who asks: they take nothing from the others. */
  readonly #credentials = new ByteBudget(smallBodyBytes)
  readonly #openRequests = new OpenRequests()
  readonly #bodyMemory = new BodyMemory()
  readonly #exchanges: OpenExchanges
  readonly #metrics: Metrics
  readonly #live: LiveQueries
  readonly #sockets: Sockets
  readonly #limits: RequestLimits
  readonly #grpc: OtlpGrpcServer
  readonly #notes: RequestNotes
  readonly #addresses: ClientAddresses
  readonly #arrivals: Arrivals
  readonly #publicUrl: PublicUrl
  #draining = false

  private constructor(options: ServerOptions) {
    this.#options = options
    this.#http = options.http
    const { engine, access, attachments, maxBodyBytes, requestsPerMinute, logger } = options
    this.#exchanges = new OpenExchanges(access)
    this.#bodies = new ByteBudget(2 * Math.max(maxBodyBytes, smallBodyBytes))
    this.#metrics = new Metrics(engine, options.backups, options.http.name, () => ({
      openRequests: this.#exchanges.size + this.#grpc.openCalls,
      bodyBytes: this.#bodies.used,
      openSockets: this.#sockets.size,
      liveQueries: this.#live.size,
      liveRounds: this.#live.rounds,
    }))
    this.#metrics.observeRetention(() => options.retention.status)
    this.#metrics.observeExports(() => options.exports.status)
    this.#addresses = new ClientAddresses(options.trustedProxies ?? 0)
    this.#arrivals = new Arrivals(options.home)
    this.#notes = new RequestNotes(this.#metrics, logger)
    this.#limits = new RequestLimits(requestsPerMinute)
    const url = publicUrl(options.publicUrl, options.trustedProxies)
    this.#publicUrl = url
    const live = new LiveQueries(engine, access)
    this.#live = live
    const countRequest = (who: Principal) => this.#limits.count(who)
    this.#sockets = new Sockets({
      addresses: this.#addresses,
      arrivals: this.#arrivals,
      engine,
      access,
      live,
      logger,
      countRequest,
      publicUrl: url,
      refuse,
    })
    const writer = new RecordInserter(engine, attachments)
    const receiver = new ExportReceiver(writer, engine)
    this.#grpc = new OtlpGrpcServer({
      receiver,
      access,
      countRequest,
      budget: this.#bodies,
      maxBodyBytes,
      onServed: (request) => this.#metrics.served(request),
      logger,
    })
    const routes = allRoutes({
      ...options,
      publicUrl: url,
      live,
      metrics: this.#metrics,
      receiver,
      writer,
      ready: () => !this.#draining,
    })
    const { home } = options
    this.#router = new Router(home ? passedOn(routes, { home, publicUrl: url }) : routes)
    if (home) this.#metrics.observeHome(() => home.status)
    this.#http.serve({
      request: (request, responder) => this.#receive(request, responder),
      socket: this.#sockets.route,
      refusal: (error) => refuse(error, ''),
    })
  }

  /** Resolves once connections are accepted. Throws when the address cannot be had. */
  static async start(options: ServerOptions): Promise<Server> {
    const server = new Server(options)
    await options.http.listen(options.host, options.port)
    await server.#listenForOtlp(options)
    return server
  }

  /** All that is served. */
  get routes(): readonly Route[] {
    return this.#router.routes
  }

  /** Of OTLP over gRPC; undefined where there is none. */
  get otlpGrpcPort(): number | undefined {
    return this.#grpc.port
  }

  get port(): number {
    return this.#http.port
  }

  /**
   * Takes no more requests and lets the running ones end. Those that have not after `graceMs` are
   * cancelled; then everything is closed.
   */
  async close(graceMs: number): Promise<void> {
    if (this.#draining) return
    this.#draining = true
    this.#http.stopListening()
    // They would never end by themselves.
    this.#live.close(new AssayError('STORAGE_UNAVAILABLE', 'the server is shutting down'))
    const socketsClosed = Promise.all([this.#sockets.close(graceMs), this.#grpc.close(graceMs)])
    if (!(await this.#exchanges.emptyWithin(graceMs))) {
      this.#exchanges.abortAll(new AssayError('STORAGE_UNAVAILABLE', 'the server is shutting down'))
      await this.#exchanges.emptyWithin(1000)
    }
    this.#exchanges.close()
    await socketsClosed
    this.#notes.write()
    this.#http.close()
  }

  /** Several services may run on a machine: a port that nobody chose is done without. */
  async #listenForOtlp({ host, otlpGrpcPort: port, logger }: ServerOptions): Promise<void> {
    if (!port) return
    try {
      await this.#grpc.listen(host, port.number)
    } catch (error) {
      if (port.isChosen) {
        await this.close(0)
        throw error
      }
      logger.warn({ err: error }, 'OTLP is taken over HTTP only')
    }
  }

  /** Everything that needs the request itself happens here: it is gone when this returns. */
  #receive(request: RequestHead, responder: Responder): void {
    const exchange = new Exchange(responder, request)
    this.#exchanges.add(exchange)
    try {
      const framing = framingOf(request)
      exchange.endsConnection = framing === 'chunks' && !this.#http.isStrictWithChunks
    } catch (thrown) {
      const reply = this.#errorReply(exchange, thrown)
      exchange.status = reply.status ?? 0
      exchange.sender.sendAndClose(reply, this.#sendOptions(exchange))
      this.#end(exchange)
      return
    }
    try {
      this.#prepare(exchange, request, responder)
    } catch (thrown) {
      this.#serve(exchange, () => this.#errorReply(exchange, thrown))
    }
  }

  /** Finds out what is asked for and by whom, begins to receive the body, and serves the request or will do so. */
  #prepare(exchange: Exchange, request: RequestHead, responder: Responder): void {
    const { method, path } = exchange
    if (this.#draining && path !== '/healthz') {
      throw new AssayError('STORAGE_UNAVAILABLE', 'the server is shutting down')
    }
    if (method === 'OPTIONS') {
      const allowed = this.#router.methods(path)
      const asked = request.getHeader('access-control-request-headers')
      this.#serve(exchange, () => preflightReply(allowed, asked))
      return
    }
    const match = this.#router.match(method, path)
    const { route } = match
    const headers = namedHeaders(request, route.headers)
    exchange.route = route.path
    exchange.failure = (error, message) => route.failure?.(error, message, headers)
    const isOpen = route.access === 'open'
    const changes = method !== 'GET' && method !== 'HEAD'
    let address = isOpen ? this.#addresses.of(responder, request) : undefined
    const addressNow = () => {
      address ??= this.#addresses.of(responder, request)
      return address
    }
    const pageUrl = () => this.#publicUrl(namedHeaders(request, addressHeaders))
    exchange.page = pageOf(request, changes, pageUrl)
    const credentials = credentialsOf(request, changes, addressNow)
    const gateNow = () => {
      const principal = this.#options.access.authenticate(credentials)
      return this.#options.access.gate(principal, exchange.traceId)
    }
    let arrival = route.servedBy === 'any' ? this.#arrivals.ofSeen(request) : undefined
    let gate: Gate | undefined
    try {
      // Even a key may be newer than what is here.
      if (!isOpen && !arrival) gate = this.#admit(gateNow())
    } catch (thrown) {
      arrival = this.#arrivals.ofUnknown(thrown, credentials)
      if (!arrival) throw thrown
    }
    // Later the request is gone, and what comes of it was right once.
    credentials.address = undefined
    if (route.access === 'open')
      route.admit?.(match.parameters, new URLSearchParams(request.getQuery()))
    if (gate) exchange.check = gateNow
    if (route.method !== 'GET') {
      const isUnknown = arrival !== undefined || (isOpen && route.bodySize !== 'records')
      if (isUnknown) exchange.onEnd = this.#openRequests.begin(addressNow())
      exchange.body = new RequestBody(responder, {
        contentLength: request.getHeader('content-length'),
        contentEncoding: request.getHeader('content-encoding'),
        limit: this.#bodyLimit(match),
        budget: isUnknown ? this.#credentials : this.#bodies,
        memory: route.isInsert ? this.#bodyMemory : undefined,
      })
    }
    const search = request.getQuery()
    const answer = (whole?: Uint8Array, late = gate) => {
      const { parameters } = match
      const options = { exchange, parameters, search, headers, address, gateNow, whole }
      return this.#answer(exchange, route, late, new ServedRequest(options))
    }
    const { body } = exchange
    exchange.mayChange = changes && route.servedBy !== 'any'
    if (arrival) {
      this.#serve(exchange, async () => {
        const [whole] = await Promise.all([body?.bytes, arrival])
        if (isOpen) return answer(whole)
        const late = this.#admit(gateNow())
        exchange.check = gateNow
        return answer(whole, late)
      })
      return
    }
    if (route.access !== 'key' || !route.waitsForBody || !body) {
      this.#serve(exchange, answer)
      return
    }
    body.whenSettled((bytes) => {
      this.#serve(exchange, () => (bytes ? answer(bytes) : this.#failedBody(exchange, body)))
      return true
    })
  }

  /** What is answered to a body that could not be had. */
  #failedBody(exchange: Exchange, body: RequestBody): Promise<Reply> {
    return body.bytes.then(
      () => this.#errorReply(exchange, new AssayError('INTERNAL', 'a body failed and came')),
      (thrown: unknown) => this.#errorReply(exchange, thrown),
    )
  }

  /** Throws when the owner of the key makes too many requests. */
  #admit(gate: Gate): Gate {
    this.#limits.count(gate.principal)
    return gate
  }

  #bodyLimit({ route }: RouteMatch): number {
    const { maxBodyBytes } = this.#options
    if (route.access === 'open' && route.bodySize !== 'records') return longestCredentials
    return route.bodySize === 'records' ? maxBodyBytes : Math.min(maxBodyBytes, smallBodyBytes)
  }

  #answer(
    exchange: Exchange,
    route: Route,
    gate: Gate | undefined,
    request: ServedRequest,
  ): Reply | Promise<Reply> {
    const onError = (thrown: unknown) => this.#errorReply(exchange, thrown, request.queryText)
    try {
      if (route.access !== 'open' && !gate) {
        throw new AssayError('INTERNAL', 'a request passed without a principal')
      }
      if (route.access === 'open') {
        const reply = route.handle(request)
        return reply instanceof Promise ? reply.catch(onError) : reply
      }
      const reply = route.handle(request, gate!)
      const noting = (reply: Reply) => withIgnoredFields(reply, request.unread)
      return reply instanceof Promise ? reply.then(noting).catch(onError) : noting(reply)
    } catch (thrown) {
      return onError(thrown)
    }
  }

  /** What need not be waited for is sent in this turn, so that the next of its connection may come. */
  #serve(exchange: Exchange, answer: () => Reply | Promise<Reply>): void {
    let reply: Reply | Promise<Reply>
    try {
      reply = answer()
    } catch (thrown) {
      reply = this.#errorReply(exchange, thrown)
    }
    if (reply instanceof Promise || !isWhole(reply)) void this.#serveLater(exchange, reply)
    else if (!this.#sendNow(exchange, reply)) void this.#serveLater(exchange, reply)
  }

  async #serveLater(exchange: Exchange, reply: Reply | Promise<Reply>): Promise<void> {
    try {
      await this.#send(exchange, await reply)
    } catch (thrown) {
      // A stream that failed: before its first byte it can still be answered.
      const failed = this.#errorReply(exchange, thrown)
      if (!exchange.sender.started) await this.#send(exchange, failed)
    } finally {
      this.#end(exchange)
    }
  }

  #end(exchange: Exchange): void {
    exchange.body?.release()
    exchange.onEnd?.()
    this.#exchanges.remove(exchange)
    this.#notes.add(exchange)
  }

  async #send(exchange: Exchange, reply: Reply): Promise<void> {
    // Not within the parser's turn, which would go on to what follows in spite of the connection's end.
    if (exchange.endsConnection) await setImmediate()
    exchange.status = reply.status ?? 200
    exchange.body?.stop()
    await exchange.sender.send(reply, this.#sendOptions(exchange))
  }

  /** Sends in this turn; false when that cannot be done, and then nothing was. */
  #sendNow(exchange: Exchange, reply: WholeReply): boolean {
    const options = this.#sendOptions(exchange)
    if (exchange.endsConnection) return false
    if (!exchange.sender.isShort(reply, options)) return false
    exchange.status = reply.status ?? 200
    exchange.body?.stop()
    exchange.sender.sendNow(reply, options)
    this.#end(exchange)
    return true
  }

  #sendOptions(exchange: Exchange): SendOptions {
    return {
      headOnly: exchange.method === 'HEAD',
      encoding: exchange.encoding,
      closeConnection: this.#draining || exchange.endsConnection,
      commonLines: () =>
        `${corsLines}x-bt-internal-trace-id: ${exchange.traceId}\r\n` +
        `x-request-id: ${exchange.requestId}\r\n` +
        `x-bt-api-duration-ms: ${Math.round(exchange.elapsedMs)}\r\n` +
        this.#progressLines(exchange),
    }
  }

  /** How far the service is, where that tells the client of its own change; and how old what a node answers may be. */
  #progressLines({ mayChange, page }: Exchange): string {
    const { engine, home } = this.#options
    if (home) return ageLine(home.status)
    if (!mayChange) return ''
    const seen = { transaction: engine.lastTransactionId(), position: engine.catalog.position }
    const cookie = page ? `set-cookie: ${page.cookie(seen)}\r\n` : ''
    return `${transactionHeader}: ${seen.transaction}\r\n${positionHeader}: ${seen.position}\r\n${cookie}`
  }

  #errorReply(exchange: Exchange, thrown: unknown, queryText?: string): WholeReply {
    const { traceId, path } = exchange
    // A query that was cancelled says only that; whoever cancelled it knows why.
    const isCause = thrown instanceof AssayError && thrown.code === 'QUERY_CANCELLED'
    const error = this.#options.engine.catalog.withName((isCause && exchange.reason) || thrown)
    if (error.family === 'internal') {
      this.#options.logger.error({ traceId, path, err: error.cause ?? error }, 'request failed')
    }
    const reply = errorReply(error, { path, traceId, queryText }, exchange.failure)
    // A home node that was restored from a backup never comes so far again.
    if (error.code === 'HOME_AHEAD' && exchange.page) {
      return { ...reply, headers: { ...reply.headers, 'set-cookie': exchange.page.cookie() } }
    }
    if (error.status !== 405) return reply
    return { ...reply, headers: { allow: this.#router.methods(path).join(', ') } }
  }
}

/** The answer to a request that is none, or whose connection is good for nothing else. */
function refuse(error: AssayError, path: string): Refusal {
  const reply = errorReply(error, { path, traceId: '' })
  return refusalOf(reply, {
    headOnly: false,
    encoding: undefined,
    closeConnection: true,
    commonLines: () => '',
  })
}

function isWhole(reply: Reply): reply is WholeReply {
  return typeof reply.body === 'string' || reply.body instanceof Uint8Array
}
