import type { ColumnSchema, ResultSchema, Row } from '../service/answer.ts'

export type Columns = ReadonlyMap<string, ColumnSchema>

/** Names of the columns: those that the query has, in its order, then what else the rows have. */
export function columnsOf(schema: ResultSchema | undefined, rows: readonly Row[]): Columns {
  const columns = new Map(Object.entries(schema?.items?.properties ?? {}))
  for (const row of rows) {
    for (const name of Object.keys(row)) if (!columns.has(name)) columns.set(name, {})
  }
  return columns
}
