import type { Engine, QueryRequest } from '../../engine.ts'
import { decodeUtf8 } from '../../json/utf8.ts'

export interface Caps {
  readonly rows: number
  readonly bytes: number
}

export interface CappedRows {
  /** JSON texts. */
  readonly rows: readonly string[]
  /** What kept further rows out. */
  readonly cappedBy: 'rows' | 'bytes' | undefined
  readonly cursor: string | undefined
}

/** Runs a query until it ends or a cap is reached, which cancels it. */
export async function readCapped(
  engine: Engine,
  request: QueryRequest,
  caps: Caps,
): Promise<CappedRows> {
  const result = await engine.query({ ...request, separator: '\n' })
  const rows: string[] = []
  let bytes = 0
  for await (const chunk of result.rows) {
    if (chunk.rowCount === 0) continue
    for (const row of linesOf(chunk.bytes)) {
      if (rows.length === caps.rows) return { rows, cappedBy: 'rows', cursor: undefined }
      bytes += row.length
      if (bytes > caps.bytes) return { rows, cappedBy: 'bytes', cursor: undefined }
      rows.push(decodeUtf8(row))
    }
  }
  return { rows, cappedBy: undefined, cursor: result.finish().cursor }
}

/** In place: what is too long is not decoded to find that out. */
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const newline = 0x0a
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(newline, from)
    const end = found < 0 ? bytes.length : found
    yield bytes.subarray(from, end)
    from = end + 1
  }
}
