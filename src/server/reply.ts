import { writeExactJson } from '../type/exact-json.ts'

/** An answer as routes give it; `response.ts` sends it. */
export interface Reply {
  readonly status?: number
  readonly contentType?: string
  /** One that comes several times has a list: cookies. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** False for bytes that are compressed already, or of files, whose ranges are asked for. */
  readonly isCompressible?: boolean
  /**
   * A whole body, or one that is sent as it comes. When a stream throws after its first bytes, the
   * connection is closed without the end of the body, so that the client can tell.
   */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Called where nobody reads the body, as for a HEAD: ends what was begun for it before it is read. */
  readonly discard?: () => void
}

/** One whose body is there. */
export type WholeReply = Reply & { readonly body: string | Uint8Array }

export function jsonReply(value: unknown, headers: NonNullable<Reply['headers']> = {}): WholeReply {
  return { headers, body: writeExactJson(value) }
}
