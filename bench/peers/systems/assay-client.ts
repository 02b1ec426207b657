/** A client of the service over connections that stay open. */
import { Agent, request } from 'node:http'

export interface ClientOptions {
  readonly url: string
  readonly key: string
  readonly connections: number
}

export class AssayClient {
  readonly #options: ClientOptions
  readonly #agent: Agent

  constructor(options: ClientOptions) {
    this.#options = options
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.connections })
  }

  /** What the `authorization` header of a request has to be. */
  get authorization(): string {
    return `Bearer ${this.#options.key}`
  }

  /** Waits for the whole answer. Throws unless it is one of success. */
  get(path: string): Promise<Buffer> {
    return this.#send('GET', path, '')
  }

  /** Sends a body and waits for the whole answer. Throws unless it is one of success. */
  post(path: string, body: string | Buffer): Promise<Buffer> {
    return this.#send('POST', path, body)
  }

  #send(method: 'GET' | 'POST', path: string, body: string | Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: this.authorization,
        ...(method === 'POST' && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      }
      const sent = request(`${this.#options.url}${path}`, { method, agent: this.#agent, headers })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The service has closed the connection, which was idle for too long, as the request was sent.
        if (sent.reusedSocket && error.code === 'ECONNRESET')
          this.#send(method, path, body).then(resolve, reject)
        else reject(error)
      })
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const answer = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
          if (response.statusCode === 200) resolve(answer)
          else reject(new Error(`${path}: ${response.statusCode}: ${answer.toString()}`))
        })
      })
      sent.end(body)
    })
  }

  async postJson(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.post(path, JSON.stringify(body))
    return JSON.parse(answer.toString()) as Record<string, unknown>
  }

  close(): void {
    this.#agent.destroy()
  }
}
