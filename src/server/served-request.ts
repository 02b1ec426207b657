import type { Gate } from '../access/gate.ts'
import type { AssayError } from '../error.ts'
import type { Exchange } from './exchange.ts'
import { WatchedQuery } from './ignored-fields.ts'
import type { RouteRequest } from './route.ts'

export interface ServedRequestOptions {
  readonly exchange: Exchange
  readonly parameters: readonly string[]
  /** Behind the `?` of the address. */
  readonly search: string
  readonly headers: ReadonlyMap<string, string>
  readonly address: string | undefined
  readonly gateNow: () => Gate
  readonly whole: Uint8Array | undefined
}

/** A request as its route sees it. What most routes do not ask for is made when it is asked for. */
export class ServedRequest implements RouteRequest {
  readonly parameters: readonly string[]
  readonly headers: ReadonlyMap<string, string>
  readonly address: string
  readonly gateNow: () => Gate
  readonly whole: Uint8Array | undefined
  queryText?: string | undefined
  ignored?: () => readonly string[]
  readonly #exchange: Exchange
  readonly #search: string
  #query: WatchedQuery | undefined

  constructor(options: ServedRequestOptions) {
    this.parameters = options.parameters
    this.headers = options.headers
    this.address = options.address ?? ''
    this.gateNow = options.gateNow
    this.whole = options.whole
    this.#exchange = options.exchange
    this.#search = options.search
  }

  get method(): string {
    return this.#exchange.method
  }

  get url(): string {
    // uWebSockets.js has none at all where there is no question mark.
    return this.#exchange.path + (this.#search ? `?${this.#search}` : '')
  }

  get query(): URLSearchParams {
    return this.#watchedQuery()
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  get body(): Promise<Uint8Array> {
    return this.#exchange.body?.bytes ?? Promise.resolve(new Uint8Array())
  }

  /** Of its parameters, and of its body, what no one has asked for. */
  get unread(): readonly string[] {
    const parameters = this.#search === '' ? [] : this.#watchedQuery().unread
    return [...(this.ignored?.() ?? []), ...parameters]
  }

  readonly cancel = (reason: AssayError) => this.#exchange.cancel(reason)

  readonly keepChecking = (check: () => void) => {
    this.#exchange.check = check
  }

  #watchedQuery(): WatchedQuery {
    this.#query ??= new WatchedQuery(this.#search)
    return this.#query
  }
}
