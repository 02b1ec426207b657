import type { HttpResponse } from 'uWebSockets.js'
import { setImmediate } from 'node:timers/promises'
import {
  type ContentEncoding,
  compressStream,
  compressWhole,
  isWorthwhile,
} from './content-encoding.ts'
import { headerLines } from './header-lines.ts'
import type { Reply, WholeReply } from './reply.ts'

/** Written at a time; between two of them the socket must have taken what it was given. */
const pieceBytes = 128 * 1024

/** Written within one turn of the event loop. */
const turnBytes = 2 ** 20

/**
 * uWS closes a connection on which nothing moves for ten seconds, unless something resets its clock.
 * A reader that processes as it reads may well pause for longer.
 */
const resetClockMs = 4000
const longestStallMs = 120_000

/** What uWS gathers before it writes to the socket. */
const gatheredBytes = 16 * 1024

/** For an answer that fails to say so in its own way. */
const lastWordsMs = 2000

const statusTexts = new Map([
  [204, '204 No Content'],
  [206, '206 Partial Content'],
  [400, '400 Bad Request'],
  [401, '401 Unauthorized'],
  [403, '403 Forbidden'],
  [404, '404 Not Found'],
  [405, '405 Method Not Allowed'],
  [413, '413 Payload Too Large'],
  [416, '416 Range Not Satisfiable'],
  [429, '429 Too Many Requests'],
  [499, '499 Client Closed Request'],
  [500, '500 Internal Server Error'],
  [503, '503 Service Unavailable'],
  [504, '504 Gateway Timeout'],
  [507, '507 Insufficient Storage'],
])

const varyLine = headerLines({ vary: 'accept, accept-encoding' })

export interface SendOptions {
  readonly headOnly: boolean
  /** That the client likes best. */
  readonly encoding: ContentEncoding | undefined
  readonly closeConnection: boolean
  /** Lines sent with every answer; asked for at the last moment, because they tell the time taken. */
  readonly commonLines: () => string
}

/** The sending side of one request. Nothing is written once the client has left. */
export class ResponseSender {
  /** Bytes of body that were written. */
  sentBytes = 0
  /** Whether the status has been written: from then on there is no way back. */
  started = false
  readonly #response: HttpResponse
  #gone = false
  #ended = false
  #writable: (() => void) | undefined
  constructor(response: HttpResponse) {
    this.#response = response
  }

  /** The client has left. Must be called before anything else is done in uWS's abort handler. */
  abort(): void {
    this.#gone = true
    this.#writable?.()
  }

  /**
   * The answer fails: its stream is about to, and may say why. Of a reader that is too slow to hear it,
   * the connection is closed.
   */
  break(): void {
    setTimeout(() => {
      if (!this.#gone && !this.#ended) this.#response.close()
    }, lastWordsMs).unref()
  }

  /** Resolves when everything is written. Rejects when a stream fails after its first bytes. */
  async send(reply: Reply, options: SendOptions): Promise<void> {
    const { body } = reply
    this.#watchWritable()
    if (typeof body === 'string' || body instanceof Uint8Array) {
      await this.#sendWhole(reply, typeof body === 'string' ? Buffer.from(body) : body, options)
    } else if (options.headOnly) await this.#sendWhole(reply, new Uint8Array(), options)
    else await this.#sendStream(reply, body, options)
  }

  /** Whether `sendNow` may be called: the body is neither to be compressed nor sent in pieces. */
  isShort(reply: WholeReply, options: SendOptions): boolean {
    const { body } = reply
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const isCompressed = isWorthwhile(length) && encodingOf(reply, options) !== undefined
    return !isCompressed && length <= pieceBytes
  }

  /** Sends a short body in this turn. */
  sendNow(reply: WholeReply, options: SendOptions): void {
    const { body } = reply
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    this.#sendShort(reply, bytes, undefined, options)
  }

  /**
   * Sends a short answer and closes the connection in this turn, before uWS reads what follows the headers: the
   * usual end leaves the answer where it is gathered, and lets the parser go on.
   */
  sendAndClose(reply: WholeReply, options: SendOptions): void {
    const { body } = reply
    const text = typeof body === 'string' ? body : Buffer.from(body).toString()
    // Blanks behind JSON mean nothing, and so much is written at once.
    const padded = text + ' '.repeat(gatheredBytes)
    // As a header's, its end is that of a line.
    const length = String(Buffer.byteLength(padded) + 2)
    const headers = { ...reply.headers, connection: 'close', 'content-length': length }
    this.#cork(() => this.#writeHead({ ...reply, headers }, undefined, options, `\r\n${padded}`))
    this.sentBytes += padded.length
    this.#ended = true
    if (!this.#gone) this.#response.close()
  }

  #sendShort(
    reply: Reply,
    bytes: Uint8Array,
    encoding: ContentEncoding | undefined,
    options: SendOptions,
  ): void {
    if (options.headOnly && options.closeConnection) {
      const headers = { ...reply.headers, connection: 'close', 'content-length': `${bytes.length}` }
      this.#cork(() => this.#writeHead({ ...reply, headers }, encoding, options, ''))
      this.#ended = true
      if (!this.#gone) this.#response.close()
      return
    }
    this.#cork(() => {
      this.#writeHead(reply, encoding, options)
      this.#ended = true
      if (options.headOnly) {
        // With a length of its own, uWS would take the answer for unfinished.
        this.#response.writeHeader('content-length', String(bytes.length))
        this.#response.endWithoutBody()
      } else {
        this.#response.end(bytes, options.closeConnection)
        this.sentBytes += bytes.length
      }
    })
  }

  async #sendWhole(reply: Reply, body: Uint8Array, options: SendOptions): Promise<void> {
    if (body.length > pieceBytes && options.closeConnection && !options.headOnly) {
      // What is sent with its length in pieces cannot end with the connection.
      await this.#sendStream(reply, once(body), options)
      return
    }
    const { bytes, encoding } = await compressWhole(body, encodingOf(reply, options))
    if (bytes.length > pieceBytes && !options.headOnly) {
      await this.#sendPieces(reply, bytes, encoding, options)
      return
    }
    this.#sendShort(reply, bytes, encoding, options)
  }

  /** Sends a large body with its length; uWS keeps no copy of what the socket does not take. */
  async #sendPieces(
    reply: Reply,
    bytes: Uint8Array,
    encoding: ContentEncoding | undefined,
    options: SendOptions,
  ) {
    let finished = false
    while (!this.#gone && !finished) {
      const writable = this.#nextWritable()
      this.#cork(() => {
        if (!this.started) this.#writeHead(reply, encoding, options)
        const rest = bytes.subarray(this.#response.getWriteOffset())
        finished = this.#response.tryEnd(rest, bytes.length)[1]
        this.#ended = finished
      })
      if (!finished) await this.#stalled(writable)
    }
    if (finished) this.sentBytes += bytes.length
  }

  async #sendStream(reply: Reply, body: AsyncIterable<Uint8Array>, options: SendOptions) {
    const encoding = encodingOf(reply, options)
    const chunks = encoding ? compressStream(body, encoding) : body
    let inTurn = 0
    try {
      for await (const chunk of chunks) {
        for (let from = 0; from < chunk.length && !this.#gone; from += pieceBytes) {
          const piece = chunk.subarray(from, from + pieceBytes)
          const writable = this.#nextWritable()
          let taken = true
          this.#cork(() => {
            if (!this.started) this.#writeHead(reply, encoding, options)
            taken = this.#response.write(piece)
          })
          this.sentBytes += piece.length
          inTurn += piece.length
          if (!taken) await this.#stalled(writable)
          // A reader that is as fast as this is no reason to let others wait.
          else if (inTurn >= turnBytes) await setImmediate()
          else continue
          inTurn = 0
        }
        if (this.#gone) return
      }
    } catch (error) {
      if (this.started && !this.#gone) this.#response.close()
      throw error
    }
    this.#cork(() => {
      if (!this.started) this.#writeHead(reply, encoding, options)
      this.#ended = true
      this.#response.end(undefined, options.closeConnection)
    })
  }

  /** Before the first byte: streams of which that came later had chunks that began in the middle. */
  #watchWritable(): void {
    if (this.#gone) return
    this.#response.onWritable(() => {
      this.#writable?.()
      return true
    })
  }

  #nextWritable(): Promise<void> {
    return new Promise((resolve) => {
      this.#writable = resolve
    })
  }

  /** Waits until a reader goes on, or for as long as a reader may pause. */
  async #stalled(writable: Promise<void>): Promise<void> {
    const since = performance.now()
    const timer = setInterval(() => {
      if (this.#gone || performance.now() - since > longestStallMs) return
      // Resuming resets the clock; without a pause before it, the socket would no longer tell when
      // it can be written to.
      this.#response.pause()
      this.#response.resume()
    }, resetClockMs)
    await writable
    clearInterval(timer)
  }

  #cork(write: () => void): void {
    if (!this.#gone) this.#response.cork(write)
  }

  /** @param tail what comes behind the last line; undefined where uWS ends the head */
  #writeHead(
    reply: Reply,
    encoding: ContentEncoding | undefined,
    options: SendOptions,
    tail?: string,
  ): void {
    this.started = true
    const status = reply.status ?? 200
    // Said by itself of a success; each call takes as long as many lines.
    if (status !== 200) this.#response.writeStatus(statusTexts.get(status) ?? String(status))
    let lines = options.commonLines()
    if (status !== 204) {
      lines += `content-type: ${reply.contentType ?? 'application/json'}\r\n${varyLine}`
    }
    if (encoding) lines += `content-encoding: ${encoding}\r\n`
    if (reply.headers) lines += headerLines(reply.headers)
    // What it is given as a value it writes as it is.
    const colon = lines.indexOf(': ')
    const rest = tail === undefined ? lines.slice(colon + 2, -2) : lines.slice(colon + 2) + tail
    this.#response.writeHeader(lines.slice(0, colon), rest)
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function encodingOf({ isCompressible = true }: Reply, { encoding }: SendOptions) {
  return isCompressible ? encoding : undefined
}
