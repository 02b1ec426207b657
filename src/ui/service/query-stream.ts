/**
 * One query over a WebSocket, which tells how far it is while it runs; leaving it cancels the query.
 * Where no WebSocket gets through, the same query goes by POST and tells nothing until it ends.
 */
import type { Answer, Progress, Row } from './answer.ts'
import { request, ServiceError } from './client.ts'
import { awaitService } from './connection.ts'
import { parseRows } from './exact-json.ts'
import { ownProject } from './own-project.ts'
import { tzOffset } from './query.ts'
import { leaveStream, openStream } from './stream-socket.ts'

export interface AskOptions {
  readonly query: string
  readonly hasAuditLog: boolean
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

/** Rejects with a `ServiceError` for what the service refuses. */
export async function ask(options: AskOptions): Promise<Answer> {
  for (;;) {
    const socket = await connect(options.signal)
    if (socket) return askSocket(socket, options)
    isBlocked ||= await awaitService(options.signal)
    if (isBlocked) return askByPost(options)
  }
}

function bodyOf({ query, hasAuditLog }: AskOptions) {
  const place = ownProject(query)
  return { query, tz_offset: tzOffset, ...place, ...(hasAuditLog && { audit_log: true }) }
}

async function askByPost(options: AskOptions): Promise<Answer> {
  const response = await request('/btql', { body: bodyOf(options), signal: options.signal })
  return parseRows(await response.text()) as Answer
}

/** Longer than a handshake takes where sockets get through at all. */
const connectMs = 4000

/** Proxies that let no socket through do not learn it while the page is open. */
let isBlocked = false

/** Resolves once the service is ready for a query; undefined where no socket gets through. */
function connect(signal: AbortSignal): Promise<WebSocket | undefined> {
  if (isBlocked || signal.aborted) return Promise.resolve(undefined)
  const socket = openStream()
  return new Promise((resolve) => {
    const settle = (ready: boolean) => {
      window.clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      socket.onopen = null
      socket.onclose = null
      if (!ready) leaveStream(socket)
      resolve(ready ? socket : undefined)
    }
    const leave = () => settle(false)
    const timer = window.setTimeout(leave, connectMs)
    signal.addEventListener('abort', leave)
    socket.onopen = () => settle(true)
    socket.onclose = leave
  })
}

type Message =
  | { readonly type: 'batch'; readonly rows: readonly Row[] }
  | ({ readonly type: 'progress' } & Progress)
  | ({ readonly type: 'end' } & Omit<Answer, 'data'>)
  | ({ readonly type: 'error' } & ErrorMessage)
  | { readonly type: 'ready' | 'schema' | 'audit' }

interface ErrorMessage {
  readonly status: number
  readonly message: string
  readonly error?: {
    readonly code?: string
    readonly detail?: string
    readonly hint?: string
  }
}

function askSocket(socket: WebSocket, options: AskOptions): Promise<Answer> {
  const { signal, onProgress } = options
  const data: Row[] = []
  return new Promise((resolve, reject) => {
    const leave = () => {
      socket.close()
      reject(new DOMException('The query was left', 'AbortError'))
    }
    const finish = (settle: () => void) => {
      signal.removeEventListener('abort', leave)
      socket.onclose = null
      socket.close()
      settle()
    }
    signal.addEventListener('abort', leave)
    socket.onclose = () => {
      finish(() =>
        reject(new Error('The connection to the service was lost. Run the query again.')),
      )
    }
    socket.onmessage = ({ data: text }: MessageEvent<string>) => {
      const message = parseRows(text) as Message
      if (message.type === 'batch') data.push(...message.rows)
      else if (message.type === 'progress') onProgress(message)
      else if (message.type === 'end') finish(() => resolve({ ...message, data }))
      else if (message.type === 'error') finish(() => reject(failureOf(message)))
    }
    socket.send(JSON.stringify({ type: 'query', ...bodyOf(options) }))
  })
}

function failureOf({ status, message, error }: ErrorMessage): ServiceError {
  return new ServiceError(status, { Message: message, ...(error && { error }) })
}
