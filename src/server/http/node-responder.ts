import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import {
  type AnswerHead,
  bodyBytesPerSecond,
  chunkBytes,
  longestIdleMs,
  longestStallMs,
  type Refusal,
  type Responder,
  turnBytes,
} from './http-server.ts'
import type { NodeConnection } from './node-connection.ts'
import type { NodeRequest } from './node-request.ts'
import { statusText } from './status-text.ts'

const nothing = new Uint8Array()

/** Much less than what is granted, so that no client uses a connection in the moment in which it is closed. */
const toldIdle = `timeout=${longestIdleMs / 2000}`

export class NodeResponder implements Responder {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #connection: NodeConnection
  readonly #socket: Socket
  /** Of the body; undefined when it comes in chunks. */
  readonly #contentLength: number | undefined
  #isGone = false
  #hasEnded = false
  #hasReceiver = false
  #left: (() => void) | undefined
  /** What waits for the other end. */
  #wake: (() => void) | undefined
  #writtenInTurn = 0
  /** Since when the bytes of the body are counted, by `performance.now()`. */
  #countedSince = performance.now()
  #counted = 0

  constructor(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    request: NodeRequest,
    connection: NodeConnection,
  ) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#connection = connection
    this.#socket = connection.socket
    const isChunked = request.getHeader('transfer-encoding') !== ''
    this.#contentLength = isChunked ? undefined : Number(request.getHeader('content-length'))
    connection.begin(this)
    outgoing.on('finish', () => connection.finished(this))
    // That the connection is closed is heard of there.
    outgoing.on('error', () => undefined)
  }

  get address(): string {
    return this.#connection.address
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Whether nothing more will be written. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether something has been written. */
  get hasBegun(): boolean {
    return this.#outgoing.headersSent
  }

  onGone(left: () => void): void {
    this.#left = left
  }

  onData(receive: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#hasReceiver = true
    if (this.#contentLength !== 0) this.#connection.receiving.add(this)
    const expected = this.#contentLength
    let received = 0
    const receiveLast = (chunk: Uint8Array) => {
      this.#connection.receiving.delete(this)
      receive(chunk, true)
    }
    this.#incoming.on('data', (chunk: Uint8Array) => {
      received += chunk.length
      this.#counted += chunk.length
      if (received === expected) receiveLast(chunk)
      else receive(chunk, false)
    })
    this.#incoming.on('end', () => {
      if (expected === undefined || expected === 0) receiveLast(nothing)
    })
    this.#incoming.on('close', () => this.#connection.receiving.delete(this))
  }

  /** Reads the body though nobody wants it: the next request is behind it. */
  dropBody(): void {
    if (!this.#hasReceiver) this.onData(() => undefined)
  }

  pause(): void {
    this.#incoming.pause()
  }

  resume(): void {
    this.#incoming.resume()
  }

  /**
   * Puts the other end out when its body comes too slowly.
   *
   * @param lostMs for which nobody could have read what has come
   */
  requireProgress(now: number, lostMs: number): void {
    this.#countedSince += lostMs
    const ms = now - this.#countedSince
    const isPaused = this.#incoming.isPaused()
    if (!isPaused && ms < longestIdleMs) return
    if (!isPaused && this.#counted < (bodyBytesPerSecond * ms) / 1000) this.#socket.destroy()
    this.#countedSince = now
    this.#counted = 0
  }

  sendWhole(head: AnswerHead, body: Uint8Array, closesConnection: boolean): void {
    if (this.#isGone) return
    this.#writeHead(head, body.length, closesConnection)
    this.#hasEnded = true
    this.#limitIdle(longestIdleMs)
    // The body is only lent, and what is not taken at once is kept.
    this.#outgoing.end(body.length === 0 ? undefined : Buffer.from(body))
  }

  sendHeadOnly(head: AnswerHead, length: number, closesConnection: boolean): void {
    if (this.#isGone) return
    this.#writeHead(head, length, closesConnection)
    this.#hasEnded = true
    this.#limitIdle(longestIdleMs)
    this.#outgoing.end()
  }

  sendAndClose({ head, text }: Refusal): void {
    this.#connection.isEnding = true
    this.sendWhole(head, Buffer.from(text), true)
  }

  async sendLong(head: AnswerHead, body: Uint8Array): Promise<boolean> {
    if (this.#isGone) return false
    this.#writeHead(head, body.length, false)
    this.#hearDrain()
    for (let from = 0; from < body.length && !this.#isGone; from += chunkBytes) {
      const chunk = body.subarray(from, from + chunkBytes)
      this.#writtenInTurn += chunk.length
      if (!this.#outgoing.write(chunk)) await this.taken()
    }
    if (this.#isGone) return false
    this.#hasEnded = true
    this.#limitIdle(longestIdleMs)
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      this.#outgoing.end(resolve)
    })
    return !this.#isGone
  }

  begin(head: AnswerHead): void {
    if (this.#isGone) return
    this.#writeHead(head, undefined, false)
    this.#hearDrain()
  }

  write(chunk: Uint8Array): boolean {
    if (this.#isGone) return true
    this.#writtenInTurn += chunk.length
    return this.#outgoing.write(Buffer.from(chunk))
  }

  async taken(): Promise<void> {
    if (!this.#isGone && this.#outgoing.writableNeedDrain) {
      this.#limitIdle(longestStallMs)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#limitIdle(0)
    }
    // What a fast reader takes comes back within the turn.
    if (this.#writtenInTurn < turnBytes) return
    this.#writtenInTurn = 0
    await setImmediate()
  }

  end(closesConnection: boolean): void {
    if (this.#isGone) return
    this.#hasEnded = true
    this.#limitIdle(longestIdleMs)
    if (closesConnection) this.#connection.isEnding = true
    this.#outgoing.end(() => closesConnection && this.#socket.destroySoon())
  }

  close(): void {
    if (this.#isGone || this.#hasEnded) return
    this.leave()
    this.#connection.breakOff()
  }

  /** The other end has left. */
  leave(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#connection.receiving.delete(this)
    this.#wake?.()
    if (!this.#hasEnded) this.#left?.()
  }

  #hearDrain(): void {
    this.#outgoing.on('drain', () => this.#wake?.())
  }

  /** Puts the other end out when it takes nothing for so long; 0: it may do as it likes. */
  #limitIdle(ms: number): void {
    this.#socket.setTimeout(ms)
  }

  /** @param length of the body; undefined: it comes in chunks */
  #writeHead(
    { status, lines }: AnswerHead,
    length: number | undefined,
    closesConnection: boolean,
  ): void {
    const fields = fieldsOf(lines)
    if (length !== undefined && status !== 204) fields.push('content-length', String(length))
    if (closesConnection) {
      this.#connection.isEnding = true
      fields.push('connection', 'close')
    } else fields.push('keep-alive', toldIdle)
    this.#outgoing.writeHead(status, statusText(status), fields)
  }
}

/** Names and values in turn. */
function fieldsOf(lines: string): string[] {
  const fields: string[] = []
  for (let from = 0; from < lines.length; ) {
    const colon = lines.indexOf(': ', from)
    const end = lines.indexOf('\r\n', colon)
    fields.push(lines.slice(from, colon), headerValue(lines.slice(colon + 2, end)))
    from = end + 2
  }
  return fields
}

/** Node refuses those, as no header can have them. */
const controlSigns = /\p{Cc}/gu

const plain = /^[\t -~]*$/

/** Node writes a byte for each character, and clients read UTF-8. */
function headerValue(text: string): string {
  if (plain.test(text)) return text
  return Buffer.from(text.replace(controlSigns, ' ')).toString('latin1')
}
