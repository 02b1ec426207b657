import { setImmediate } from 'node:timers/promises'
import {
  type ContentEncoding,
  compressStream,
  compressWhole,
  isWorthwhile,
} from './content-encoding.ts'
import { headerLines } from './http/header-lines.ts'
import {
  type AnswerHead,
  chunkBytes,
  type Refusal,
  type Responder,
  shortBytes,
  turnBytes,
} from './http/http-server.ts'
import type { Reply, WholeReply } from './reply.ts'

/** For an answer that fails to say so in its own way. */
const lastWordsMs = 2000

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
  readonly #responder: Responder

  constructor(responder: Responder) {
    this.#responder = responder
  }

  /**
   * The answer fails: its stream is about to, and may say why. Of a reader that is too slow to hear it,
   * the connection is closed.
   */
  break(): void {
    setTimeout(() => this.#responder.close(), lastWordsMs).unref()
  }

  /** Resolves when everything is written. Rejects when a stream fails after its first bytes. */
  async send(reply: Reply, options: SendOptions): Promise<void> {
    const { body } = reply
    if (typeof body === 'string' || body instanceof Uint8Array) {
      await this.#sendWhole(reply, typeof body === 'string' ? Buffer.from(body) : body, options)
    } else if (options.headOnly) {
      reply.discard?.()
      await this.#sendWhole(reply, new Uint8Array(), options)
    } else await this.#sendStream(reply, body, options)
  }

  /** Whether `sendNow` may be called: the body is neither to be compressed nor sent in chunks. */
  isShort(reply: WholeReply, options: SendOptions): boolean {
    const { body } = reply
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const isCompressed = isWorthwhile(length) && encodingOf(reply, options) !== undefined
    return !isCompressed && length <= shortBytes
  }

  /** Sends a short body in this turn. */
  sendNow(reply: WholeReply, options: SendOptions): void {
    const { body } = reply
    const bytes = typeof body === 'string' ? Buffer.from(body) : body
    this.#sendShort(reply, bytes, undefined, options)
  }

  /** Sends a short answer and closes the connection, before anything behind the headers is read. */
  sendAndClose(reply: WholeReply, options: SendOptions): void {
    if (this.#responder.isGone) return
    const refusal = refusalOf(reply, options)
    this.started = true
    this.sentBytes += Buffer.byteLength(refusal.text)
    this.#responder.sendAndClose(refusal)
  }

  #sendShort(
    reply: Reply,
    bytes: Uint8Array,
    encoding: ContentEncoding | undefined,
    options: SendOptions,
  ): void {
    if (this.#responder.isGone) return
    const head = headOf(reply, encoding, options)
    this.started = true
    if (options.headOnly) {
      this.#responder.sendHeadOnly(head, bytes.length, options.closeConnection)
      return
    }
    this.#responder.sendWhole(head, bytes, options.closeConnection)
    this.sentBytes += bytes.length
  }

  async #sendWhole(reply: Reply, body: Uint8Array, options: SendOptions): Promise<void> {
    if (body.length > shortBytes && options.closeConnection && !options.headOnly) {
      // What is sent with its length in chunks cannot end with the connection.
      await this.#sendStream(reply, once(body), options)
      return
    }
    const { bytes, encoding } = await compressWhole(body, encodingOf(reply, options))
    if (this.#responder.isGone) return
    if (bytes.length <= shortBytes || options.headOnly) {
      this.#sendShort(reply, bytes, encoding, options)
      return
    }
    const head = headOf(reply, encoding, options)
    this.started = true
    if (await this.#responder.sendLong(head, bytes)) this.sentBytes += bytes.length
  }

  async #sendStream(reply: Reply, body: AsyncIterable<Uint8Array>, options: SendOptions) {
    const encoding = encodingOf(reply, options)
    const chunks = encoding ? compressStream(body, encoding) : body
    let inTurn = 0
    try {
      for await (const chunk of chunks) {
        for (let from = 0; from < chunk.length && !this.#responder.isGone; ) {
          const part = chunk.subarray(from, from + (this.started ? chunkBytes : shortBytes))
          from += part.length
          this.#begin(reply, encoding, options)
          const isTaken = this.#responder.write(part)
          this.sentBytes += part.length
          inTurn += part.length
          if (!isTaken) await this.#responder.taken()
          else if (inTurn >= turnBytes) await setImmediate()
          else continue
          inTurn = 0
        }
        if (this.#responder.isGone) return
      }
    } catch (error) {
      if (this.started) this.#responder.close()
      throw error
    }
    if (this.#responder.isGone) return
    this.#begin(reply, encoding, options)
    this.#responder.end(options.closeConnection)
  }

  /** With the first chunk: until there is one, the stream may fail and be answered otherwise. */
  #begin(reply: Reply, encoding: ContentEncoding | undefined, options: SendOptions): void {
    if (this.started) return
    this.started = true
    this.#responder.begin(headOf(reply, encoding, options))
  }
}

/** A reply as it is sent when the connection ends with it. */
export function refusalOf(reply: WholeReply, options: SendOptions): Refusal {
  const { body } = reply
  const text = typeof body === 'string' ? body : Buffer.from(body).toString()
  return { head: headOf(reply, undefined, options), text }
}

function headOf(
  reply: Reply,
  encoding: ContentEncoding | undefined,
  options: SendOptions,
): AnswerHead {
  const status = reply.status ?? 200
  let lines = ''
  if (status !== 204) {
    lines += `content-type: ${reply.contentType ?? 'application/json'}\r\n${varyLine}`
  }
  if (encoding) lines += `content-encoding: ${encoding}\r\n`
  if (reply.headers) lines += headerLines(reply.headers)
  return { status, lines: lines + options.commonLines() }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function encodingOf({ isCompressible = true }: Reply, { encoding }: SendOptions) {
  return isCompressible ? encoding : undefined
}
