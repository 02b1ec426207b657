/** Requests of a query node to its home node. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { AssayError, type ErrorCode, errorCodes } from '../../error.ts'

export interface HomeRequest {
  readonly method: string
  /** With what is behind its question mark. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | undefined
  readonly signal: AbortSignal
  /** Whether it may arrive twice, as it only reads. */
  readonly isRepeatable?: boolean
}

/** For the head of an answer to one of our own questions. */
const longestAnswerMs = 60_000

const longestConnectMs = 3000
/** For what is told without it where it does not come. */
const longestStatusMs = 2000

export class HomeConnection {
  readonly url: string
  readonly #key: string
  readonly #base: URL
  readonly #agent: HttpAgent

  /** @param url as it was checked when the configuration was read */
  constructor(url: string, key: string) {
    this.url = url
    this.#key = key
    this.#base = new URL(url)
    const Agent = this.#base.protocol === 'https:' ? HttpsAgent : HttpAgent
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: 32 })
  }

  /**
   * Resolves to the head of the answer, whose body is still to be read. Throws HOME_UNAVAILABLE when there is none, and the
   * reason of the signal once that is aborted, which ends the request at the home, too.
   */
  send(request: HomeRequest): Promise<IncomingMessage> {
    const { method, path, headers, body, signal, isRepeatable = method === 'GET' } = request
    return new Promise((resolve, reject) => {
      const send = this.#base.protocol === 'https:' ? httpsRequest : httpRequest
      const sent = send({
        protocol: this.#base.protocol,
        hostname: this.#base.hostname.replace(/^\[|\]$/g, ''),
        port: this.#base.port,
        path: this.#base.pathname.replace(/\/$/, '') + path,
        method,
        agent: this.#agent,
        headers: {
          ...(headers as Record<string, string | string[]>),
          ...(body && { 'content-length': String(body.length) }),
        },
        signal,
      })
      sent.on('socket', (socket) => {
        if (!socket.connecting) return
        socket.setTimeout(longestConnectMs, () => {
          if (socket.connecting) sent.destroy(new Error('it does not answer'))
        })
        socket.once('connect', () => socket.setTimeout(0))
      })
      sent.on('response', resolve)
      sent.on('error', (cause) => {
        // The home had closed the connection, which was free, and that was not known here yet.
        const isLate = sent.reusedSocket && 'code' in cause && cause.code === 'ECONNRESET'
        if (isLate && isRepeatable && !signal.aborted) resolve(this.send(request))
        else reject(signal.aborted ? asError(signal.reason) : this.unavailable(cause))
      })
      sent.end(body)
    })
  }

  /** Asks for what only reads, with the node's own key. Throws what the home answers where it refuses. */
  async ask(
    path: string,
    options: { readonly method?: string; readonly body?: string; readonly signal: AbortSignal },
  ): Promise<IncomingMessage> {
    const { method = 'GET', body, signal } = options
    const answer = await this.send({
      method,
      path,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : Buffer.from(body),
      signal,
      isRepeatable: true,
    })
    if (answer.statusCode === 200) return answer
    throw refusalOf(answer.statusCode ?? 0, await bytesOf(answer), this.url)
  }

  /** A short answer to one of the node's own questions. */
  async askForJson(path: string): Promise<unknown> {
    const signal = AbortSignal.timeout(longestStatusMs)
    return JSON.parse((await bytesOf(await this.ask(path, { signal }))).toString())
  }

  /** See `ServiceClient`. */
  async postForBytes(path: string, body: string): Promise<Buffer> {
    const signal = AbortSignal.timeout(longestAnswerMs)
    try {
      return await bytesOf(await this.ask(path, { method: 'POST', body, signal }))
    } catch (thrown) {
      throw thrown instanceof AssayError ? thrown : this.unavailable(thrown)
    }
  }

  unavailable(cause: unknown): AssayError {
    const reason =
      cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : cause
    return new AssayError(
      'HOME_UNAVAILABLE',
      `the home node ${this.url} cannot be reached: ${reason}`,
      {
        hint: 'what is written, and what only the home node has, has to wait for it; queries are answered meanwhile',
        retryAfterSeconds: 2,
        cause,
      },
    )
  }

  close(): void {
    this.#agent.destroy()
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new AssayError('QUERY_CANCELLED', 'it was given up')
}

async function bytesOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of answer) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

function refusalOf(status: number, bytes: Buffer, url: string): AssayError {
  let told: { readonly Message?: unknown; readonly error?: { readonly code?: unknown } } = {}
  try {
    told = JSON.parse(bytes.toString()) as typeof told
  } catch {
    // Something else than the home has answered.
  }
  const code = String(told.error?.code)
  const known = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'HOME_UNAVAILABLE'
  const message = typeof told.Message === 'string' ? told.Message : `status ${status}`
  return new AssayError(known, `the home node ${url} answers: ${message}`)
}
