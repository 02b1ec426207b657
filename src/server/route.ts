/** What a route is, and which one a request is for. */
import type { Gate } from '../access/gate.ts'
import { AssayError } from '../error.ts'
import type { OperationDescription } from './operation-description.ts'
import type { Reply, WholeReply } from './reply.ts'

export interface RouteRequest {
  readonly method: string
  /** Path and parameters as they came. */
  readonly url: string
  /** Decoded parts of the path where the route has `:name`, in order. */
  readonly parameters: readonly string[]
  readonly query: URLSearchParams
  /** Those that the route asks for and the request has. */
  readonly headers: ReadonlyMap<string, string>
  /** Where it comes from; known to routes that are open to everybody. */
  readonly address: string
  /** Aborted when the client leaves, or when the server can wait no longer. */
  readonly signal: AbortSignal
  /** Ends the work on the request; an answer that has begun breaks off. */
  readonly cancel: (reason: AssayError) => void
  /** The gate of who asks as of now; throws when the key or the session is not valid any more. */
  readonly gateNow: () => Gate
  /** Ends the request once the check throws: it is asked whenever the catalog changes, or a key expires. */
  readonly keepChecking: (check: () => void) => void
  /** The body, decompressed; empty for methods that have none. */
  readonly body: Promise<Uint8Array>
  /** The same of a route that waits for it; lent until the route returns. */
  readonly whole?: Uint8Array | undefined
  /** Tells errors which text their spans point into, if the query is one. */
  queryText?: string | undefined
  /** Names of what the request has and the route has not used; asked once there is an answer. */
  ignored?: () => readonly string[]
}

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type FailureBody = Required<Pick<WholeReply, 'contentType' | 'body'>>

/** How an error is told; undefined for the one shape of all others. */
export type FailureForm = (error: AssayError, message: string) => FailureBody | undefined

interface RouteTarget {
  readonly method: RouteMethod
  /** Parts are literal, or `:name` for any one part. */
  readonly path: string
  /**
   * `records`: the body holds records, and may be as large as the configuration allows. A small one that is open to
   * everybody holds no more than what signs in.
   */
  readonly bodySize?: 'small' | 'records'
  /** The body goes to `Engine.insert`, and nobody has it any more when the route has answered. */
  readonly isInsert?: boolean
  /** What errors are told by to clients that expect something else than JSON; undefined for others. */
  failure?(
    error: AssayError,
    message: string,
    headers: ReadonlyMap<string, string>,
  ): FailureBody | undefined
  /** What the API document tells of it. */
  readonly description?: OperationDescription
  /** Names, in lower case, of the headers that the route reads. */
  readonly headers?: readonly string[] | 'all'
  /** Who answers: any node, from what it has, or only the home node, to which query nodes pass the request on. */
  readonly servedBy?: 'any' | 'home'
}

/** A route that needs a key sees the catalog through the gate of the key's owner, and only so. */
export type Route =
  | (RouteTarget & {
      readonly access: 'open'
      /** Throws when the path lets nobody in, before a byte of the body is taken. */
      admit?(parameters: readonly string[], query: URLSearchParams): void
      handle(request: RouteRequest): Reply | Promise<Reply>
    })
  | (RouteTarget & {
      readonly access: 'key'
      /** The route is asked in the turn of the event loop in which its body is whole, and may answer within it. */
      readonly waitsForBody?: true
      handle(request: RouteRequest, gate: Gate): Reply | Promise<Reply>
    })

export interface RouteMatch {
  readonly route: Route
  readonly parameters: readonly string[]
}

interface Entry {
  readonly route: Route
  readonly parts: readonly string[]
}

export class Router {
  readonly routes: readonly Route[]
  /** By number of parts and the first two of them. Of routes that fit, literal ones come first. */
  readonly #routes = new Map<string, Entry[]>()
  /** Those without parameters, by method and path as they are written. */
  readonly #literal = new Map<string, RouteMatch>()

  constructor(routes: readonly Route[]) {
    this.routes = routes
    const entries = routes.map((route) => ({ route, parts: split(route.path) }))
    for (const entry of entries.sort((a, b) => open(a) - open(b))) {
      const start = startOf(entry.parts)
      const others = this.#routes.get(start)
      if (others) others.push(entry)
      else this.#routes.set(start, [entry])
      const { route } = entry
      const name = `${route.method} ${route.path}`
      if (open(entry) === 0 && !this.#literal.has(name)) {
        this.#literal.set(name, { route, parameters: [] })
      }
    }
  }

  /** Repeated slashes count as one. HEAD is answered by the route of GET. */
  match(method: string, path: string): RouteMatch {
    const literal = this.#literal.get(`${method} ${path}`)
    if (literal) return literal
    const given = split(path)
    const here = this.#fitting(given)
    if (here.length === 0) {
      throw new AssayError('ROUTE_NOT_FOUND', `There is nothing at ${path.slice(0, 200)}`)
    }
    const wanted = method === 'HEAD' ? 'GET' : method
    const match = here.find(({ route }) => route.method === wanted)
    if (!match) {
      const methods = here.map(({ route }) => route.method).join(', ')
      throw new AssayError('ROUTE_WRONG_METHOD', `${path.slice(0, 200)} does not take ${method}`, {
        hint: `it takes ${methods}`,
      })
    }
    const parameters = given.filter((_, index) => match.parts[index]!.startsWith(':')).map(decode)
    return { route: match.route, parameters }
  }

  /** Methods of the routes at a path, for OPTIONS and `allow`. */
  methods(path: string): string[] {
    return this.#fitting(split(path)).map(({ route }) => route.method)
  }

  #fitting(given: readonly string[]): Entry[] {
    // Routes begin with literal parts, but for some whose second part is an id.
    const starts = [startOf(given), startOf([given[0] ?? '', ':', ...given.slice(2)])]
    const near = starts.flatMap((start) => this.#routes.get(start) ?? [])
    const fitting = near.filter(({ parts }) => fits(parts, given))
    // A path that is written out is no id to the routes beside it.
    const literal = fitting.filter((entry) => open(entry) === 0)
    return literal.length > 0 ? literal : fitting
  }
}

/** How many parts stand for any text. */
function open({ parts }: Entry): number {
  return parts.filter((part) => part.startsWith(':')).length
}

function startOf([first, second, ...rest]: readonly string[]): string {
  return `${rest.length}/${first ?? ''}/${second?.startsWith(':') ? ':' : (second ?? '')}`
}

function split(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}

function fits(parts: readonly string[], given: readonly string[]): boolean {
  return (
    parts.length === given.length &&
    parts.every((part, index) => part.startsWith(':') || part === given[index])
  )
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (cause) {
    throw new AssayError('REQUEST_INVALID', 'the path has a broken percent escape', { cause })
  }
}
