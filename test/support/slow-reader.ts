import { connect, type Socket } from 'node:net'
import { testKey } from './running-service.ts'

/** A client that takes a kilobyte a second of an answer. */
export class SlowReader {
  readonly closed: Promise<void>
  received = 0
  readonly #socket: Socket
  readonly #timer: NodeJS.Timeout

  private constructor(socket: Socket) {
    this.#socket = socket
    // What Node.js reads ahead is 64 KiB; the rest stays with the sender.
    socket.pause()
    this.#timer = setInterval(() => {
      this.received += (socket.read(1024) as Buffer | null)?.length ?? 0
    }, 1000)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        clearInterval(this.#timer)
        resolve()
      })
    })
    socket.on('error', () => undefined)
  }

  /** Sends the request; what comes back is taken slowly. */
  static open(url: string, path: string, body: object): Promise<SlowReader> {
    const { hostname, port } = new URL(url)
    const text = JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${testKey}\r\n` +
            `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
        )
        resolve(new SlowReader(socket))
      })
      socket.once('error', reject)
    })
  }

  close(): void {
    clearInterval(this.#timer)
    this.#socket.destroy()
  }
}
