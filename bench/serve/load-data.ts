/** Puts the same spans into the service, over HTTP, and into a table of DuckDB. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { generateSpans } from '../../src/demo/generate.ts'
import type { SpanRecord } from '../../src/demo/record.ts'
import { DuckDB } from '../../test/support/duckdb.ts'
import { AssayClient } from '../peers/systems/assay-client.ts'
import { appendSpans, createTable } from '../query/duckdb-table.ts'

export interface LoadedData {
  readonly rows: number
  /** Of all spans; its name in the table is `large`. */
  readonly largeExperiment: string
  /** Of the first spans again, under other ids; its name in the table is `small`. */
  readonly smallExperiment: string
  /** Of some spans of the large one, from all over it. */
  readonly ids: readonly string[]
}

export const smallRows = 10_000
const rowsPerRequest = 2000
const requestsInFlight = 4
/** Records that look-ups ask for: far more than any cache of either system holds decoded. */
const sampledIds = 100_000

export function databasePath(directory: string): string {
  return join(directory, 'spans.duckdb')
}

/** @param start starts the service over the directory `assay` */
export async function loadData(
  directory: string,
  rows: number,
  service: { readonly url: string; readonly key: string },
): Promise<LoadedData> {
  const marker = join(directory, `served-${rows}.json`)
  if (existsSync(marker)) return JSON.parse(readFileSync(marker, 'utf8')) as LoadedData
  mkdirSync(directory, { recursive: true })
  const client = new AssayClient({ ...service, connections: requestsInFlight })
  const duckdb = await DuckDB.open(databasePath(directory))
  await createTable(duckdb)
  const project = await client.postJson('/v1/project', { name: 'serve' })
  const create = async (name: string) => {
    return String((await client.postJson('/v1/experiment', { project_id: project.id, name })).id)
  }
  const [largeExperiment, smallExperiment] = [await create('large'), await create('small')]
  const ids: string[] = []
  const everyId = Math.max(1, Math.floor(rows / sampledIds))
  let done = 0
  for (const round of rounds(rows)) {
    const copies = done < smallRows ? round.slice(0, smallRows - done).map(renamed) : []
    await Promise.all([
      insert(client, largeExperiment, round),
      insert(client, smallExperiment, copies),
    ])
    await appendSpans(
      duckdb,
      round,
      round.map((span) => JSON.stringify(span)),
    )
    for (let i = done % everyId; i < round.length; i += everyId) ids.push(round[i]!.id)
    done += round.length
    if (process.stderr.isTTY) process.stderr.write(`\rloading: ${done} of ${rows} rows`)
  }
  process.stderr.write('\n')
  await duckdb.run("alter table spans add column experiment varchar default 'large'")
  await duckdb.run(`insert into spans select * replace ('small' as experiment, 'small-' || id as id)
    from spans order by created limit ${smallRows}`)
  await duckdb.run('create index spans_id on spans (id)')
  await duckdb.run('checkpoint')
  duckdb.close()
  await settled(service)
  client.close()
  const loaded = { rows, largeExperiment, smallExperiment, ids }
  writeFileSync(marker, JSON.stringify(loaded))
  return loaded
}

function renamed(span: SpanRecord): SpanRecord {
  return { ...span, id: `small-${span.id}` }
}

function* rounds(rows: number): Generator<SpanRecord[]> {
  const options = { seed: 20_260_101, start: Date.parse('2026-01-01T00:00:00Z'), pauseMs: 2000 }
  let round: SpanRecord[] = []
  for (const span of generateSpans({ ...options, count: rows, kind: 'logs', profile: 'compact' })) {
    round.push(span)
    if (round.length < rowsPerRequest * requestsInFlight) continue
    yield round
    round = []
  }
  if (round.length > 0) yield round
}

async function insert(client: AssayClient, experiment: string, spans: readonly SpanRecord[]) {
  const requests: Promise<unknown>[] = []
  for (let from = 0; from < spans.length; from += rowsPerRequest) {
    const events = spans.slice(from, from + rowsPerRequest)
    requests.push(client.postJson(`/v1/experiment/${experiment}/insert`, { events }))
  }
  await Promise.all(requests)
}

/** Waits until everything is in segments and nothing is merged any more. */
async function settled({
  url,
  key,
}: {
  readonly url: string
  readonly key: string
}): Promise<void> {
  let steps = ''
  for (let quiet = 0; quiet < 5; ) {
    await wait(1000)
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
    const text = await response.text()
    const now = text.match(/^assay_(maintenance_steps|delta_rows).*$/gm)?.join('\n') ?? ''
    const isFlushed = /^assay_delta_rows 0$/m.test(text)
    quiet = isFlushed && now === steps ? quiet + 1 : 0
    steps = now
  }
}
