/** The one shape of errors, and the only place where they turn into answers. */
import type { AssayError } from '../error.ts'
import { locate, renderError } from '../parser/error-location.ts'
import type { WholeReply } from './reply.ts'
import type { FailureForm } from './route.ts'

export interface ErrorContext {
  readonly path: string
  readonly traceId: string
  /** The text that the error's span points into. */
  readonly queryText?: string | undefined
}

const names = new Map([
  [400, 'BadRequestError'],
  [401, 'UnauthorizedError'],
  [403, 'ForbiddenError'],
  [404, 'NotFoundError'],
  [405, 'MethodNotAllowedError'],
  [410, 'GoneError'],
  [413, 'PayloadTooLargeError'],
  [429, 'TooManyRequestsError'],
  [431, 'RequestHeaderFieldsTooLargeError'],
  [501, 'NotImplementedError'],
  [502, 'BadGatewayError'],
  [503, 'ServiceUnavailableError'],
  [504, 'GatewayTimeoutError'],
])

/**
 * What we did wrong is in the log under the trace id; the client only learns that we did.
 *
 * @param form what the route tells its clients of errors, where they expect something else than JSON
 */
export function errorReply(
  error: AssayError,
  context: ErrorContext,
  form?: FailureForm,
): WholeReply {
  const { queryText, traceId } = context
  const message = messageOf(error, traceId, queryText)
  const body = {
    Code: names.get(error.status) ?? 'InternalServerError',
    Message: message,
    InternalTraceId: traceId,
    Path: context.path,
    Service: 'api',
    error: detailOf(error, queryText),
  }
  const retry: Record<string, string> =
    error.status === 429 || error.status === 503
      ? { 'retry-after': String(error.retryAfterSeconds ?? 1) }
      : {}
  return {
    status: error.status,
    contentType: 'application/json; charset=utf-8',
    headers: retry,
    body: JSON.stringify(body),
    ...form?.(error, message),
  }
}

/** The same in a stream of messages, whose status was sent before. */
export function errorFields(
  error: AssayError,
  { traceId, queryText }: Pick<ErrorContext, 'traceId' | 'queryText'>,
) {
  return {
    status: error.status,
    message: messageOf(error, traceId, queryText),
    trace_id: traceId,
    error: detailOf(error, queryText),
    ...(error.retryAfterSeconds !== undefined && { retry_after: error.retryAfterSeconds }),
  }
}

function messageOf(error: AssayError, traceId: string, queryText: string | undefined): string {
  return error.family === 'internal'
    ? `Something went wrong here. The server's log tells what, under ${traceId}`
    : describe(error, queryText)
}

function detailOf(error: AssayError, queryText: string | undefined) {
  return {
    code: error.code,
    ...(error.span && queryText !== undefined && locate(queryText, error.span.start)),
    ...(error.hint !== undefined && { hint: error.hint }),
    ...(error.path !== undefined && { path: error.path }),
    ...(error.family !== 'internal' && { detail: error.message }),
    ...(error.others.length > 0 && {
      errors: [error, ...error.others].map((fault) => faultOf(fault, queryText)),
    }),
  }
}

/** A fault as an editor shows it: what, where from and to, and the way out. */
export function faultOf(error: AssayError, queryText: string | undefined) {
  const { code, message, span, hint, path } = error
  const end = span && queryText !== undefined ? locate(queryText, span.end) : undefined
  return {
    code,
    message,
    ...(hint !== undefined && { hint }),
    ...(path !== undefined && { path }),
    ...(span && queryText !== undefined && locate(queryText, span.start)),
    ...(end && { endLine: end.line, endColumn: end.column }),
  }
}

function describe(error: AssayError, queryText: string | undefined): string {
  if (error.span && queryText !== undefined) return renderError(queryText, error)
  return [error, ...error.others].map(inWords).join('\n')
}

function inWords(error: AssayError): string {
  const isPlaced = error.path === undefined || error.message.includes(error.path)
  // Text within JSON has a place of its own.
  const character = error.span ? `, character ${error.span.start + 1}` : ''
  const place = isPlaced ? '' : ` (at ${error.path}${character})`
  const hint = error.hint === undefined ? '' : `; ${error.hint}`
  return `${error.message}${place}${hint}`
}
