/** How long the workers go on with a query whose client has left: `--only leave`, see bench/README.md. */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Assay } from '../peers/systems/assay.ts'
import type { AssayClient } from '../peers/systems/assay-client.ts'
import { formatMs, formatTable, median } from '../table.ts'
import { type LongQuery, longQueries } from './long-queries.ts'

export interface LeaveOptions {
  /** The built `main.js`. */
  readonly server: string
  /** Of the service that the peers' bench has loaded; two experiments are added. */
  readonly directory: string
  readonly workers: number
  /** How often each query is left, at random moments all over its time. */
  readonly runs: number
  /** Queries whose name has the text. */
  readonly filter: string
}

/** A query is left in its first seconds only, however long it takes. */
const mostMs = 20_000

export async function measureLeaving(options: LeaveOptions): Promise<void> {
  const { server, directory, workers, runs, filter } = options
  const assay = await Assay.start({ server, directory, workers }, 8)
  try {
    const compared = [
      await comparedExperiment(assay, 0),
      await comparedExperiment(assay, 1),
    ] as const
    const rows: string[][] = []
    for (const query of longQueries({ logs: assay.projectId, compared })) {
      if (!query.name.includes(filter)) continue
      // The first makes what is kept, such as shared dictionaries.
      await untilEnd(assay, query)
      const wholeMs = await untilEnd(assay, query)
      const left: Left[] = []
      for (let run = 0; run < runs; run++) {
        const moment = (wholeMs * (run + Math.random())) / runs
        const measured = await leave(assay, query, moment)
        if (measured) left.push(measured)
      }
      const row = [
        query.name,
        formatMs(wholeMs),
        String(left.length),
        ...medianAndMost(left.map(({ workedMs }) => workedMs)),
        ...medianAndMost(left.map(({ noticedMs }) => noticedMs)),
      ]
      rows.push(row)
      process.stdout.write(`${row.join('  ')}\n`)
    }
    process.stdout.write(
      `\n${formatTable([['', 'whole ms', 'left', 'worked ms', 'at most', 'noticed ms', 'at most'], ...rows])}\n`,
    )
  } finally {
    await assay.close()
  }
}

function medianAndMost(times: readonly number[]): readonly [string, string] {
  return times.length === 0 ? ['', ''] : [formatMs(median(times)), formatMs(Math.max(...times))]
}

/** Milliseconds until the answer is there, or for as long as it may take. */
async function untilEnd(assay: Assay, query: LongQuery): Promise<number> {
  const started = performance.now()
  const request = send(assay, query)
  await Promise.race([request.ended, wait(mostMs)])
  const ms = performance.now() - started
  request.leave()
  await idle(assay.client)
  return ms
}

interface Left {
  /** For how long tasks went on once the service knew, as it tells itself. */
  readonly workedMs: number
  /** Until it knew at the latest, with what this process took to read what had come before. */
  readonly noticedMs: number
}

/** Undefined when the answer came before. */
async function leave(assay: Assay, query: LongQuery, moment: number): Promise<Left | undefined> {
  const before = await workedSeconds(assay.client)
  const request = send(assay, query)
  const isThere = await Promise.race([request.ended.then(() => true), wait(moment, false)])
  const since = performance.now()
  request.leave()
  // Answered in the turn of the service's event loop in which it finds out, or in a later one.
  await assay.client.get('/healthz')
  const noticedMs = performance.now() - since
  // To be asked takes the service time that its workers would have.
  await wait(quietMs)
  await idle(assay.client)
  if (isThere) return undefined
  const workedMs = ((await workedSeconds(assay.client)) - before) * 1000
  return { workedMs, noticedMs }
}

const quietMs = 100

/** For how long tasks have worked whose clients had left, all together, as the service tells it. */
async function workedSeconds(client: AssayClient): Promise<number> {
  const text = (await client.get('/metrics')).toString()
  return Number(/^assay_left_queries_work_seconds_total (\S+)/m.exec(text)![1])
}

function send({ process, client }: Assay, { query, fmt }: LongQuery) {
  const { hostname, port } = new URL(process.url)
  const body = JSON.stringify({ query, fmt })
  const socket = connect(Number(port), hostname, () => {
    socket.write(
      `POST /btql HTTP/1.1\r\nhost: x\r\nauthorization: ${client.authorization}\r\n` +
        `connection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
  socket.on('error', () => undefined)
  let head = ''
  socket.on('data', (data: Buffer) => {
    if (head.length < headLength) head += data.toString('latin1', 0, headLength)
  })
  let isEnded = false
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('end', () => {
      isEnded = true
      // What is too much to be held in order is refused when all of that is read.
      if (head.startsWith('HTTP/1.1 200') || head.includes('"LIMIT_MEMORY"')) resolve()
      else reject(new Error(`${query}: ${head}`))
    })
  })
  ended.catch(() => undefined)
  // A socket that is about to end cannot be reset: it would stay open, and keep this process busy for good.
  const leave = () => (isEnded ? socket.destroy() : socket.resetAndDestroy())
  return { ended, leave }
}

const headLength = 2000

async function idle(client: AssayClient): Promise<void> {
  while (await isBusy(client)) await wait(2)
}

/** Whether a worker has a task, as the service tells it. */
async function isBusy(client: AssayClient): Promise<boolean> {
  const text = (await client.get('/metrics')).toString()
  return /^assay_(workers_busy|tasks_queued|queries_open) [1-9]/m.test(text)
}

const comparedRows = 60_000
const rowsPerRequest = 5000

/** Records of which each has a counterpart with the same input in the other experiment. */
async function comparedExperiment({ client, projectId }: Assay, side: 0 | 1): Promise<string> {
  const name = `compared ${side}`
  const { id } = await client.postJson('/v1/experiment', { project_id: projectId, name })
  const query = `measures: count(1) as n | from: experiment('${String(id)}')`
  const { data } = await client.postJson('/btql', { query })
  if ((data as readonly { n: number }[])[0]?.n === comparedRows) return String(id)
  for (let from = 0; from < comparedRows; from += rowsPerRequest) {
    const events = Array.from({ length: rowsPerRequest }, (_, i) => ({
      id: `${side}-${from + i}`,
      input: { question: `question ${from + i}` },
      output: `answer ${side} ${(from + i) % 100}`,
      scores: { accuracy: ((from + i) % (7 + side)) / 7, style: ((from + i) % 5) / 5 },
      metrics: { tokens: (from + i) % 1000 },
    }))
    await client.postJson(`/v1/experiment/${String(id)}/insert`, { events })
  }
  return String(id)
}
