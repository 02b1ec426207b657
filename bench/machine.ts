import { cpus, totalmem } from 'node:os'
import duckdb from '@duckdb/node-api'

/** What measurements depend on, to stand beside them. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly node: string
  readonly duckdb: string
}

export function describeMachine(): Machine {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    duckdb: duckdb.version(),
  }
}
