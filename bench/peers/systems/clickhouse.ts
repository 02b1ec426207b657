/** ClickHouse in this process. A process has one directory of it, which both layouts share. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { EngineOptions } from './duckdb.ts'
import type { Row, System } from './system.ts'

/** The part of the package that is used: it is no dependency of the project, nor are its types. */
interface Chdb {
  readonly Session: new (path: string, options: { connectionArgs: readonly string[] }) => Session
}

interface Session {
  queryAsync(sql: string, options: { format: string }): Promise<{ text(): string }>
  close(): void
}

export type ClickHouseLayout = 'clickhouse' | 'clickhouse-json'

export class ClickHouse {
  readonly #session: Session

  private constructor(session: Session) {
    this.#session = session
  }

  static async open({ directory, threads }: EngineOptions): Promise<ClickHouse> {
    const { Session } = createRequire(import.meta.url)('chdb') as Chdb
    // That cache remembers which granules a filter has found empty: no layer may know the answer.
    const connectionArgs = [`--max_threads=${threads}`, '--use_query_condition_cache=0']
    const engine = new ClickHouse(new Session(join(directory, 'clickhouse'), { connectionArgs }))
    await engine.execute('CREATE DATABASE IF NOT EXISTS peers ENGINE = Atomic')
    await engine.execute('USE peers')
    return engine
  }

  async version(): Promise<string> {
    const [row] = parseRows(await this.execute('SELECT version() AS version'))
    return String(row?.version)
  }

  system(layout: ClickHouseLayout): System {
    const table = layout === 'clickhouse' ? 'spans_typed' : 'spans_json'
    return {
      layout,
      run: async (query) => {
        const begin = performance.now()
        const lines = await this.execute(query)
        return { ms: performance.now() - begin, rows: () => parseRows(lines) }
      },
      size: async () => {
        const answer = await this.execute(
          `SELECT sum(bytes_on_disk) AS total, sum(secondary_indices_compressed_bytes) AS indexes
           FROM system.parts WHERE active AND table = '${table}'`,
        )
        const [row] = parseRows(answer)
        const [total, indexes] = [Number(row?.total), Number(row?.indexes)]
        return { [`${layout}: columns`]: total - indexes, [`${layout}: indexes`]: indexes }
      },
      close: async () => undefined,
    }
  }

  close(): void {
    this.#session.close()
  }

  async execute(sql: string): Promise<string> {
    return (await this.#session.queryAsync(sql, { format: 'JSONEachRow' })).text()
  }
}

function parseRows(lines: string): Row[] {
  const trimmed = lines.trim()
  return trimmed === '' ? [] : trimmed.split('\n').map((line) => JSON.parse(line) as Row)
}
