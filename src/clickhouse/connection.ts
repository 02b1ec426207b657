/** One node of ClickHouse, by its HTTP interface. What it says is told in words that name the node and the way out. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { ExportFault, type FaultKind, ReplicaBehind } from './fault.ts'
import type { ClickHouseSettings } from './settings.ts'

/** How long a question may take, and a statement that changes much. */
const questionMs = 10_000
const statementMs = 60_000
const pingMs = 4000
/** No deadline is later. */
const longestMs = 150_000

/** In bytes: versions are named one by one. */
const longestStatement = String(2 ** 26)

/** What ids of statements begin with that change something, so that `endStatements` finds them. */
const statementPrefix = 'assay-'

/** The same of those that only read. */
const readPrefix = 'assay-read-'

type ServerSettings = Readonly<Record<string, string | number>>

export interface StreamOptions {
  /** Values of `{name:Type}` in the statement. */
  readonly parameters: Readonly<Record<string, string | number | readonly (string | number)[]>>
  readonly settings: ServerSettings
  readonly signal: AbortSignal
  readonly deadlineMs: number
  /** All nodes that may be at work on it. */
  readonly nodes: readonly ClickHouseNode[]
}

/** By the codes of ClickHouse's ErrorCodes.cpp. */
const kindsByCode = new Map<string, FaultKind>([
  ['192', 'refused'],
  ['193', 'refused'],
  ['194', 'refused'],
  ['164', 'refused'],
  ['497', 'refused'],
  ['516', 'refused'],
  ['209', 'unreachable'],
  ['210', 'unreachable'],
  ['279', 'unreachable'],
  ['159', 'unreachable'],
  ['16', 'altered'],
  ['47', 'altered'],
  ['53', 'altered'],
  ['60', 'altered'],
  ['81', 'altered'],
  ['242', 'full'],
  ['243', 'full'],
  ['241', 'full'],
  ['252', 'full'],
])

/** Of `throwIf`, which only what is asked of `arrived` has. */
const behindCode = '395'

const hints: Partial<Record<FaultKind, string>> = {
  refused: 'check ASSAY_CLICKHOUSE_USER, ASSAY_CLICKHOUSE_PASSWORD and the grants of the user',
  full: 'make room on the disk or in the memory of the node',
}

/** Of what a query may read or hold. */
const limitCodes = new Set(['158', '307', '396'])
const limitHint = 'narrow the query, or raise this limit of the user'

export class ClickHouseNode {
  /** As messages name it. */
  readonly name: string
  readonly #client: ReturnType<typeof createClient>
  readonly #signal: AbortSignal

  /**
   * @param signal ends whatever is under way. Its reason may be an `ExportFault`, which is thrown then
   * @param connections how many at most
   */
  constructor(url: string, settings: ClickHouseSettings, signal: AbortSignal, connections = 4) {
    this.name = new URL(url).host
    this.#signal = signal
    const { user, password, authority } = settings
    this.#client = createClient({
      url,
      username: user,
      password,
      application: 'assay',
      request_timeout: longestMs,
      max_open_connections: connections,
      keep_alive: { enabled: true, idle_socket_ttl: 2000 },
      // What a server says is told once, by who asked.
      log: { level: ClickHouseLogLevel.OFF },
      ...(authority !== undefined && { tls: { ca_cert: Buffer.from(authority) } }),
    })
  }

  /** The rows of an answer that is short. 64-bit integers are texts. */
  rows<Row>(sql: string, settings: ServerSettings = {}): Promise<Row[]> {
    return this.#ask(sql, settings, questionMs)
  }

  /** The same of a question that all rows of a table are read for. */
  longRows<Row>(sql: string): Promise<Row[]> {
    return this.#ask(sql, {}, longestMs)
  }

  #ask<Row>(sql: string, settings: ServerSettings, deadlineMs: number): Promise<Row[]> {
    return this.#during(deadlineMs, async (options) => {
      const answer = await this.#client.query({
        ...options,
        query: sql,
        format: 'JSONEachRow',
        clickhouse_settings: { output_format_json_quote_64bit_integers: 1, ...settings },
      })
      return answer.json<Row>()
    })
  }

  run(sql: string, settings: ServerSettings = {}): Promise<void> {
    return this.#during(statementMs, async (options) => {
      // One in the statement itself is read too late.
      const wait = { wait_end_of_query: 1, max_query_size: longestStatement, ...settings } as const
      await this.#client.command({
        ...options,
        query: sql,
        query_id: statementId(),
        clickhouse_settings: wait,
      })
    })
  }

  /** Throws when it does not answer. */
  ping(withinMs = pingMs): Promise<void> {
    return this.#during(withinMs, async (options) => {
      await this.#client.command({ ...options, query: 'SELECT 1' })
    })
  }

  /**
   * An answer of any length as it comes, in the format RowBinary. Whoever leaves before its end, or whose signal is aborted,
   * has the statement ended on the nodes, too.
   */
  async *stream(
    sql: string,
    { parameters, settings, signal, deadlineMs, nodes }: StreamOptions,
  ): AsyncGenerator<Buffer> {
    const id = readPrefix + randomUUID()
    const deadline = AbortSignal.timeout(deadlineMs)
    let isDone = false
    try {
      const { stream, response_headers } = await this.#client.exec({
        query: `${sql} FORMAT RowBinary`,
        query_id: id,
        query_params: { ...parameters },
        clickhouse_settings: { max_query_size: longestStatement, ...settings },
        abort_signal: AbortSignal.any([this.#signal, deadline, signal]),
      })
      const tag = String(response_headers['x-clickhouse-exception-tag'] ?? '')
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        const fault = tag === '' ? undefined : faultWithin(chunk, tag)
        if (fault) throw fault
        yield chunk
      }
      isDone = true
    } catch (thrown) {
      isDone = thrown instanceof ClickHouseError
      if (signal.aborted) throw signal.reason
      throw this.#fault(thrown, deadline.aborted ? deadlineMs : undefined)
    } finally {
      if (!isDone) for (const node of nodes) node.#endStatement(id)
    }
  }

  /**
   * A request that nobody waits for any more is carried out all the same. What it has others do goes on until their next
   * block, and for long if the node itself is gone.
   */
  #endStatement(id: string): void {
    this.run(`KILL QUERY WHERE initial_query_id = '${id}' ASYNC FORMAT Null`).catch(() => undefined)
  }

  /**
   * Ends changes that services may have left under way on the node: a request that nobody waits for any more is carried out all
   * the same. Where the user may not do so, nothing is ended.
   *
   * @param database whose statements they are
   */
  async endStatements(database: string): Promise<void> {
    try {
      await this.run(
        `KILL QUERY WHERE startsWith(initial_query_id, '${statementPrefix}') AND query_id != queryID()
          AND NOT startsWith(initial_query_id, '${readPrefix}')
          AND position(query, '${database}.records') > 0 SYNC FORMAT Null`,
      )
    } catch (thrown) {
      if (!(thrown instanceof ExportFault && thrown.kind === 'refused')) throw thrown
    }
  }

  /** @param insert `INSERT INTO … FORMAT RowBinary` */
  insert(
    insert: string,
    rows: Uint8Array,
    settings: ServerSettings,
    deadlineMs: number,
  ): Promise<void> {
    return this.#during(deadlineMs, async (options) => {
      const { stream } = await this.#client.exec({
        ...options,
        query: insert,
        query_id: statementId(),
        values: Readable.from([rows]),
        clickhouse_settings: { wait_end_of_query: 1, ...settings },
      })
      for await (const _ of stream);
    })
  }

  /** Rows in a form of text. */
  insertText(insert: string, rows: string): Promise<void> {
    return this.insert(insert, Buffer.from(rows), { async_insert: 0 }, statementMs)
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async #during<Result>(
    deadlineMs: number,
    ask: (options: { readonly abort_signal: AbortSignal }) => Promise<Result>,
  ): Promise<Result> {
    const deadline = AbortSignal.timeout(deadlineMs)
    try {
      return await ask({ abort_signal: AbortSignal.any([this.#signal, deadline]) })
    } catch (thrown) {
      throw this.#fault(thrown, deadline.aborted ? deadlineMs : undefined)
    }
  }

  #fault(thrown: unknown, deadlineMs: number | undefined): ExportFault {
    if (thrown instanceof ExportFault) return thrown
    const { aborted, reason: ended } = this.#signal
    if (aborted && ended instanceof ExportFault) return ended
    if (thrown instanceof ClickHouseError && thrown.code === behindCode) {
      const node = /Received from ([\w.:[\]-]+?)\. /.exec(thrown.message)?.[1] ?? this.name
      const behind = `${node} is behind: it has not all rows that have arrived`
      return new ReplicaBehind('unreachable', behind, thrown)
    }
    if (thrown instanceof ClickHouseError) {
      const kind = kindsByCode.get(thrown.code) ?? 'failed'
      const hint = limitCodes.has(thrown.code) ? limitHint : hints[kind]
      // Which other node cannot be reached is told in further lines.
      const words = kind === 'unreachable' ? oneLine(thrown.message) : firstLine(thrown.message)
      const said = `${this.name} says: ${words} (code ${thrown.code})`
      return new ExportFault(kind, hint ? `${said}; ${hint}` : said, thrown)
    }
    const reason =
      deadlineMs === undefined ? reasonOf(thrown) : `it has not answered in ${deadlineMs / 1000} s`
    return new ExportFault('unreachable', `${this.name} cannot be reached: ${reason}`, thrown)
  }
}

/** What went wrong after rows had left is told behind them. */
function faultWithin(chunk: Buffer, tag: string): Error | undefined {
  const marker = `\r\n__exception__\r\n${tag}\r\n`
  const start = chunk.indexOf(marker)
  if (start < 0) return undefined
  const text = chunk.toString('utf8', start + marker.length)
  const code = /^Code: (\d+)/.exec(text)?.[1] ?? '0'
  return new ClickHouseError({ message: firstLine(text), code })
}

/** Whether a node that answers has told of the fault. */
export function isSaid({ cause }: ExportFault): boolean {
  return cause instanceof ClickHouseError
}

function statementId(): string {
  return statementPrefix + randomUUID()
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').trim().slice(0, 500)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 500)
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const code = 'code' in thrown ? String(thrown.code) : ''
  return firstLine(thrown.message) || code || thrown.name
}
