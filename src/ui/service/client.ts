/** Requests to the service that serves this page. Rights are those of the session's cookie. */
import { writeExactJson } from '../../json/exact-number.ts'
import { base } from '../state/location.ts'
import { parseExactly } from './exact-json.ts'

/** What went wrong, in words for the person, and the way out where there is one. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | undefined
  /** Where in the query the fault is: a line and a column from 1, in UTF-16 units. */
  readonly place: { readonly line: number; readonly column: number } | undefined

  constructor(status: number, { Message, error }: ErrorBody) {
    super(error?.detail ?? Message ?? `The service answered with status ${status}`)
    this.status = status
    this.code = error?.code ?? 'UNKNOWN'
    this.hint = error?.hint
    const { line, column } = error ?? {}
    this.place = line === undefined || column === undefined ? undefined : { line, column }
  }
}

interface ErrorBody {
  readonly Message?: string
  readonly error?: {
    readonly code?: string
    readonly detail?: string
    readonly hint?: string
    readonly line?: number
    readonly column?: number
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
  /** Id of the member in whose name it is done, which only owners may. */
  readonly actFor?: string
}

/** Throws a `ServiceError` for any status that is no success. */
export async function request(target: string, options: RequestOptions = {}): Promise<Response> {
  const { body, signal, actFor } = options
  const text = options.text ?? (body === undefined ? undefined : writeExactJson(body))
  const method = options.method ?? (text === undefined ? 'GET' : 'POST')
  const response = await fetch(`${base}${target}`, {
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
  if (response.status === 401 && method === 'GET' && target !== '/session') unauthenticated()
  if (!response.ok) throw new ServiceError(response.status, await errorBody(response))
  return response
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
    return text === '' ? {} : { Message: text.slice(0, 1000) }
  }
}
