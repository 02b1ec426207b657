/** One service over an empty directory: large batches and small ones in turns, then it comes to rest. */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { BatchReader, type DataFile, rowsPerBatch } from '../peers/generator/data-file.ts'
import { directorySizes } from '../peers/measure/directory-size.ts'
import { percentile } from '../peers/measure/percentile.ts'
import { cpuMs } from '../peers/measure/process-status.ts'
import { AssayClient } from '../peers/systems/assay-client.ts'
import { AssayProcess } from '../peers/systems/assay-process.ts'
import { addMaskingRules, type Beside, backUpAgainAndAgain } from './beside.ts'
import { measureQueries, type QueryTimes } from './queries.ts'

export interface IngestOptions {
  /** The built `main.js`. */
  readonly server: string
  readonly directory: string
  /** Its first `rows` come in large batches, the others in small ones. */
  readonly data: DataFile
  readonly rows: number
  readonly beside: Beside
}

export interface LoadReport {
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Processor time of the service up to the last answer. */
  readonly cpuMsPerMegabyte: number
  /** Of the client, which shares the processors. */
  readonly clientMsPerMegabyte: number
  /** The longest time that the main thread of the service did not come to its next turn. */
  readonly longestTurnMs: number
}

export interface IngestResult {
  readonly large: LoadReport
  readonly small: LoadReport
  /** From the last answer until the service has nothing left to do. */
  readonly settleSeconds: number
  readonly settleMsPerMegabyte: number
  /** Bytes on disk by those of the JSON, for each part of the data directory. */
  readonly share: Readonly<Record<string, number>>
  /** Where backups are taken: how long queries take at rest, and beside them. */
  readonly queries:
    | { readonly atRest: readonly QueryTimes[]; readonly beside: readonly QueryTimes[] }
    | undefined
}

const largeClients = 4
const smallClients = 100
const rowsPerSmallBatch = 25
const workers = 2
const queriesMs = 8000
/** Of each kind of batches, the first of which is not counted: by then code is compiled. */
const turns = 5

export async function measureIngest(options: IngestOptions): Promise<IngestResult> {
  const { server, directory, data, rows, beside } = options
  const reader = new BatchReader(data)
  const largeCount = rows / rowsPerBatch
  const large = Array.from({ length: largeCount }, (_, batch) => reader.body(batch))
  const small = Array.from({ length: reader.count - largeCount }, (_, i) =>
    smallBodies(reader.lines(largeCount + i)),
  ).flat()
  reader.close()
  const process = await AssayProcess.start({ server, directory, workers })
  const { url, key } = process
  try {
    const client = new AssayClient({ url, key, connections: 1 })
    const project = await client.postJson('/v1/project', { name: 'ingest' })
    const projectId = String(project.id)
    const path = `/v1/project_logs/${projectId}/insert`
    client.close()
    const load = { process, path }
    if (beside === 'masking') await addMaskingRules(process)
    const largeTurns: Turn[] = []
    const smallTurns: Turn[] = []
    let backups: ReturnType<typeof backUpAgainAndAgain> | undefined
    for (let turn = 0; turn < turns; turn++) {
      // There has to be something to back up.
      if (beside === 'backup' && turn === 1) {
        backups = backUpAgainAndAgain(server, `${directory}-backups`, process)
      }
      largeTurns.push(await send(load, partOf(large, turn), largeClients))
      smallTurns.push(await send(load, partOf(small, turn), smallClients))
    }
    await backups?.stop()
    const [begin, cpuBefore] = [performance.now(), cpuMs(process.pid)]
    await settle(process)
    const settleSeconds = (performance.now() - begin) / 1000
    const settleMsPerMegabyte = (cpuMs(process.pid) - cpuBefore) / (data.bytes / 1e6)
    return {
      large: reportOf(largeTurns),
      small: reportOf(smallTurns),
      settleSeconds,
      settleMsPerMegabyte,
      share: sharesOf(directory, data.bytes),
      queries: backups && (await queriesBeside(options, process, projectId)),
    }
  } finally {
    await process.stop()
  }
}

async function queriesBeside(
  { server, directory }: IngestOptions,
  service: AssayProcess,
  projectId: string,
): Promise<IngestResult['queries']> {
  await measureQueries(service, projectId, queriesMs / 2)
  const atRest = await measureQueries(service, projectId, queriesMs)
  const backups = backUpAgainAndAgain(server, join(`${directory}-backups`, 'queried'), service)
  const beside = await measureQueries(service, projectId, queriesMs)
  await backups.stop()
  return { atRest, beside }
}

function smallBodies(lines: Buffer): Buffer[] {
  const rows = lines.toString().trimEnd().split('\n')
  const bodies: Buffer[] = []
  for (let from = 0; from < rows.length; from += rowsPerSmallBatch) {
    const events = rows.slice(from, from + rowsPerSmallBatch).join(',')
    bodies.push(Buffer.from(`{"events":[${events}]}`))
  }
  return bodies
}

function partOf<Item>(items: readonly Item[], turn: number): readonly Item[] {
  const at = (place: number) => Math.round((items.length * place) / turns)
  return items.slice(at(turn), at(turn + 1))
}

/** What one turn took. */
interface Turn {
  readonly ms: number
  readonly megabytes: number
  readonly latencies: readonly number[]
  readonly cpuMs: number
  readonly clientMs: number
  readonly longestTurnMs: number
}

function reportOf(all: readonly Turn[]): LoadReport {
  const counted = all.slice(1)
  const sum = (value: (turn: Turn) => number) => counted.reduce((all, turn) => all + value(turn), 0)
  const megabytes = sum((turn) => turn.megabytes)
  const latencies = counted.flatMap((turn) => turn.latencies)
  return {
    megabytesPerSecond: (megabytes / sum(({ ms }) => ms)) * 1000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: Math.max(...latencies),
    cpuMsPerMegabyte: sum(({ cpuMs }) => cpuMs) / megabytes,
    clientMsPerMegabyte: sum(({ clientMs }) => clientMs) / megabytes,
    longestTurnMs: Math.max(...counted.map((turn) => turn.longestTurnMs)),
  }
}

interface Load {
  readonly process: AssayProcess
  readonly path: string
}

async function send(
  { process: service, path }: Load,
  bodies: readonly Buffer[],
  clients: number,
): Promise<Turn> {
  // Connections of its own: the service closes those that have been idle for long.
  const { url, key } = service
  const client = new AssayClient({ url, key, connections: clients })
  const latencies: number[] = []
  let next = 0
  const one = async () => {
    while (next < bodies.length) {
      const body = bodies[next++]!
      const sent = performance.now()
      await client.post(path, body)
      latencies.push(performance.now() - sent)
    }
  }
  // What it tells is since it was asked last.
  await longestTurnMs(service)
  const [cpuBefore, clientBefore, begin] = [
    cpuMs(service.pid),
    process.cpuUsage(),
    performance.now(),
  ]
  await Promise.all(Array.from({ length: clients }, one))
  const ms = performance.now() - begin
  const { user, system } = process.cpuUsage(clientBefore)
  client.close()
  return {
    ms,
    megabytes: bodies.reduce((sum, { length }) => sum + length, 0) / 1e6,
    latencies,
    cpuMs: cpuMs(service.pid) - cpuBefore,
    clientMs: (user + system) / 1000,
    longestTurnMs: await longestTurnMs(service),
  }
}

async function metrics({ url, key }: AssayProcess): Promise<string> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
  return response.text()
}

async function longestTurnMs(service: AssayProcess): Promise<number> {
  const seconds = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await metrics(service))?.[1]
  return Number(seconds) * 1000
}

const pauseMs = 500
const quietChecks = 4
/** A process that does nothing else may still collect garbage. */
const idleShare = 0.05

/** Waits until all is flushed and the service has had no work of its own for two seconds. */
async function settle(service: AssayProcess): Promise<void> {
  let quiet = 0
  let [cpu, at] = [cpuMs(service.pid), performance.now()]
  while (quiet < quietChecks) {
    await wait(pauseMs)
    const [cpuNow, now] = [cpuMs(service.pid), performance.now()]
    const isIdle = cpuNow - cpu < (now - at) * idleShare
    const isFlushed = /^assay_delta_rows 0$/m.test(await metrics(service))
    quiet = isIdle && isFlushed ? quiet + 1 : 0
    ;[cpu, at] = [cpuMs(service.pid), performance.now()]
  }
}

function sharesOf(directory: string, jsonBytes: number): Record<string, number> {
  const sizes = Object.entries(directorySizes(directory)).filter(([, bytes]) => bytes > 0)
  const shares = sizes.map(([part, bytes]) => [part, bytes / jsonBytes] as const)
  const all = shares.reduce((sum, [, share]) => sum + share, 0)
  return Object.fromEntries([...shares, ['all', all]])
}
