/** The HTTP server on Node's own `http` and `ws`: for machines that the binary of uWebSockets.js is not made for. */
import { once } from 'node:events'
import {
  createServer,
  IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { AssayError } from '../../error.ts'
import { type HttpServer, longestIdleMs, type ServerHandlers } from './http-server.ts'
import { listenFault, systemCode } from './listen-fault.ts'
import { NodeConnection } from './node-connection.ts'
import { NodePeer } from './node-peer.ts'
import { NodeRequest } from './node-request.ts'
import { NodeResponder } from './node-responder.ts'
import { ambiguous } from './request-framing.ts'

const longestHeadersBytes = 16 * 1024

/** How often it is looked for connections on which nothing comes. */
const lookEveryMs = 1000

/** For the other end of a WebSocket to close it, too. */
const closeMs = 2000

const options = {
  maxHeaderSize: longestHeadersBytes,
  insecureHTTPParser: false,
  // Who leaves it out is told by `framingOf`.
  requireHostHeader: false,
  headersTimeout: longestIdleMs,
  keepAliveTimeout: longestIdleMs,
  // By how fast it comes; see `#look`.
  requestTimeout: 0,
  connectionsCheckingInterval: lookEveryMs,
} satisfies ServerOptions

export class NodeServer implements HttpServer {
  readonly name = 'node'
  readonly isStrictWithChunks = true
  readonly #receiving = new Set<NodeResponder>()
  readonly #connections = new WeakMap<Socket, NodeConnection>()
  #server: Server | undefined
  #timer: NodeJS.Timeout | undefined
  #lookedAt = performance.now()

  get port(): number {
    const address = this.#server?.address()
    return typeof address === 'object' && address ? address.port : -1
  }

  serve(handlers: ServerHandlers): void {
    const server = createServer({ ...options, IncomingMessage: messageOf(handlers.socket.path) })
    this.#server = server
    // All headers are looked at, which are bounded by their bytes.
    server.maxHeadersCount = 0
    server.on('connection', (socket) => {
      this.#connections.set(socket, new NodeConnection(socket, this.#receiving))
    })
    const receive = (incoming: IncomingMessage, outgoing: ServerResponse) =>
      this.#receive(handlers, incoming, outgoing)
    server.on('request', receive)
    // Whatever is expected beside that the body may be sent is left out, as uWS does.
    server.on('checkExpectation', receive)
    server.on('clientError', (error, socket) => {
      const connection = this.#connections.get(socket as Socket)
      const fault = parserFault(systemCode(error))
      if (!connection || !fault || !socket.writable) socket.destroy()
      else if (!connection.isEnding) connection.refuse(handlers.refusal(fault))
    })
    this.#serveSockets(server, handlers)
  }

  async listen(host: string, port: number): Promise<void> {
    const server = this.#server!
    try {
      server.listen({ host, port, exclusive: true })
      await once(server, 'listening')
    } catch (thrown) {
      throw await listenFault(host, port, systemCode(thrown))
    }
    // A connection that cannot be accepted, as without open files, is not there.
    server.on('error', () => undefined)
    this.#lookedAt = performance.now()
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref()
  }

  stopListening(): void {
    this.#server?.close()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  #receive(handlers: ServerHandlers, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const connection = this.#connections.get(incoming.socket)
    if (!connection || connection.isEnding) {
      incoming.resume()
      return
    }
    if (connection.isWaited()) {
      incoming.socket.destroy()
      return
    }
    const request = new NodeRequest(incoming)
    const responder = new NodeResponder(incoming, outgoing, request, connection)
    if (wantsUpgrade(incoming)) {
      connection.isEnding = true
      outgoing.shouldKeepAlive = false
    }
    const fault = requestFault(incoming)
    if (fault) responder.sendAndClose(handlers.refusal(fault))
    else handlers.request(request, responder)
    responder.dropBody()
  }

  #serveSockets(server: Server, { socket: route, refusal }: ServerHandlers): void {
    // The typings lack `closeTimeout`.
    const socketOptions = {
      noServer: true,
      clientTracking: false,
      maxPayload: route.longestMessage,
      perMessageDeflate: false,
      closeTimeout: closeMs,
    }
    const sockets = new WebSocketServer(socketOptions)
    sockets.on('wsClientError', ({ message }, socket) => {
      const fault = new AssayError(
        'REQUEST_INVALID',
        `this is no request for a WebSocket: ${message}`,
      )
      this.#connections.get(socket as Socket)?.refuse(refusal(fault))
    })
    server.on('upgrade', (incoming, stream, head) => {
      const { socket } = incoming
      const connection = this.#connections.get(socket)
      socket.on('error', () => socket.destroy())
      socket.setTimeout(0)
      if (!connection?.isIdle) {
        socket.destroy()
        return
      }
      const accepted = route.accept(new NodeRequest(incoming), connection)
      if ('head' in accepted) connection.refuse(accepted)
      else {
        sockets.handleUpgrade(incoming, stream, head, (peer) =>
          NodePeer.open(peer, socket, accepted),
        )
      }
    })
  }

  /** Closes connections whose bodies come too slowly. */
  #look(): void {
    const now = performance.now()
    const lostMs = Math.max(0, now - this.#lookedAt - lookEveryMs)
    this.#lookedAt = now
    for (const responder of this.#receiving) responder.requireProgress(now, lostMs)
  }
}

/**
 * Node hands over the connection of each message whose `upgrade` is true, whatever it is to become. Clients that would
 * like to have HTTP/2 are answered as all others.
 */
function messageOf(socketPath: string): typeof IncomingMessage {
  return class extends IncomingMessage {
    wantsUpgrade = false

    get upgrade(): boolean {
      return this.wantsUpgrade && isSocketRequest(this, socketPath)
    }

    set upgrade(value: boolean) {
      this.wantsUpgrade = value
    }
  }
}

/** The parser drops what came together with such a message, so its connection is good for nothing else. */
function wantsUpgrade(incoming: IncomingMessage): boolean {
  return 'wantsUpgrade' in incoming && incoming.wantsUpgrade === true
}

/** The length is that of any key. */
function isSocketRequest({ method, url = '', headers }: IncomingMessage, path: string): boolean {
  return (
    method === 'GET' &&
    url.split('?', 1)[0] === path &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-key']?.length === 24
  )
}

/** What the parser takes, and uWS does not. */
function requestFault({ url = '', httpVersion }: IncomingMessage): AssayError | undefined {
  if (httpVersion !== '1.1') {
    return new AssayError('REQUEST_INVALID', `version ${httpVersion} of HTTP is not taken`, {
      hint: 'send requests of version 1.1',
    })
  }
  if (!url.startsWith('/')) {
    return new AssayError('REQUEST_INVALID', 'what is asked for is no path', {
      hint: 'begin it with a slash',
    })
  }
  return undefined
}

/** What the parser has found; undefined where there is nobody to be told. */
function parserFault(code: string): AssayError | undefined {
  switch (code) {
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
    case 'HPE_INVALID_CONTENT_LENGTH':
      return ambiguous('one "content-length", a number')
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return ambiguous('the body’s length as a number, or "transfer-encoding: chunked"')
    case 'HPE_HEADER_OVERFLOW':
      return new AssayError(
        'REQUEST_HEADERS_TOO_LARGE',
        `the headers exceed the limit of ${longestHeadersBytes} bytes`,
      )
    default:
      if (!code.startsWith('HPE_')) return undefined
      return new AssayError('REQUEST_INVALID', 'what has come is no request of HTTP')
  }
}
