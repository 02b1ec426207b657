/** The HTTP server on uWebSockets.js. */
import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
} from 'uWebSockets.js'
import {
  type AnswerHead,
  gatheredBytes,
  type HttpServer,
  longestStallMs,
  type PeerListener,
  type Refusal,
  type Responder,
  type ServerHandlers,
  type SocketRoute,
} from './http-server.ts'
import { listenFault } from './listen-fault.ts'
import type { Native } from './native.ts'
import { statusText } from './status-text.ts'
import { UWebSocketsPeer } from './uwebsockets-peer.ts'

/** Without it, two servers could share a port unnoticed. */
const exclusivePort = 1

export class UWebSocketsServer implements HttpServer {
  readonly name = 'uwebsockets'
  readonly isStrictWithChunks = false
  readonly #native: Native
  readonly #app: TemplatedApp
  #listenSocket: us_listen_socket | undefined

  constructor(native: Native) {
    this.#native = native
    this.#app = native.App()
  }

  get port(): number {
    return this.#listenSocket ? this.#native.us_socket_local_port(this.#listenSocket) : -1
  }

  serve({ request: receive, socket }: ServerHandlers): void {
    this.#serveSockets(socket)
    this.#app.any('/*', (response, request) => receive(request, new UWebSocketsResponder(response)))
  }

  async listen(host: string, port: number): Promise<void> {
    // The typings lack the form that has both a host and options.
    const listen = this.#app.listen as unknown as (
      this: TemplatedApp,
      host: string,
      port: number,
      options: number,
      done: (socket: us_listen_socket | false) => void,
    ) => void
    this.#listenSocket = await new Promise((resolve, reject) => {
      listen.call(this.#app, host, port, exclusivePort, (socket) => {
        if (socket) resolve(socket)
        else void listenFault(host, port).then(reject)
      })
    })
  }

  stopListening(): void {
    if (this.#listenSocket) this.#native.us_listen_socket_close(this.#listenSocket)
  }

  close(): void {
    this.#app.close()
  }

  #serveSockets({ path, longestMessage, accept }: SocketRoute): void {
    this.#app.ws<{ readonly listener: PeerListener }>(path, {
      maxPayloadLength: longestMessage,
      // What is on its way is bounded by waiting, and nothing may be dropped.
      maxBackpressure: 0,
      idleTimeout: 0,
      sendPingsAutomatically: false,
      upgrade: (response, request, context) => {
        const responder = new UWebSocketsResponder(response)
        const accepted = accept(request, responder)
        if ('head' in accepted) responder.sendAndClose(accepted)
        else upgrade(response, request, context, accepted)
      },
      open: (socket) => socket.getUserData().listener.open(new UWebSocketsPeer(socket)),
      message: (socket, message, isBinary) => {
        socket.getUserData().listener.receive(new Uint8Array(message), isBinary)
      },
      drain: (socket) => socket.getUserData().listener.drained(),
      pong: (socket) => socket.getUserData().listener.seen(),
      close: (socket) => socket.getUserData().listener.closed(),
    })
  }
}

function upgrade(
  response: HttpResponse,
  request: HttpRequest,
  context: us_socket_context_t,
  listener: PeerListener,
): void {
  response.upgrade(
    { listener },
    request.getHeader('sec-websocket-key'),
    request.getHeader('sec-websocket-protocol'),
    request.getHeader('sec-websocket-extensions'),
    context,
  )
}

/**
 * uWS closes a connection on which nothing moves for ten seconds, unless something resets its clock. A reader that
 * processes as it reads may well pause for longer.
 */
const resetClockMs = 4000

class UWebSocketsResponder implements Responder {
  readonly #response: HttpResponse
  #isGone = false
  #hasEnded = false
  /** A head that is not written yet. */
  #begun: AnswerHead | undefined
  #writable: (() => void) | undefined
  /** Resolves when the socket is writable again. */
  #whenWritable: Promise<void> | undefined

  constructor(response: HttpResponse) {
    this.#response = response
  }

  get address(): string {
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString()
  }

  get isGone(): boolean {
    return this.#isGone
  }

  onGone(left: () => void): void {
    this.#response.onAborted(() => {
      this.#isGone = true
      this.#writable?.()
      left()
    })
  }

  onData(receive: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => receive(new Uint8Array(chunk), isLast))
  }

  pause(): void {
    this.#response.pause()
  }

  /** uWS loses track of a socket that is resumed without a pause. */
  resume(): void {
    if (!this.#isGone) this.#response.resume()
  }

  sendWhole(head: AnswerHead, body: Uint8Array, closesConnection: boolean): void {
    this.#cork(() => {
      this.#writeHead(head)
      this.#hasEnded = true
      this.#response.end(body, closesConnection)
    })
  }

  sendHeadOnly({ status, lines }: AnswerHead, length: number, closesConnection: boolean): void {
    if (closesConnection) {
      const closing = {
        status,
        lines: `${lines}connection: close\r\ncontent-length: ${length}\r\n`,
      }
      this.#closeWith(closing, '')
      return
    }
    this.#cork(() => {
      this.#writeHead({ status, lines })
      this.#hasEnded = true
      // With a length of its own, uWS would take the answer for unfinished.
      this.#response.writeHeader('content-length', String(length))
      this.#response.endWithoutBody()
    })
  }

  /** The usual end leaves the answer where it is gathered, and lets the parser go on. */
  sendAndClose({ head: { status, lines }, text }: Refusal): void {
    // Blanks behind JSON mean nothing, and so much is written at once.
    const padded = text + ' '.repeat(gatheredBytes)
    // As a header's, its end is that of a line.
    const length = Buffer.byteLength(padded) + 2
    const closing = { status, lines: `${lines}connection: close\r\ncontent-length: ${length}\r\n` }
    this.#closeWith(closing, `\r\n${padded}`)
  }

  /** uWS keeps no copy of what the socket does not take. */
  async sendLong(head: AnswerHead, body: Uint8Array): Promise<boolean> {
    this.#watchWritable()
    let hasBegun = false
    while (!this.#isGone && !this.#hasEnded) {
      this.#expectWritable()
      this.#cork(() => {
        if (!hasBegun) this.#writeHead(head)
        hasBegun = true
        const rest = body.subarray(this.#response.getWriteOffset())
        this.#hasEnded = this.#response.tryEnd(rest, body.length)[1]
      })
      if (!this.#hasEnded) await this.taken()
    }
    return this.#hasEnded
  }

  begin(head: AnswerHead): void {
    this.#watchWritable()
    this.#begun = head
  }

  write(chunk: Uint8Array): boolean {
    this.#expectWritable()
    let isTaken = true
    this.#cork(() => {
      this.#writeBegun()
      isTaken = this.#response.write(chunk)
    })
    return isTaken
  }

  async taken(): Promise<void> {
    if (this.#isGone) return
    const since = performance.now()
    const timer = setInterval(() => {
      if (this.#isGone || performance.now() - since > longestStallMs) return
      // Resuming resets the clock; without a pause before it, the socket would no longer tell when
      // it can be written to.
      this.#response.pause()
      this.#response.resume()
    }, resetClockMs)
    await this.#whenWritable
    clearInterval(timer)
  }

  end(closesConnection: boolean): void {
    this.#cork(() => {
      this.#writeBegun()
      this.#hasEnded = true
      this.#response.end(undefined, closesConnection)
    })
  }

  close(): void {
    if (!this.#isGone && !this.#hasEnded) this.#response.close()
  }

  /** Before the first byte: streams of which that came later had chunks that began in the middle. */
  #watchWritable(): void {
    if (this.#isGone) return
    this.#response.onWritable(() => {
      this.#writable?.()
      return true
    })
  }

  #expectWritable(): void {
    this.#whenWritable = new Promise((resolve) => {
      this.#writable = resolve
    })
  }

  #closeWith(head: AnswerHead, tail: string): void {
    this.#cork(() => this.#writeHead(head, tail))
    this.#hasEnded = true
    if (!this.#isGone) this.#response.close()
  }

  #cork(write: () => void): void {
    if (!this.#isGone) this.#response.cork(write)
  }

  /** With the first chunk, so that both go out together. */
  #writeBegun(): void {
    if (this.#begun) this.#writeHead(this.#begun)
    this.#begun = undefined
  }

  /** @param tail what comes behind the last line; undefined where uWS ends the head */
  #writeHead({ status, lines }: AnswerHead, tail?: string): void {
    // Said by itself of a success; each call takes as long as many lines.
    if (status !== 200) this.#response.writeStatus(`${status} ${statusText(status)}`)
    // What it is given as a value it writes as it is.
    const colon = lines.indexOf(': ')
    const rest = tail === undefined ? lines.slice(colon + 2, -2) : lines.slice(colon + 2) + tail
    this.#response.writeHeader(lines.slice(0, colon), rest)
  }
}
