/**
 * The obvious alternative, in a process of its own: Fastify in front of DuckDB in the same process,
 * with a pool of connections and prepared statements. `POST /sql` takes `{"sql", "values"}`.
 *
 *     node duckdb-server.ts DATABASE THREADS
 */
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
} from '@duckdb/node-api'
import Fastify from 'fastify'

/** More do not help: DuckDB runs as many threads as it was told. */
const connections = 16

interface Connection {
  readonly connection: DuckDBConnection
  readonly statements: Map<string, Promise<DuckDBPreparedStatement>>
}

class ConnectionPool {
  readonly #free: Connection[] = []
  readonly #waiting: ((connection: Connection) => void)[] = []

  static async open(path: string, threads: string): Promise<ConnectionPool> {
    const instance = await DuckDBInstance.create(path, { threads, access_mode: 'READ_ONLY' })
    const pool = new ConnectionPool()
    for (let i = 0; i < connections; i++) {
      pool.#free.push({ connection: await instance.connect(), statements: new Map() })
    }
    return pool
  }

  async rows(sql: string, values: readonly string[]): Promise<unknown[]> {
    const taken =
      this.#free.pop() ?? (await new Promise<Connection>((resolve) => this.#waiting.push(resolve)))
    try {
      let prepared = taken.statements.get(sql)
      if (!prepared) {
        prepared = taken.connection.prepare(sql)
        taken.statements.set(sql, prepared)
      }
      const statement = await prepared
      for (const [i, value] of values.entries()) statement.bindVarchar(i + 1, value)
      const reader = await statement.runAndReadAll()
      return reader.getRowObjectsJson()
    } finally {
      const next = this.#waiting.shift()
      if (next) next(taken)
      else this.#free.push(taken)
    }
  }
}

const [path = '', threads = '2'] = process.argv.slice(2)
const pool = await ConnectionPool.open(path, threads)
const server = Fastify({ logger: { level: 'info' } })
server.post('/sql', async (request) => {
  const { sql, values } = request.body as { sql: string; values: string[] }
  return { data: await pool.rows(sql, values) }
})
const url = await server.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${JSON.stringify({ msg: 'listening', url })}\n`)
