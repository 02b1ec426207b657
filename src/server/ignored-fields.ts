/**
 * What a request has and this service does not know is no reason to refuse it: the client may be newer.
 * Where it is not kept either, the answer's header `x-assay-ignored-fields` names it.
 */
import { type JsonBody, parseJsonBody } from './json-body.ts'
import type { Reply } from './reply.ts'
import type { RouteRequest } from './route.ts'

export const ignoredFieldsHeader = 'x-assay-ignored-fields'

const mostNames = 20
const longestName = 100

/** A body that knows which of its fields nobody has asked for. Who goes through it has asked for all. */
class WatchedBody extends Map<string, unknown> {
  readonly #unread: Set<string>

  constructor(fields: JsonBody) {
    super(fields)
    this.#unread = new Set(fields.keys())
  }

  get unread(): ReadonlySet<string> {
    return this.#unread
  }

  override get(name: string): unknown {
    this.#unread.delete(name)
    return super.get(name)
  }

  override has(name: string): boolean {
    this.#unread.delete(name)
    return super.has(name)
  }

  override [Symbol.iterator]() {
    this.#unread.clear()
    return super[Symbol.iterator]()
  }
}

/** Parameters that know which of them nobody has asked for. Who goes through them has asked for all. */
export class WatchedQuery extends URLSearchParams {
  readonly #unread = new Set<string>(super.keys())

  get unread(): ReadonlySet<string> {
    return this.#unread
  }

  override get(name: string): string | null {
    this.#unread.delete(name)
    return super.get(name)
  }

  override getAll(name: string): string[] {
    this.#unread.delete(name)
    return super.getAll(name)
  }

  override has(name: string, value?: string): boolean {
    this.#unread.delete(name)
    return value === undefined ? super.has(name) : super.has(name, value)
  }

  override [Symbol.iterator]() {
    this.#unread.clear()
    return super[Symbol.iterator]()
  }

  override entries() {
    return this[Symbol.iterator]()
  }
}

/** The body of a request, of which those fields count as ignored that the route does not ask for. */
export async function readJsonBody(request: RouteRequest): Promise<JsonBody> {
  return jsonBodyOf(request, await request.body)
}

/** The same of a body that is there. */
export function jsonBodyOf(request: RouteRequest, bytes: Uint8Array): JsonBody {
  const body = new WatchedBody(parseJsonBody(bytes))
  request.ignored = () => [...body.unread]
  return body
}

/** The answer with the header, if there is anything to name. */
export function withIgnoredFields(reply: Reply, names: readonly string[]): Reply {
  if (names.length === 0 || (reply.status ?? 200) >= 400) return reply
  return { ...reply, headers: { ...reply.headers, [ignoredFieldsHeader]: listed(names) } }
}

/** Names as a header can have them: whatever is not plain comes as percent escapes. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map((name) => {
    const escaped = name.replaceAll(/[^\w.[\]-]/gu, (sign) =>
      Array.from(Buffer.from(sign), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    )
    return escaped.length > longestName ? `${escaped.slice(0, longestName)}...` : escaped
  })
  const more = names.length - shown.length
  return more > 0 ? `${shown.join(', ')}, and ${more} more` : shown.join(', ')
}
