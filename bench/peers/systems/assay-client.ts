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

  /** Sends a body and waits for the whole answer. Throws unless it is one of success. */
  post(path: string, body: string | Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const { url, key } = this.#options
      const length = Buffer.byteLength(body)
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': length,
      }
      const sent = request(`${url}${path}`, { method: 'POST', agent: this.#agent, headers })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The service has closed the connection, which was idle for too long, as the request was sent.
        if (sent.reusedSocket && error.code === 'ECONNRESET')
          this.post(path, body).then(resolve, reject)
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
