/** DuckDB in this process. Both layouts share one instance, and so its threads and its memory. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Row, System } from './system.ts'

export interface EngineOptions {
  readonly directory: string
  readonly threads: number
}

export class DuckDB {
  readonly #directory: string
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection

  private constructor(directory: string, instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#directory = directory
    this.#instance = instance
    this.#connection = connection
  }

  static async open({ directory, threads }: EngineOptions): Promise<DuckDB> {
    const { DuckDBInstance } = await import('@duckdb/node-api')
    const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) })
    const connection = await instance.connect()
    for (const name of ['typed', 'json']) {
      await connection.run(`attach '${join(directory, `${name}.duckdb`)}' as ${name}`)
    }
    return new DuckDB(directory, instance, connection)
  }

  async execute(statement: string): Promise<void> {
    await this.#connection.run(statement)
  }

  system(layout: DuckDBLayout): System {
    const file = join(this.#directory, layout === 'duckdb' ? 'typed.duckdb' : 'json.duckdb')
    return {
      layout,
      run: async (query) => {
        const begin = performance.now()
        const reader = await this.#connection.runAndReadAll(query)
        const ms = performance.now() - begin
        return { ms, rows: () => reader.getRowObjectsJS().map((row) => toJson(row) as Row) }
      },
      size: async () => ({ [`${layout}: database file`]: statSync(file).size }),
      close: async () => undefined,
    }
  }

  close(): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

export type DuckDBLayout = 'duckdb' | 'duckdb-json'

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, toJson(held)]))
}
