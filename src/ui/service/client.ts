/** Requests to the service that serves this page. Rights are those of the session's cookie. */
import { writeExactJson } from '../../json/exact-number.ts'
import { base } from '../state/location.ts'
import { GivenUp, persist } from './connection.ts'
import { parseExactly } from './exact-json.ts'

/** What went wrong, in words for the person, and the way out where there is one. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | undefined

  constructor(status: number, { Message, error }: ErrorBody) {
    super(error?.detail ?? Message ?? `The service answered with status ${status}`)
    this.status = status
    this.code = error?.code ?? 'UNKNOWN'
    this.hint = error?.hint
  }
}

interface ErrorBody {
  readonly Message?: string
  readonly error?: {
    readonly code?: string
    readonly detail?: string
    readonly hint?: string
  }
}

/** Proves that a change comes from this page: given with the session, sent with every change. */
let changeToken: string | undefined

export function setChangeToken(token: string | undefined): void {
  changeToken = token
}

let unauthenticated: () => void = () => undefined

/** Called when something cannot be loaded because nobody is signed in any more. */
export function onUnauthenticated(listener: () => void): void {
  unauthenticated = listener
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly body?: unknown
  /** A body that is JSON already, in place of `body`. */
  readonly text?: string
  readonly signal?: AbortSignal
  /** Of a change that is the same when it is done twice: it waits as reads do, until this is aborted. */
  readonly repeatedUntil?: AbortSignal
  /** Id of the member in whose name it is done, which only owners may. */
  readonly actFor?: string
}

/** What is asked by POST and changes nothing. */
const readingPaths = new Set(['/btql', '/search', '/api/dataset_snapshot/get'])

/**
 * Throws a `ServiceError` for any status that is no success. What only reads waits while the service does not
 * answer (`connection.ts`); a change is sent once, unless it may be repeated.
 */
export async function request(target: string, options: RequestOptions = {}): Promise<Response> {
  const { body, signal, repeatedUntil, actFor } = options
  const text = options.text ?? (body === undefined ? undefined : writeExactJson(body))
  const method = options.method ?? (text === undefined ? 'GET' : 'POST')
  const send = () =>
    fetch(`${base}${target}`, {
      method,
      credentials: 'same-origin',
      headers: {
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(changeToken !== undefined && { 'x-assay-change-token': changeToken }),
        ...(actFor !== undefined && { 'x-bt-impersonate-user': actFor }),
      },
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    })
  const isRead = method === 'GET' || (method === 'POST' && readingPaths.has(target))
  const response =
    isRead || repeatedUntil
      ? await persist(send, isRead ? signal : repeatedUntil).catch(failGivenUp)
      : await sendOnce(send)
  if (response.status === 401 && method === 'GET' && target !== '/session') unauthenticated()
  if (!response.ok) throw new ServiceError(response.status, await errorBody(response))
  return response
}

/** What was given up tells why, as the service did. */
function failGivenUp(thrown: unknown): Response {
  if (!(thrown instanceof GivenUp)) throw thrown
  if (thrown.answer) return thrown.answer
  throw new ServiceError(0, { Message: 'The service does not answer' })
}

async function sendOnce(send: () => Promise<Response>): Promise<Response> {
  try {
    return await send()
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === 'AbortError') throw thrown
    throw new ServiceError(0, {
      error: {
        detail: 'The service did not answer.',
        hint: 'Look whether it was done before you do it again.',
      },
    })
  }
}

export async function requestJson<Answer>(
  target: string,
  options?: RequestOptions,
): Promise<Answer> {
  const response = await request(target, options)
  return parseExactly(await response.text()) as Answer
}

async function errorBody(response: Response): Promise<ErrorBody> {
  const text = await response.text()
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : { Message: text }
  } catch {
    // Pages of a proxy tell people nothing.
    return text === '' || text.trimStart().startsWith('<') ? {} : { Message: text.slice(0, 1000) }
  }
}
