/** Running a query: its pages, how far it is, and what it came to. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../component/format.ts'
import { type Checked, check } from '../editor/service.ts'
import type { Answer, AuditEvent, Progress, QueryWarning, Row } from '../service/answer.ts'
import { ask } from '../service/query-stream.ts'
import { nextPage, type PagePlan, type Paging, pagingOf, type Reached } from './query-page.ts'
import { type Columns, columnsOf } from './result-columns.ts'

/** So many rows are loaded as one scrolls; whoever wants more asks for as many again. */
export const mostRows = 20_000

export interface Run {
  /** As it was written. */
  readonly text: string
  readonly isRunning: boolean
  readonly startedAt: number
  /** Milliseconds from the question to the last row that came; undefined before. */
  readonly elapsed: number | undefined
  readonly rows: readonly Row[]
  readonly columns: Columns
  readonly warnings: readonly QueryWarning[]
  readonly auditLog: readonly AuditEvent[] | undefined
  readonly readBytes: number | undefined
  /** Of the page that is loading. */
  readonly progress: Progress | undefined
  readonly error: Error | undefined
  readonly isCancelled: boolean
  /** Whether there are, or may be, rows after these that are loaded as one scrolls. */
  readonly hasMore: boolean
  /** There are, or may be, others, which are loaded only when they are asked for. */
  readonly isFull: boolean
}

/** A query was not run. What is wrong with it is told beside the text, and not again by the message. */
export class QueryRefused extends Error {
  readonly checked: Checked

  constructor(checked: Checked, errors: number) {
    super(`Not run: the query has ${counted(errors, 'error')}`)
    this.checked = checked
  }
}

export interface Runner {
  readonly run: Run | undefined
  start(text: string, hasAuditLog: boolean): void
  /** Loads the next page; nothing while one is loading, or when there is none. */
  more(): void
  /** Goes on where the page is full. */
  extend(): void
  cancel(): void
}

export function useRunner(onEnd: (run: Run) => void): Runner {
  const [run, setRun] = useState<Run>()
  const current = useRef<QueryRun>(undefined)
  const ended = useRef(onEnd)
  ended.current = onEnd
  useEffect(() => () => current.current?.cancel(), [])
  return {
    run,
    start: (text, hasAuditLog) => {
      current.current?.cancel()
      const next = new QueryRun(text, hasAuditLog, (state) => {
        if (current.current === next) setRun(state)
      })
      current.current = next
      void next.load().then(() => {
        if (current.current === next) ended.current(next.state)
      })
    },
    more: () => void current.current?.load(),
    extend: () => current.current?.extend(),
    cancel: () => current.current?.cancel(),
  }
}

/** One query from its first page on; each change of its state is told. */
class QueryRun {
  state: Run
  readonly #hasAuditLog: boolean
  readonly #show: (state: Run) => void
  #abandon = new AbortController()
  #paging: Paging | undefined
  #reached: Reached | undefined
  #schema: Answer['schema'] | undefined
  #most = mostRows

  constructor(text: string, hasAuditLog: boolean, show: (state: Run) => void) {
    this.#hasAuditLog = hasAuditLog
    this.#show = show
    this.state = {
      text,
      isRunning: false,
      startedAt: performance.now(),
      elapsed: undefined,
      rows: [],
      columns: new Map(),
      warnings: [],
      auditLog: undefined,
      readBytes: undefined,
      progress: undefined,
      error: undefined,
      isCancelled: false,
      hasMore: true,
      isFull: false,
    }
  }

  extend(): void {
    if (!this.state.isFull) return
    this.#most += mostRows
    this.#change({ isFull: false, hasMore: true })
    void this.load()
  }

  cancel(): void {
    if (!this.state.isRunning) return
    this.#abandon.abort()
    this.#change({ isRunning: false, isCancelled: true })
  }

  async load(): Promise<void> {
    const { isRunning, hasMore, error } = this.state
    if (isRunning || !hasMore || error) return
    const abandon = new AbortController()
    this.#abandon = abandon
    const startedAt = performance.now()
    this.#change({ isRunning: true, isCancelled: false, startedAt, progress: undefined })
    try {
      this.#paging ??= await readPaging(this.state.text, abandon.signal)
      const plan = nextPage(this.#paging, this.#reached)
      if (!plan) {
        this.#change({ isRunning: false, hasMore: false })
        return
      }
      const hasAuditLog = this.#hasAuditLog && this.#reached === undefined
      const answer = await ask({
        query: plan.query,
        hasAuditLog,
        signal: abandon.signal,
        onProgress: (progress) => {
          if (!abandon.signal.aborted) this.#change({ progress })
        },
      })
      if (abandon.signal.aborted) return
      this.#take(plan, answer, startedAt)
    } catch (thrown) {
      if (abandon.signal.aborted) return
      const shown = thrown instanceof Error ? thrown : new Error(String(thrown))
      this.#change({
        isRunning: false,
        error: shown,
        elapsed: performance.now() - startedAt,
      })
    }
  }

  #take({ limit }: PagePlan, answer: Answer, startedAt: number): void {
    const isFirst = this.#reached === undefined
    const { state } = this
    this.#schema ??= answer.schema
    this.#reached = { count: (this.#reached?.count ?? 0) + limit, cursor: answer.cursor }
    const rows = isFirst ? answer.data : [...state.rows, ...answer.data]
    const isWhole = answer.data.length < limit || !nextPage(this.#paging!, this.#reached)
    this.#change({
      isRunning: false,
      rows,
      columns: columnsOf(this.#schema, rows),
      hasMore: !isWhole && rows.length < this.#most,
      isFull: !isWhole && rows.length >= this.#most,
      ...(isFirst && {
        elapsed: performance.now() - startedAt,
        warnings: answer.warnings ?? [],
        auditLog: answer.audit_log,
        readBytes: answer.realtime_state?.read_bytes,
      }),
    })
  }

  #change(changes: Partial<Run>): void {
    this.state = { ...this.state, ...changes }
    this.#show(this.state)
  }
}

async function readPaging(text: string, signal: AbortSignal): Promise<Paging> {
  const checked = await check(text, signal)
  const { canonical, diagnostics } = checked
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) throw new QueryRefused(checked, errors.length)
  if (!canonical) throw new Error('The query cannot be read')
  return pagingOf(canonical.btql)
}
