import { setImmediate } from 'node:timers/promises'
import type { Fields } from '../catalog/schema/field.ts'
import type { Engine, QueryRequest, QueryResult } from '../engine.ts'
import { AssayError } from '../error.ts'
import { parseExactJson } from '../type/exact-json.ts'

/** Parsed before others have their turn. */
const turnBytes = 2 ** 20

/** Chunks are longer only for a row that is: to parse it would hold up all others. */
const mostRowBytes = 16 * 2 ** 20

/** Of an answer that is held whole. */
const mostBytes = 128 * 2 ** 20

/**
 * The rows of a query whose answer is small: groups, or a page. Numbers are as `type/exact-json.ts` has them. Throws
 * LIMIT_MEMORY where they are too long for that.
 */
export async function queryRows(engine: Engine, request: QueryRequest): Promise<Fields[]> {
  const result = await engine.query({ ...request, separator: ',\n' })
  const rows: Fields[] = []
  for await (const part of parsedRows(result.rows, mostBytes)) rows.push(...part)
  return rows
}

/** The rows of a query, however many, one after the other, with pauses for others. */
export async function* eachRow(
  engine: Engine,
  request: Omit<QueryRequest, 'separator'>,
): AsyncGenerator<Fields> {
  const { rows } = await engine.query({ ...request, separator: ',\n' })
  for await (const some of parsedRows(rows)) yield* some
}

/**
 * The rows of an answer that has commas between them, some at a time, with pauses for others. Throws LIMIT_MEMORY for
 * a row that is too long.
 *
 * @param most bytes of all of them
 */
export async function* parsedRows(
  rows: QueryResult['rows'],
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Fields[]> {
  let total = 0
  let inTurn = 0
  for await (const { rowCount, bytes } of rows) {
    if (rowCount === 0) continue
    total += bytes.length
    if (bytes.length > mostRowBytes) throw tooLong('a row is', mostRowBytes)
    if (total > most) throw tooLong('the rows are', most)
    inTurn += bytes.length
    yield parseExactJson(
      `[${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)}]`,
    ) as Fields[]
    if (inTurn < turnBytes) continue
    inTurn = 0
    await setImmediate()
  }
}

function tooLong(what: string, most: number): AssayError {
  const megabytes = most / 2 ** 20
  return new AssayError('LIMIT_MEMORY', `${what} longer than ${megabytes} MiB`, {
    hint: 'read the long values with a query of /btql, which streams them',
  })
}
