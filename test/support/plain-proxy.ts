/** A TCP proxy that gives each new connection to the next of its services, and knows nothing of what it passes on. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export class PlainProxy {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Bytes that services have sent. */
  bytes = 0

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** @param port any free one when not given */
  static async start(targets: readonly string[], port = 0): Promise<PlainProxy> {
    const ports = targets.map((target) => Number(new URL(target).port))
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    const proxy = new PlainProxy(server)
    let next = 0
    server.on('connection', (from) => proxy.#join(from, ports[next++ % ports.length]!))
    return proxy
  }

  /** Cuts all connections; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(from: Socket, port: number): void {
    const to = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    to.on('data', (chunk: Buffer) => {
      this.bytes += chunk.length
    })
    from.pipe(to).pipe(from)
  }
}
