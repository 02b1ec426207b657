/** Parquet files as DuckDB writes them. */
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

let connection: Promise<DuckDBConnection> | undefined
let count = 0

/** @param options of `COPY`, besides the format */
export async function parquetOf(select: string, options = ''): Promise<Buffer> {
  connection ??= DuckDBInstance.create().then((instance) => instance.connect())
  const path = join(tmpdir(), `assay-duckdb-${process.pid}-${count++}.parquet`)
  await (await connection).run(`COPY (${select}) TO '${path}' (FORMAT parquet${options})`)
  try {
    return readFileSync(path)
  } finally {
    rmSync(path)
  }
}
