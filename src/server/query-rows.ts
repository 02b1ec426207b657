import type { Fields } from '../catalog/schema/field.ts'
import type { Engine, QueryRequest } from '../engine.ts'
import { parseExactJson } from '../type/exact-json.ts'

/** The rows of a query whose answer is small: groups, or a page. Numbers are as `type/exact-json.ts` has them. */
export async function queryRows(engine: Engine, request: QueryRequest): Promise<Fields[]> {
  const result = await engine.query({ ...request, separator: ',\n' })
  const rows: Fields[] = []
  for await (const { rowCount, bytes } of result.rows) {
    if (rowCount > 0) rows.push(...(parseExactJson(`[${Buffer.from(bytes)}]`) as Fields[]))
  }
  return rows
}
