import type { Engine, QueryRequest } from '../../engine.ts'

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
    for (const row of Buffer.from(chunk.bytes).toString().split('\n')) {
      if (rows.length === caps.rows) return { rows, cappedBy: 'rows', cursor: undefined }
      bytes += Buffer.byteLength(row)
      if (bytes > caps.bytes) return { rows, cappedBy: 'bytes', cursor: undefined }
      rows.push(row)
    }
  }
  return { rows, cappedBy: undefined, cursor: result.finish().cursor }
}
