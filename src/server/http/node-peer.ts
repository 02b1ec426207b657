import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { ChunkPlace, Peer, PeerListener } from './http-server.ts'

/** The other end of a WebSocket of `ws`. */
export class NodePeer implements Peer {
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  /** @param connection what it runs over, which tells what has been taken */
  static open(socket: WebSocket, connection: Socket, listener: PeerListener): void {
    socket.on('message', (message: Buffer, isBinary) => listener.receive(message, isBinary))
    socket.on('pong', () => listener.seen())
    socket.on('close', () => listener.closed())
    // Its connection is closed, too, which is heard of above.
    socket.on('error', () => undefined)
    connection.on('drain', () => listener.drained())
    listener.open(new NodePeer(socket))
  }

  send(message: string | Uint8Array, isBinary = false): void {
    // What the connection does not take at once is kept, and bytes are only lent.
    const kept = typeof message === 'string' ? message : Buffer.from(message)
    this.#socket.send(kept, { binary: isBinary })
  }

  sendPart(part: Uint8Array, place: ChunkPlace, isBinary: boolean): void {
    this.#socket.send(Buffer.from(part), { binary: isBinary, fin: place === 'last' })
  }

  getBufferedAmount(): number {
    return this.#socket.bufferedAmount
  }

  ping(): void {
    this.#socket.ping()
  }

  end(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  close(): void {
    this.#socket.terminate()
  }
}
