/** What is measured: one engine with the data in one layout. */

export type Layout = 'assay' | 'duckdb' | 'duckdb-json' | 'clickhouse' | 'clickhouse-json'

export type Row = Readonly<Record<string, unknown>>

export interface Run {
  /** Milliseconds until the answer was in memory, in whatever form. */
  readonly ms: number
  /** The answer as JSON values: integers of any width as numbers. */
  readonly rows: () => Row[]
}

export interface System {
  readonly layout: Layout
  /** Runs a query until its answer is in memory. */
  run(query: string): Promise<Run>
  /** Bytes on disk, by part. */
  size(): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}
