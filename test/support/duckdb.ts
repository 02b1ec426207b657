/** DuckDB, to compare answers with: the same question in SQL, its rows as our JSON has them. */
import { type DuckDBAppender, type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

export type Row = Readonly<Record<string, unknown>>

export class DuckDB {
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance
    this.#connection = connection
  }

  /** Opens a database file, or one in memory. */
  static async open(path: string, options: Record<string, string> = {}): Promise<DuckDB> {
    const instance = await DuckDBInstance.create(path, options)
    return new DuckDB(instance, await instance.connect())
  }

  async run(sql: string): Promise<void> {
    await this.#connection.run(sql)
  }

  /** All rows; integers of any width and decimals as numbers. Times: see `isoMacro`. */
  async rows(sql: string): Promise<Row[]> {
    const reader = await this.#connection.runAndReadAll(sql)
    return reader.getRowObjectsJS().map((row) => toJson(row) as Row)
  }

  /** Runs a query to its last row and leaves the rows as they are: for measuring. */
  async consume(sql: string): Promise<void> {
    await this.#connection.runAndReadAll(sql)
  }

  /** Appends rows to a table; to be closed by the caller. */
  appender(table: string): Promise<DuckDBAppender> {
    return this.#connection.createAppender(table)
  }

  close(): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

/** Defines `iso(timestamp)`: ISO 8601 in UTC with 0, 3 or 6 digits of a second's fraction. */
export const isoMacro = `create macro iso(t) as case
  when microsecond(t) % 1000000 = 0 then strftime(t, '%Y-%m-%dT%H:%M:%SZ')
  when microsecond(t) % 1000 = 0 then strftime(t, '%Y-%m-%dT%H:%M:%S.%gZ')
  else strftime(t, '%Y-%m-%dT%H:%M:%S.%fZ') end`

/** A file's path as a literal of SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, toJson(held)]))
}
