/** A proxy that serves a service below a path, as people put several services behind one host. */
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

export class PathProxy {
  readonly url: string
  readonly #server: Server
  #port = 0

  private constructor(server: Server, path: string) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    const below = (url = '') => (url.startsWith(path) ? url.slice(path.length) || '/' : undefined)
    server.on('request', (from, to) => {
      const target = below(from.url)
      if (target === undefined) {
        to.writeHead(404).end()
        return
      }
      const { method, headers } = from
      const onward = request({ port: this.#port, path: target, method, headers }, (answer) => {
        to.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(to)
      })
      onward.on('error', () => to.destroy())
      to.on('close', () => onward.destroy())
      from.pipe(onward)
    })
    server.on('upgrade', (from, socket) => {
      const onward = connect(this.#port, '127.0.0.1', () => {
        const lines = [`${from.method} ${below(from.url)} HTTP/1.1`]
        for (let i = 0; i < from.rawHeaders.length; i += 2) {
          lines.push(`${from.rawHeaders[i]}: ${from.rawHeaders[i + 1]}`)
        }
        onward.write(`${lines.join('\r\n')}\r\n\r\n`)
        socket.pipe(onward).pipe(socket)
      })
      onward.on('error', () => socket.destroy())
      socket.on('error', () => onward.destroy())
    })
  }

  /** @param path `/assay` */
  static async start(path: string): Promise<PathProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new PathProxy(server, path)
  }

  /** Nothing is answered before this. */
  serve(url: string): void {
    this.#port = Number(new URL(url).port)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
