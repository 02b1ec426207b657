/** Loads the same generated spans into Assay, through its write path, and into DuckDB. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateSpans } from '../../src/demo/generate.ts'
import type { SpanRecord } from '../../src/demo/record.ts'
import { DuckDB, isoMacro } from '../../test/support/duckdb.ts'
import { RecordStore } from '../../test/support/record-store.ts'
import { appendSpans, createTable } from './duckdb-table.ts'

export interface LoadReport {
  readonly rows: number
  readonly bytes: number
  /** Of inserts alone, without generating or encoding the rows. */
  readonly insertMs: number
  /** From the last insert until all rows are in compacted segments. */
  readonly flushMs: number
  readonly compactMs: number
  readonly duckdbMs: number
  /** The id of a row in the middle. */
  readonly knownId: string
}

export interface Loaded {
  readonly store: RecordStore
  readonly duckdb: DuckDB
  readonly report: LoadReport
}

const seed = 20_260_101
const start = Date.parse('2026-01-01T00:00:00Z')
const rowsPerRequest = 5_000
/** Mean pause between traces, at which ten million rows cover about four months. */
const pauseMs = 2_000
/** Requests that are in flight at a time, as from several clients. */
const requestsInFlight = 4
const requestsPerRound = 16

/** Loads into a directory, or opens what an earlier run has loaded there. */
export async function load(directory: string, rows: number, workers: number): Promise<Loaded> {
  const marker = join(directory, `loaded-${rows}.json`)
  const report: LoadReport | undefined = existsSync(marker)
    ? JSON.parse(readFileSync(marker, 'utf8'))
    : undefined
  const store = await RecordStore.open({ directory: join(directory, `assay-${rows}`), workers })
  const duckdb = await DuckDB.open(join(directory, `spans-${rows}.duckdb`), {
    threads: String(workers),
  })
  if (report) return { store, duckdb, report }
  const fresh = await fill(store, duckdb, rows)
  writeFileSync(marker, JSON.stringify(fresh))
  return { store, duckdb, report: fresh }
}

async function fill(store: RecordStore, duckdb: DuckDB, rows: number): Promise<LoadReport> {
  await duckdb.run(isoMacro)
  await createTable(duckdb)
  let [bytes, insertMs, duckdbMs, done] = [0, 0, 0, 0]
  let knownId = ''
  for (const round of rounds(rows)) {
    if (done <= rows / 2) knownId = round[0]!.id
    const texts = round.map((span) => JSON.stringify(span))
    const bodies = bodiesOf(texts)
    for (const body of bodies) bytes += body.length
    insertMs += await elapsed(() => insertAll(store, bodies))
    duckdbMs += await elapsed(() => appendSpans(duckdb, round, texts))
    done += round.length
    process.stderr.write(`\rloading: ${done} of ${rows} rows`)
  }
  process.stderr.write('\n')
  const flushMs = await elapsed(() => store.engine.flush())
  const compactMs = await elapsed(() => store.engine.compact())
  duckdbMs += await elapsed(async () => {
    await duckdb.run('create index spans_id on spans (id)')
    await duckdb.run('checkpoint')
  })
  return { rows, bytes, insertMs, flushMs, compactMs, duckdbMs, knownId }
}

function* rounds(rows: number): Generator<SpanRecord[], void> {
  let round: SpanRecord[] = []
  const options = { seed, count: rows, start, pauseMs, kind: 'logs', profile: 'compact' } as const
  for (const span of generateSpans(options)) {
    round.push(span)
    if (round.length === rowsPerRequest * requestsPerRound) {
      yield round
      round = []
    }
  }
  if (round.length > 0) yield round
}

function bodiesOf(texts: readonly string[]): Buffer[] {
  const bodies: Buffer[] = []
  for (let from = 0; from < texts.length; from += rowsPerRequest) {
    const events = texts.slice(from, from + rowsPerRequest).join(',')
    bodies.push(Buffer.from(`{"events":[${events}]}`))
  }
  return bodies
}

async function insertAll(store: RecordStore, bodies: readonly Buffer[]): Promise<void> {
  const object = { type: 'project_logs', id: store.projectId } as const
  const waiting = bodies.values()
  const client = async () => {
    for (const body of waiting) await store.insert(object, body)
  }
  await Promise.all(Array.from({ length: requestsInFlight }, client))
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}
