/** A client of the service over connections that stay open. */
import { type HttpAnswer, HttpConnection } from './http-connection.ts'

export interface ClientOptions {
  readonly url: string
  readonly key: string
  readonly connections: number
}

export class AssayClient {
  readonly #key: string
  readonly #free: HttpConnection[]
  readonly #connections: readonly HttpConnection[]
  readonly #waiting: ((connection: HttpConnection) => void)[] = []

  constructor({ url, key, connections }: ClientOptions) {
    this.#key = key
    this.#free = Array.from({ length: connections }, () => new HttpConnection(new URL(url)))
    this.#connections = [...this.#free]
  }

  /** What the `authorization` header of a request has to be. */
  get authorization(): string {
    return `Bearer ${this.#key}`
  }

  /** Waits for the whole answer. Throws unless it is one of success. */
  get(path: string): Promise<Buffer> {
    return this.#send('GET', path, Buffer.alloc(0))
  }

  /** Sends a body and waits for the whole answer. Throws unless it is one of success. */
  post(path: string, body: string | Uint8Array): Promise<Buffer> {
    return this.#send('POST', path, typeof body === 'string' ? Buffer.from(body) : body)
  }

  async #send(method: 'GET' | 'POST', path: string, body: Uint8Array): Promise<Buffer> {
    let lines = `${method} ${path} HTTP/1.1\r\nauthorization: ${this.authorization}\r\n`
    if (method === 'POST') {
      lines += `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
    }
    const connection = this.#free.pop() ?? (await this.#nextFree())
    let answer: HttpAnswer
    try {
      answer = await connection.send(lines, body)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(connection)
      else this.#free.push(connection)
    }
    if (answer.status === 200) return answer.body
    throw new Error(`${path}: ${answer.status}: ${answer.body.toString()}`)
  }

  #nextFree(): Promise<HttpConnection> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async postJson(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.post(path, JSON.stringify(body))
    return JSON.parse(answer.toString()) as Record<string, unknown>
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}
