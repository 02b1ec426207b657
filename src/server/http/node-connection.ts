import type { Socket } from 'node:net'
import type { Refusal } from './http-server.ts'
import { statusText } from './status-text.ts'

/** For the other end to take the last that it is told. */
const lastWordsMs = 1000

/** The answer to a request, as its connection sees it. */
interface OpenAnswer {
  readonly hasBegun: boolean
  readonly hasEnded: boolean
  /** Nobody waits for it any more. */
  leave(): void
}

/** A connection of Node's server: which of its requests are being answered. */
export class NodeConnection {
  readonly socket: Socket
  /** Asked for at once: a socket that is closed does not know it any more. */
  readonly address: string
  /** Of all connections: whose bodies have not come yet. */
  readonly receiving: Set<OpenAnswer>
  /** Whether what comes is not looked at any more. */
  isEnding = false
  /** Those whose answers have not been handed over. */
  readonly #open = new Set<OpenAnswer>()
  #last: Refusal | undefined

  constructor(socket: Socket, receiving: Set<OpenAnswer>) {
    this.socket = socket
    // Of IPv4, as a socket of IPv6 has it.
    this.address = socket.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? ''
    this.receiving = receiving
    socket.on('close', () => this.#leave())
    // Who says nothing any more waits for nothing, either: Node ends its side, too.
    socket.on('end', () => {
      if (this.isWaited()) socket.destroy()
    })
  }

  /** Whether all that was asked for has been answered, and more may be. */
  get isIdle(): boolean {
    return this.#open.size === 0 && !this.isEnding
  }

  /** Whether a request waits for its answer, or for the end of it. */
  isWaited(): boolean {
    for (const responder of this.#open) if (!responder.hasEnded) return true
    return false
  }

  begin(responder: OpenAnswer): void {
    // The answer before it may be on its way still, which has its time; this one may take any.
    if (this.#open.size > 0) this.socket.setTimeout(0)
    this.#open.add(responder)
  }

  finished(responder: OpenAnswer): void {
    this.#open.delete(responder)
    this.#endWithLast()
  }

  /** Tells it what is wrong, behind the answers that are on their way, and closes it. */
  refuse(refusal: Refusal): void {
    this.isEnding = true
    for (const responder of this.#open) {
      if (responder.hasEnded) continue
      if (responder.hasBegun) {
        this.socket.destroy()
        return
      }
      responder.leave()
      this.#open.delete(responder)
    }
    this.#last = refusal
    this.#endWithLast()
  }

  /** Closes it in the middle of an answer, behind what was written. */
  breakOff(): void {
    this.isEnding = true
    this.socket.destroySoon()
    setTimeout(() => this.socket.destroy(), lastWordsMs).unref()
  }

  #endWithLast(): void {
    if (!this.#last || this.#open.size > 0) return
    const { head, text } = this.#last
    this.#last = undefined
    const length = Buffer.byteLength(text)
    this.socket.write(
      `HTTP/1.1 ${head.status} ${statusText(head.status)}\r\n` +
        `${head.lines}connection: close\r\ncontent-length: ${length}\r\n\r\n${text}`,
    )
    this.socket.end()
    setTimeout(() => this.socket.destroy(), lastWordsMs).unref()
  }

  #leave(): void {
    for (const responder of this.#open) responder.leave()
    this.#open.clear()
  }
}
