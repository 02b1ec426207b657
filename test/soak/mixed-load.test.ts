/**
 * An hour of mixed load: writers, look-ups, aggregates, exports in every format, live queries, readers of
 * a kilobyte a second, and clients that leave in the middle of what they read or write. What was
 * acknowledged is in every answer that began later, and there after a restart; nothing is held at the end.
 * Memory stays flat, the disk takes no more of a record than at the beginning, and no file is left open.
 * Only in the slow suite: ASSAY_SLOW=1, for ASSAY_SOAK_SECONDS (3,600 if not given).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { tableFromIPC } from 'apache-arrow'
import { parquetMetadata } from 'hyparquet'
import { expect, test } from 'vitest'
import { serveAssay } from '../support/assay-process.ts'
import { type Usage, usageOf } from '../support/process-watch.ts'
import { testKey } from '../support/running-service.ts'
import { SlowReader } from '../support/slow-reader.ts'
import { rowsOf, StreamClient } from '../support/stream-client.ts'

const seconds = Number(process.env.ASSAY_SOAK_SECONDS ?? 3600)
/** Caches fill up in the first minute. */
const settledAfterMs = 60_000
/** The most memory of the second half, as a share of the most of the first. */
const memoryGrowth = 1.25
/** However long it goes on, with one thread for queries. */
const mostMemory = 2 * 2 ** 30
/** Bytes on disk per byte written in the second half, as a share of those in the first. */
const diskGrowth = 1.25
/** Of segments that are not merged yet, and room that is free in the files, whatever the size of the data. */
const diskSlack = 256 * 2 ** 20

/** However much goes on beside it, no request takes so long. */
const longestMs = 60_000

const headers = { authorization: `Bearer ${testKey}` }

/** What is left has no answer. */
class Left extends Error {}

function unlessLeft(thrown: unknown): undefined {
  if (!(thrown instanceof Left)) throw thrown
}

class Client {
  readonly #url: string
  /** Answers that are neither 200 nor 429. */
  readonly failures: string[] = []
  refused = 0

  constructor(url: string) {
    this.#url = url
  }

  /** The answer's JSON; undefined when it was refused. Rejects with `Left` when it is left. */
  async ask(path: string, body: object, leaving?: AbortSignal): Promise<AnyAnswer | undefined> {
    const bytes = await this.#post(path, body, path, leaving)
    return bytes && (JSON.parse(bytes.toString()) as AnyAnswer)
  }

  /** How many rows there are in a whole answer; undefined when it was refused. */
  async export(body: { readonly query: string; readonly fmt: ExportFormat }) {
    const bytes = await this.#post('/btql', body, body.fmt)
    return bytes && countRows[body.fmt](bytes)
  }

  async #post(path: string, body: object, name: string, leaving?: AbortSignal) {
    const connection = new AbortController()
    // In Node.js 20, what reads a compressed body may wait for good when its connection is aborted.
    const ended = new Promise<never>((_, reject) => {
      connection.signal.addEventListener('abort', () => reject(connection.signal.reason))
    })
    leaving?.addEventListener('abort', () => connection.abort(new Left()))
    const late = new Error(`${name}: no answer after ${longestMs} ms`)
    const timer = setTimeout(() => connection.abort(late), longestMs)
    const read = async () => {
      const response = await fetch(this.#url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: connection.signal,
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      if (response.status === 200) return bytes
      if (response.status === 429) this.refused++
      else this.failures.push(`${name}: ${response.status}: ${bytes.toString().slice(0, 500)}`)
      return undefined
    }
    try {
      return await Promise.race([read(), ended])
    } finally {
      clearTimeout(timer)
    }
  }

  /** What the service holds of its clients. */
  async held(): Promise<Record<string, number>> {
    const text = await (await fetch(`${this.#url}/metrics`, { headers })).text()
    const names =
      /^(assay_(?:queries_open|workers_busy|tasks_queued|query_memory_bytes|http_body_bytes|live_queries|websockets_open)) (\d+)$/gm
    return Object.fromEntries([...text.matchAll(names)].map(([, name, n]) => [name, Number(n)]))
  }
}

const lines = (bytes: Buffer) => bytes.toString('latin1').split('\n').length - 1

const countRows = {
  json: (bytes: Buffer) => (JSON.parse(bytes.toString()) as AnyAnswer).data!.length,
  jsonl: lines,
  // No text of the records has an end of a line; the first is of names.
  csv: (bytes: Buffer) => lines(bytes) - 1,
  arrow: (bytes: Buffer) => tableFromIPC(bytes).numRows,
  parquet: (bytes: Buffer) => Number(parquetMetadata(new Uint8Array(bytes).buffer).num_rows),
}

type ExportFormat = keyof typeof countRows

const exportFormats = ['json', 'jsonl', 'csv', 'arrow', 'parquet'] as const

/** Every acknowledged record is there, page by page. */
async function expectAll(client: Client, source: string, acknowledged: readonly string[]) {
  const found = new Set<unknown>()
  for (let cursor = ''; ; ) {
    const query = `select: id | from: ${source} | limit: 10000${cursor}`
    const page = (await client.ask('/btql', { query }))!
    for (const { id } of page.data!) found.add(id)
    if (page.cursor === undefined) break
    cursor = ` | cursor: '${page.cursor}'`
  }
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
}

interface AnyAnswer {
  readonly id?: string
  readonly cursor?: string
  readonly data?: readonly Readonly<Record<string, unknown>>[]
}

interface Sample extends Usage {
  /** Bytes of all bodies that were acknowledged until then. */
  readonly written: number
}

const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20)

/** Prints what the service took, and holds its second half to the first. */
function expectFlat(samples: readonly Sample[]): void {
  const half = samples.length >> 1
  const halves = [samples.slice(0, half), samples.slice(half)] as const
  for (const part of halves) {
    const [first, last] = [part[0]!, part.at(-1)!]
    const most = (of: (sample: Sample) => number) => Math.max(...part.map(of))
    console.log(
      `${Math.round((last.at - first.at) / 1000)} s: at most ${megabytes(most(({ memory }) => memory))} MiB ` +
        `of memory and ${most(({ descriptors }) => descriptors)} descriptors; ` +
        `${megabytes(last.written - first.written)} MiB written, ` +
        `${megabytes(last.disk)} MiB on disk for ${megabytes(last.written)} MiB`,
    )
  }
  const [before, after] = halves.map((part) => Math.max(...part.map(({ memory }) => memory)))
  expect(after).toBeLessThan(before! * memoryGrowth)
  expect(after).toBeLessThan(mostMemory)
  const [middle, last] = halves.map((part) => part.at(-1)!)
  const perByte = (middle!.disk + diskSlack) / middle!.written
  expect(last!.disk).toBeLessThan(perByte * diskGrowth * last!.written)
}

test.runIf(process.env.ASSAY_SLOW === '1' && process.platform === 'linux')(
  'mixed load gives no error but 429, takes no more memory, and loses nothing',
  { timeout: (seconds + 300) * 1000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'assay-soak-'))
    let server = await serveAssay(directory, { ASSAY_BOOTSTRAP_KEY: testKey })
    try {
      const client = new Client(server.url)
      const project = (await client.ask('/v1/project', { name: 'soak' }))!.id
      const experiment = (await client.ask('/v1/experiment', { project_id: project, name: 'x' }))!
        .id
      const source = `experiment('${experiment}')`
      const acknowledged: string[] = []
      let written = 0
      const acknowledge = (events: readonly { readonly id: string }[]) => {
        acknowledged.push(...events.map(({ id }) => id))
        written += JSON.stringify(events).length
      }
      const usage = (): Sample => ({ ...usageOf(server.child.pid!, directory), written })
      // A service that starts has files open that it reads its code from.
      let atFirst = usage()
      for (let same = 0; same < 5; same++) {
        await wait(1000)
        const next = usage()
        if (next.descriptors !== atFirst.descriptors) same = 0
        atFirst = next
      }
      const end = Date.now() + seconds * 1000
      const loop = async (work: (turn: number) => Promise<unknown>, pauseMs: number) => {
        for (let turn = 0; Date.now() < end; turn++) {
          await work(turn)
          await wait(pauseMs)
        }
      }

      const write = async (writer: number, turn: number) => {
        const events = Array.from({ length: 20 }, (_, i) => ({
          id: `writer-${writer}-${turn}-${i}`,
          input: { text: 'lorem ipsum '.repeat(20), turn },
          metadata: { model: `model-${i % 5}` },
          metrics: { tokens: turn % 1000 },
        }))
        const answer = await client.ask(`/v1/experiment/${experiment}/insert`, { events })
        if (answer) acknowledge(events)
      }
      const lookUp = async () => {
        const id = acknowledged[Math.floor(Math.random() * acknowledged.length)]
        if (id === undefined) return
        const query = `select: * | from: ${source} | filter: id = '${id}'`
        const answer = await client.ask('/btql', { query })
        if (answer) expect(answer.data?.map((row) => row.id)).toEqual([id])
      }
      const aggregate = async () => {
        const least = acknowledged.length
        const measures = 'measures: count(1) as n, avg(metrics.tokens) as tokens'
        const answer = await client.ask('/btql', {
          query: `dimensions: metadata.model as model | ${measures} | from: ${source}`,
        })
        const counts = answer?.data?.map(({ n }) => Number(n))
        const total = counts?.reduce((sum, n) => sum + n, 0) ?? least
        if (total < least) client.failures.push(`${total} rows are counted of ${least}`)
      }
      const search = () => {
        const condition = "input.text ilike '%IPSUM lorem%' and metrics.tokens > 100"
        return client.ask('/btql', {
          query: `measures: count(1) as n | from: ${source} | filter: ${condition}`,
        })
      }
      const exportAll = async (turn: number) => {
        const format = exportFormats[turn % exportFormats.length]!
        const least = Math.min(acknowledged.length, 5000)
        const query = `select: * | from: ${source} | limit: 5000`
        const rows = await client.export({ query, fmt: format })
        if (rows !== undefined && rows !== least && (rows < least || rows > 5000)) {
          client.failures.push(`${format} has ${rows} rows of ${least}`)
        }
      }
      const leaveInsert = async (turn: number) => {
        const leaving = new AbortController()
        setTimeout(() => leaving.abort(), Math.random() * 20)
        const input = 'x'.repeat(10_000)
        const events = Array.from({ length: 50 }, (_, i) => ({ id: `left-${turn}-${i}`, input }))
        const path = `/v1/experiment/${experiment}/insert`
        const answer = await client.ask(path, { events }, leaving.signal).catch(unlessLeft)
        if (answer) acknowledge(events)
      }
      const leave = async () => {
        const leaving = new AbortController()
        setTimeout(() => leaving.abort(), Math.random() * 100)
        const query = `select: * | from: ${source}`
        await client.ask('/btql', { query }, leaving.signal).catch(unlessLeft)
      }

      const leaveStream = async () => {
        const stream = await StreamClient.open(server)
        for (const id of ['1', '2', '3']) stream.send({ id, query: `select: * | from: ${source}` })
        await wait(Math.random() * 100)
        stream.close()
      }
      const readSlowly = async () => {
        const body = { query: `select: * | from: ${source}` }
        const reader = await SlowReader.open(server.url, '/btql', body)
        await Promise.race([reader.closed, wait(20_000)])
        reader.close()
      }
      const live = await StreamClient.open(server)
      const told: string[] = []
      let liveFailure: unknown
      const follow = async () => {
        live.send({ query: `select: id | from: ${source}`, live: true })
        for (;;) {
          const message = await live.next()
          if (message.type === 'error') liveFailure = message
          for (const { id } of rowsOf([message])) told.push(String(id))
        }
      }
      follow().catch(() => undefined)
      const groups = await StreamClient.open(server)
      groups.send({ query: `measures: count(1) as n | from: ${source}`, live: true })

      const samples: Sample[] = []
      await Promise.all([
        ...[0, 1, 2].map((writer) => loop((turn) => write(writer, turn), 50)),
        ...[0, 1, 2, 3].map(() => loop(lookUp, 2)),
        loop(aggregate, 100),
        loop(search, 200),
        loop(exportAll, 1000),
        loop(leave, 200),
        loop(leaveInsert, 500),
        loop(leaveStream, 300),
        ...[0, 1, 2].map(() => loop(readSlowly, 0)),
        loop(async () => samples.push(usage()), 1000),
      ])

      expect(client.failures).toEqual([])
      const settled = samples.filter(({ at }) => at > end - seconds * 1000 + settledAfterMs)
      // A shorter run tells nothing of that.
      if (settled.length >= 60) expectFlat(settled)

      // Each of them was told once, while it was written.
      const untold = () => {
        const known = new Set(told)
        return acknowledged.filter((id) => !known.has(id)).length
      }
      await expect.poll(untold, { timeout: 60_000, interval: 1000 }).toBe(0)
      expect(liveFailure).toBeUndefined()
      expect(told).toHaveLength(new Set(told).size)
      const count = async () => {
        let n: unknown
        while (groups.waiting > 0) n = rowsOf([await groups.next()])[0]?.n ?? n
        return n
      }
      let counted: unknown
      await expect
        .poll(async () => (counted = (await count()) ?? counted), { timeout: 60_000 })
        .toBe(told.length)
      live.close()
      groups.close()
      await expect
        .poll(() => client.held(), { timeout: 60_000, interval: 500 })
        .toEqual({
          assay_queries_open: 0,
          assay_workers_busy: 0,
          assay_tasks_queued: 0,
          assay_query_memory_bytes: 0,
          assay_http_body_bytes: 0,
          assay_live_queries: 0,
          assay_websockets_open: 0,
        })

      // Connections that are kept alive are closed after some seconds without a request.
      await expect
        .poll(() => usage().descriptors, { timeout: 60_000, interval: 1000 })
        .toBeLessThanOrEqual(atFirst.descriptors)

      await expectAll(client, source, acknowledged)
      console.log(
        `${acknowledged.length} records acknowledged, ${client.refused} requests refused; ` +
          `descriptors: ${atFirst.descriptors} at first, ${usage().descriptors} at the end`,
      )
      server.child.kill('SIGTERM')
      expect(await server.exit).toBe(0)
      server = await serveAssay(directory)
      await expectAll(new Client(server.url), source, acknowledged)
    } finally {
      server.child.kill('SIGTERM')
      expect(await server.exit).toBe(0)
      rmSync(directory, { recursive: true })
    }
  },
)
