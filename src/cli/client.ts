/** The service as the commands see it: an HTTP client with retries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { AssayError, type ErrorCode, errorCodes } from '../error.ts'
import { parseExactJson } from '../type/exact-json.ts'

export interface ConnectionOptions {
  readonly url: string
  readonly key?: string
}

export interface CatalogEntry {
  readonly id: string
  readonly name: string
}

type Body = string | Uint8Array

/** Tries of one request; the pauses between them double from a quarter of a second up. */
const attempts = 8
const firstPauseMs = 250
const longestPauseMs = 10_000

export class Client {
  readonly url: string
  readonly #key: string

  constructor({ url, key }: ConnectionOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new AssayError(
        'COMMAND_INVALID',
        `"${url}" is not an HTTP address; give one with --url or ASSAY_URL`,
      )
    }
    if (key === undefined || key === '') {
      throw new AssayError('COMMAND_INVALID', 'no API key; give one with --key or ASSAY_API_KEY')
    }
    this.url = url.replace(/\/+$/, '')
    this.#key = key
  }

  /** Posts once. When the service refuses, throws the error that it answered. */
  async post(path: string, body: Body): Promise<Response> {
    const response = await this.#fetch(path, body)
    if (!response.ok) throw await readError(response)
    return response
  }

  /** Sends any request once and reads the JSON that it answers; numbers are as `type/exact-json.ts` has them. */
  async request(
    method: string,
    path: string,
    options: { readonly body?: Body; readonly headers?: Record<string, string> } = {},
  ): Promise<{ readonly [field: string]: unknown }> {
    const response = await this.#fetch(path, options.body, { method, ...options })
    if (!response.ok) throw await readError(response)
    return parseExactJson(await response.text()) as { readonly [field: string]: unknown }
  }

  /** Posts until it works: overload, server errors and lost connections are tried again. */
  async postWithRetries(path: string, body: Body): Promise<unknown> {
    return JSON.parse(await this.postForText(path, body)) as unknown
  }

  /** The same; gives the text of the answer. */
  postForText(path: string, body: Body): Promise<string> {
    return this.#postUntil(path, body, (response) => response.text())
  }

  /** The same; gives its bytes. */
  postForBytes(path: string, body: Body): Promise<Buffer> {
    return this.#postUntil(path, body, async (response) =>
      Buffer.from(await response.arrayBuffer()),
    )
  }

  async #postUntil<Read>(
    path: string,
    body: Body,
    read: (response: Response) => Promise<Read>,
  ): Promise<Read> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read(await this.post(path, body))
      } catch (error) {
        const isTransient = error instanceof AssayError && isTransientStatus(error.status)
        if (!isTransient || attempt === attempts) throw error
        await sleep(pauseMs(attempt))
      }
    }
  }

  /** Finds or creates a project, experiment or dataset by name. */
  async findOrCreate(type: string, fields: Record<string, unknown>): Promise<CatalogEntry> {
    const response = await this.post(`/v1/${type}`, JSON.stringify(fields))
    return (await response.json()) as CatalogEntry
  }

  async #fetch(
    path: string,
    body: Body | undefined,
    { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    try {
      return await fetch(this.url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(body !== undefined && { body }),
      })
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
      const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
      throw new AssayError('COMMAND_CANNOT_CONNECT', `cannot reach ${this.url}: ${reason}`)
    }
  }
}

function isTransientStatus(status: number): boolean {
  return status === 429 || status >= 500
}

/** With a random part, so that clients that were refused together do not return together. */
function pauseMs(attempt: number): number {
  const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
  return pause * (0.5 + Math.random() / 2)
}

async function readError(response: Response): Promise<AssayError> {
  const body = parseErrorBody(await response.text().catch(() => ''))
  const message = body?.Message ?? `the service answered ${response.status} ${response.statusText}`
  const { code, path } = body?.error ?? {}
  const known = code !== undefined && Object.hasOwn(errorCodes, code)
  return new AssayError(
    known ? (code as ErrorCode) : codeOf(response.status),
    message,
    path === undefined ? {} : { path },
  )
}

/** For an answer that is not the service's own, but of something between it and us. */
function codeOf(status: number): ErrorCode {
  if (status === 429) return 'LIMIT_OVERLOADED'
  if (status === 413) return 'REQUEST_TOO_LARGE'
  return status >= 500 ? 'STORAGE_UNAVAILABLE' : 'COMMAND_FAILED'
}

interface ErrorBody {
  readonly Message?: string
  readonly error?: { readonly code?: string; readonly path?: string }
}

/** Undefined when the text is not the service's: whatever stands in between may have answered. */
function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
