/** A proxy before a service that loses requests and answers in the ways networks and balancers do. */
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What happens to a request: a status is answered without the service; `cut` ends the connection
 * before the service has the request, `unheard` after it has answered.
 */
export type Failure = number | 'cut' | 'unheard'

export class FailingProxy {
  readonly url: string
  readonly #server: Server
  #target: string
  #paths: readonly string[] = []
  #failures: Failure[] = []
  #refused = 0

  private constructor(server: Server, target: string) {
    this.#server = server
    this.#target = target
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', (from, to) => this.#handle(from, to))
  }

  static async start(target: string): Promise<FailingProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new FailingProxy(server, target)
  }

  /** The next requests to one of the paths fail like this, one after the other; all others pass. */
  fail(paths: readonly string[], failures: readonly Failure[]): void {
    this.#paths = paths
    this.#failures = [...failures]
  }

  /** From now on requests go to this service. */
  serve(target: string): void {
    this.#target = target
  }

  /** How many requests found no service. */
  get refused(): number {
    return this.#refused
  }

  /** What has not happened yet. */
  get failures(): readonly Failure[] {
    return this.#failures
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #handle(from: IncomingMessage, to: ServerResponse): void {
    const fails = this.#paths.includes(from.url!.split('?')[0]!)
    const failure = fails ? this.#failures.shift() : undefined
    if (failure === 'cut') {
      from.socket.destroy()
      return
    }
    if (typeof failure === 'number') {
      from.resume()
      from.on('end', () => to.writeHead(failure, { 'retry-after': '0' }).end('not now'))
      return
    }
    const { method, headers } = from
    const onward = request(this.#target + from.url, { method, headers }, (answer) => {
      if (failure === 'unheard') {
        answer.resume()
        answer.on('end', () => from.socket.destroy())
        return
      }
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    onward.on('error', () => {
      this.#refused++
      to.destroy()
    })
    from.pipe(onward)
  }
}
