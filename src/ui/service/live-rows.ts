/**
 * Rows that a query finds as they are written, for whoever looks at its newest ones. A live query over a
 * WebSocket tells; where no WebSocket gets through, it is asked every few seconds whether something was
 * written. While the page cannot be seen, nothing is listened to.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { ServiceError } from './client.ts'
import { awaitService, outage } from './connection.ts'
import { parseRows } from './exact-json.ts'
import { query, type Row, tzOffset } from './query.ts'
import { forTable, measured, withClauses } from './query-text.ts'
import { leaveStream, openStream } from './stream-socket.ts'

/** The newest rows, among which those are that came since. */
const newestRows = 100

const askEveryMs = 3000

/** Before a connection that broke off is made again, and the longest that grows to where it fails. */
const reconnectMs = 2000
const longestPauseMs = 60_000

export interface LiveOptions {
  /** A query without a sort or a limit of its own; undefined listens to nothing. */
  readonly query: string | undefined
  /** What is selected besides the rows, of which long values are cut. */
  readonly fields: readonly string[]
  /** The newest rows, newest first: those that came, those that changed, and some that were there. */
  readonly onRows: (rows: readonly Row[]) => void
}

export interface LiveState {
  /** Why nothing comes at the moment. */
  readonly error: Error | undefined
}

export function useLiveRows({ query: text, fields, onRows }: LiveOptions): LiveState {
  const [error, setError] = useState<Error>()
  const latest = useRef(onRows)
  latest.current = onRows
  useEffect(() => {
    setError(undefined)
    if (text === undefined) return
    let listening: AbortController | undefined
    const begin = () => {
      listening?.abort()
      listening = undefined
      if (document.hidden) return
      listening = new AbortController()
      void listen(text, fields, {
        signal: listening.signal,
        onRows: (rows) => latest.current(rows),
        onError: setError,
      })
    }
    begin()
    document.addEventListener('visibilitychange', begin)
    return () => {
      listening?.abort()
      document.removeEventListener('visibilitychange', begin)
    }
  }, [text, fields.join()])
  return { error }
}

interface Listener {
  readonly signal: AbortSignal
  onRows(rows: readonly Row[]): void
  onError(error: Error | undefined): void
}

/** Proxies that let no socket through do not learn it while the page is open. */
let isBlocked = false

async function listen(text: string, fields: readonly string[], listener: Listener): Promise<void> {
  const newest = withClauses(forTable(text, fields), { limit: String(newestRows) })
  let pauseMs = reconnectMs
  while (!listener.signal.aborted) {
    try {
      // While nothing gets through, or nobody is to try, it waits as reads do.
      if (outage.value) await awaitService(listener.signal)
      if (isBlocked) await askAgain(text, newest, listener)
      else if (await listenOnce(newest, listener)) pauseMs = reconnectMs
      // What the service answers while it lets no socket through is a matter of what lies between.
      else isBlocked = await awaitService(listener.signal)
    } catch (thrown) {
      if (listener.signal.aborted) return
      listener.onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
      if (isRefusal(thrown)) return
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
    await pause(pauseMs)
  }
}

type Message =
  | { readonly type: 'batch'; readonly rows: readonly Row[] }
  | { readonly type: 'schema' | 'current' | 'ready' | 'progress' | 'removed' }
  | { readonly type: 'error'; readonly message: string; readonly status: number }

/**
 * Resolves when the connection has ended, with whether there was one; rejects with what the service refuses.
 */
function listenOnce(newest: string, { signal, onRows, onError }: Listener): Promise<boolean> {
  const socket = openStream()
  let isOpen = false
  let rows: Row[] = []
  return new Promise((resolve, reject) => {
    const leave = () => leaveStream(socket)
    signal.addEventListener('abort', leave)
    socket.onopen = () => {
      isOpen = true
      socket.send(JSON.stringify({ type: 'query', query: newest, live: true, tz_offset: tzOffset }))
    }
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      const message = parseRows(data) as Message
      if (message.type === 'error') {
        reject(new ServiceError(message.status, { Message: message.message }))
        socket.close()
      }
      // The whole answer comes again when it is another.
      if (message.type === 'schema') rows = []
      if (message.type === 'batch') rows.push(...message.rows)
      if (message.type !== 'current' || signal.aborted) return
      onError(undefined)
      if (rows.length > 0) onRows(rows)
      rows = []
    }
    socket.onclose = () => {
      signal.removeEventListener('abort', leave)
      resolve(isOpen)
    }
  })
}

async function askAgain(
  text: string,
  newest: string,
  { signal, onRows, onError }: Listener,
): Promise<void> {
  let known: unknown
  while (!signal.aborted) {
    const { data } = await query(measured(text, 'max(_xact_id) as version'), signal)
    const version = data[0]?.version
    onError(undefined)
    if (known !== undefined && version !== known) {
      const { data: rows } = await query(newest, signal)
      if (!signal.aborted) onRows(rows)
    }
    known = version ?? null
    await pause(askEveryMs)
  }
}

/** What will be refused again, however often it is asked. */
function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof ServiceError)) return false
  return thrown.status >= 400 && thrown.status < 500 && thrown.status !== 429
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => window.setTimeout(resolve, ms))
}
