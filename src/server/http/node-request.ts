import type { IncomingMessage } from 'node:http'
import type { RequestHead } from './http-server.ts'

/** A request of Node's server. */
export class NodeRequest implements RequestHead {
  readonly #method: string
  readonly #url: string
  /** Names and values in turn, as they came. */
  readonly #lines: readonly string[]
  readonly #headers = new Map<string, string>()

  constructor({ method = '', url = '', rawHeaders }: IncomingMessage) {
    this.#method = method
    this.#url = url
    this.#lines = rawHeaders
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase()
      if (!this.#headers.has(name)) this.#headers.set(name, rawHeaders[i + 1]!)
    }
  }

  getMethod(): string {
    return this.#method
  }

  getUrl(): string {
    const end = this.#url.indexOf('?')
    return end < 0 ? this.#url : this.#url.slice(0, end)
  }

  getQuery(): string {
    const end = this.#url.indexOf('?')
    return end < 0 ? '' : this.#url.slice(end + 1)
  }

  getHeader(name: string): string {
    return this.#headers.get(name) ?? ''
  }

  forEach(see: (name: string, value: string) => void): void {
    const lines = this.#lines
    for (let i = 0; i < lines.length; i += 2) see(lines[i]!.toLowerCase(), lines[i + 1]!)
  }
}
