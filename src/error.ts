/** A half-open range of UTF-16 offsets into a query text. */
export interface Span {
  readonly start: number
  readonly end: number
  /** Of a query that is JSON, the place in it: `query.filter.left`. The offsets are into its text, if it is one. */
  readonly path?: string
}

/**
 * Whose fault an error is. `user`: the request can be mended by its sender. `environment`: the
 * machine or its load; trying again may help. `internal`: a defect of ours.
 */
export type ErrorFamily = 'user' | 'environment' | 'internal'

/**
 * Every error that leaves a stage, by the stage that raises it. Codes are stable and may be matched
 * by clients; messages may improve. `status` is the HTTP status of the answer.
 */
export const errorCodes = {
  PARSE_UNEXPECTED_CHARACTER: { family: 'user', status: 400 },
  PARSE_UNTERMINATED_STRING: { family: 'user', status: 400 },
  PARSE_INVALID_LITERAL: { family: 'user', status: 400 },
  PARSE_UNEXPECTED_TOKEN: { family: 'user', status: 400 },
  PARSE_UNKNOWN_CLAUSE: { family: 'user', status: 400 },
  PARSE_DUPLICATE_CLAUSE: { family: 'user', status: 400 },
  PARSE_CONFLICTING_CLAUSES: { family: 'user', status: 400 },
  PARSE_MISSING_CLAUSE: { family: 'user', status: 400 },
  PARSE_TOO_DEEP: { family: 'user', status: 400 },
  PARSE_TOO_LONG: { family: 'user', status: 400 },
  BIND_UNKNOWN_FIELD: { family: 'user', status: 400 },
  BIND_AMBIGUOUS_FIELD: { family: 'user', status: 400 },
  BIND_UNKNOWN_FUNCTION: { family: 'user', status: 400 },
  BIND_UNKNOWN_SOURCE: { family: 'user', status: 400 },
  BIND_AMBIGUOUS_SOURCE: { family: 'user', status: 400 },
  BIND_WRONG_ARGUMENTS: { family: 'user', status: 400 },
  BIND_MISPLACED_AGGREGATE: { family: 'user', status: 400 },
  BIND_DUPLICATE_NAME: { family: 'user', status: 400 },
  BIND_INVALID_SORT: { family: 'user', status: 400 },
  BIND_INVALID_OPTION: { family: 'user', status: 400 },
  BIND_UNSUPPORTED: { family: 'user', status: 400 },
  LINT_FAILED: { family: 'user', status: 400 },
  REQUEST_INVALID: { family: 'user', status: 400 },
  REQUEST_NOT_JSON: { family: 'user', status: 400 },
  REQUEST_NOT_UTF8: { family: 'user', status: 400 },
  REQUEST_TOO_DEEP: { family: 'user', status: 400 },
  REQUEST_CONFLICT: { family: 'user', status: 400 },
  REQUEST_UNSUPPORTED: { family: 'user', status: 501 },
  REQUEST_TOO_LARGE: { family: 'user', status: 413 },
  REQUEST_HEADERS_TOO_LARGE: { family: 'user', status: 431 },
  ROUTE_NOT_FOUND: { family: 'user', status: 404 },
  ROUTE_GONE: { family: 'user', status: 410 },
  ROUTE_WRONG_METHOD: { family: 'user', status: 405 },
  ACCESS_UNAUTHENTICATED: { family: 'user', status: 401 },
  ACCESS_DENIED: { family: 'user', status: 403 },
  ACCESS_PROVIDER_FAILED: { family: 'environment', status: 502 },
  LIMIT_MEMORY: { family: 'user', status: 400 },
  /** Not told to users: a worker does the work. */
  LIMIT_TURN: { family: 'internal', status: 500 },
  BACKEND_UNAVAILABLE: { family: 'environment', status: 503 },
  BACKEND_FAILED: { family: 'environment', status: 502 },
  LIMIT_OVERLOADED: { family: 'environment', status: 429 },
  LIMIT_RATE: { family: 'user', status: 429 },
  LIMIT_SLOW_READER: { family: 'user', status: 429 },
  QUERY_CANCELLED: { family: 'environment', status: 499 },
  QUERY_TIMEOUT: { family: 'environment', status: 504 },
  STORAGE_LOCKED: { family: 'environment', status: 500 },
  STORAGE_CORRUPT: { family: 'environment', status: 500 },
  STORAGE_FORMAT: { family: 'environment', status: 500 },
  STORAGE_UNAVAILABLE: { family: 'environment', status: 503 },
  STORAGE_RESERVED: { family: 'environment', status: 507 },
  HOME_UNAVAILABLE: { family: 'environment', status: 503 },
  HOME_AHEAD: { family: 'environment', status: 503 },
  SERVER_CANNOT_LISTEN: { family: 'environment', status: 500 },
  CONFIG_INVALID: { family: 'user', status: 400 },
  COMMAND_INVALID: { family: 'user', status: 400 },
  COMMAND_FAILED: { family: 'user', status: 400 },
  COMMAND_CANNOT_CONNECT: { family: 'environment', status: 503 },
  INTERNAL: { family: 'internal', status: 500 },
} as const satisfies Record<string, { family: ErrorFamily; status: number }>

export type ErrorCode = keyof typeof errorCodes

/** A row version whose body a cluster alone has. Keys are a transaction and an index in it. */
export interface EvictedVersion {
  readonly object: number
  readonly paginationKey: { readonly transaction: number; readonly index: number }
  readonly version: { readonly transaction: number; readonly index: number }
}

export interface ErrorDetails {
  /** Where in the query text the fault is. */
  readonly span?: Span
  /** The way out, as one sentence: `did you mean "score"?` */
  readonly hint?: string
  /** Where in a request body the fault is: `rows[3].id`. */
  readonly path?: string
  /** Further faults of the same text, in the order of their places: all are reported at once. */
  readonly others?: readonly AssayError[]
  /** After how long it is worth trying again. */
  readonly retryAfterSeconds?: number
  /** The number of the object whose stored data is damaged, which the message may have no better name for. */
  readonly object?: number
  /** The segment that was found to be damaged: its rows can be had elsewhere. */
  readonly damagedSegment?: number | undefined
  /** What was wanted of a cluster: with the bodies at hand, the work can be done. */
  readonly evicted?: readonly EvictedVersion[] | undefined
  readonly cause?: unknown
}

/** The plain data that crosses a thread boundary in place of an `AssayError`. */
export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly span?: Span
  readonly hint?: string
  readonly path?: string
  readonly object?: number
  readonly others?: readonly WireError[]
  readonly damagedSegment?: number
  readonly evicted?: readonly EvictedVersion[]
}

/** The only error class of the project. What to tell the user is all in it; see `errorCodes`. */
export class AssayError extends Error {
  override readonly name = 'AssayError'
  readonly code: ErrorCode
  readonly span: Span | undefined
  readonly hint: string | undefined
  readonly path: string | undefined
  readonly object: number | undefined
  readonly others: readonly AssayError[]
  readonly retryAfterSeconds: number | undefined
  readonly damagedSegment: number | undefined
  readonly evicted: readonly EvictedVersion[] | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    const { span } = details
    this.span = span?.path !== undefined && span.end === 0 ? undefined : span
    this.hint = details.hint
    this.path = details.path ?? span?.path
    this.object = details.object
    this.others = details.others ?? []
    this.retryAfterSeconds = details.retryAfterSeconds
    this.damagedSegment = details.damagedSegment
    this.evicted = details.evicted
  }

  get status(): number {
    return errorCodes[this.code].status
  }

  get family(): ErrorFamily {
    return errorCodes[this.code].family
  }

  /** Structured cloning of an Error drops its fields; this form keeps them. */
  toWire(): WireError {
    return {
      code: this.code,
      message: this.message,
      ...(this.span && { span: this.span }),
      ...(this.hint !== undefined && { hint: this.hint }),
      ...(this.path !== undefined && { path: this.path }),
      ...(this.object !== undefined && { object: this.object }),
      ...(this.others.length > 0 && { others: this.others.map((other) => other.toWire()) }),
      ...(this.damagedSegment !== undefined && { damagedSegment: this.damagedSegment }),
      ...(this.evicted && { evicted: this.evicted }),
    }
  }

  static fromWire(wire: WireError): AssayError {
    const others = wire.others?.map((other) => AssayError.fromWire(other))
    const { others: _, ...details } = wire
    return new AssayError(wire.code, wire.message, { ...details, ...(others && { others }) })
  }
}

/** Turns whatever was thrown into an `AssayError`; what is not one already is our defect. */
export function toAssayError(thrown: unknown): AssayError {
  if (thrown instanceof AssayError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AssayError('INTERNAL', message, { cause: thrown })
}

/** Guards an assumption of ours. Users never reach one. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssayError('INTERNAL', message)
}

/** Closes a `switch` over a union: the compiler proves that no case is missing. */
export function unreachable(value: never): never {
  throw new AssayError('INTERNAL', `unexpected variant: ${JSON.stringify(value)}`)
}
