import type { WebSocket } from 'uWebSockets.js'
import type { ChunkPlace, Peer } from './http-server.ts'

/** Functions that uWebSockets.js has and its types leave out. */
interface Fragments {
  sendFirstFragment(part: Uint8Array, isBinary: boolean): number
  sendFragment(part: Uint8Array): number
  sendLastFragment(part: Uint8Array): number
}

/** The other end of a WebSocket of uWebSockets.js. */
export class UWebSocketsPeer implements Peer {
  readonly #socket: WebSocket<unknown> & Fragments

  constructor(socket: WebSocket<unknown>) {
    this.#socket = socket as WebSocket<unknown> & Fragments
  }

  send(message: string | Uint8Array, isBinary = false): void {
    this.#socket.send(message, isBinary)
  }

  sendPart(part: Uint8Array, place: ChunkPlace, isBinary: boolean): void {
    if (place === 'first') this.#socket.sendFirstFragment(part, isBinary)
    else if (place === 'middle') this.#socket.sendFragment(part)
    else this.#socket.sendLastFragment(part)
  }

  getBufferedAmount(): number {
    return this.#socket.getBufferedAmount()
  }

  ping(): void {
    this.#socket.ping()
  }

  end(code: number, reason: string): void {
    this.#socket.end(code, reason)
  }

  close(): void {
    this.#socket.close()
  }
}
