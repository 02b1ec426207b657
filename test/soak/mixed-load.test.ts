/**
 * Minutes of mixed load: writers, look-ups, aggregates, exports, live queries, readers of a kilobyte a
 * second, and clients that leave in the middle.
 * Only in the slow suite: ASSAY_SLOW=1, for ASSAY_SOAK_SECONDS (600 if not given).
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { testKey } from '../support/running-service.ts'
import { SlowReader } from '../support/slow-reader.ts'
import { rowsOf, StreamClient } from '../support/stream-client.ts'

const seconds = Number(process.env.ASSAY_SOAK_SECONDS ?? 600)
/** Memory may grow by so much after the first tenth of the time: caches fill up. */
const growth = 1.25

const headers = { authorization: `Bearer ${testKey}` }

class Client {
  readonly #url: string
  /** Answers that are neither 200 nor 429. */
  readonly failures: string[] = []
  refused = 0

  constructor(url: string) {
    this.#url = url
  }

  /** The answer's JSON; undefined when it was refused. */
  async ask(path: string, body: object, signal?: AbortSignal): Promise<AnyAnswer | undefined> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
    const text = await response.text()
    if (response.status === 200) return JSON.parse(text) as AnyAnswer
    if (response.status === 429) this.refused++
    else this.failures.push(`${path}: ${response.status}: ${text.slice(0, 500)}`)
    return undefined
  }
}

interface AnyAnswer {
  readonly id?: string
  readonly data?: readonly Readonly<Record<string, unknown>>[]
}

/** Memory of the process but for mapped files, in bytes. */
function memoryOf({ child }: ServeProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024
}

test.runIf(process.env.ASSAY_SLOW === '1' && process.platform === 'linux')(
  'mixed load gives no error but 429, takes no more memory, and loses nothing',
  { timeout: (seconds + 300) * 1000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'assay-soak-'))
    const server = await serveAssay(directory, { ASSAY_BOOTSTRAP_KEY: testKey })
    try {
      const client = new Client(server.url)
      const project = (await client.ask('/v1/project', { name: 'soak' }))!.id
      const experiment = (await client.ask('/v1/experiment', { project_id: project, name: 'x' }))!
        .id
      const source = `experiment('${experiment}')`
      const acknowledged: string[] = []
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
        if (answer) acknowledged.push(...events.map(({ id }) => id))
      }
      const lookUp = async () => {
        const id = acknowledged[Math.floor(Math.random() * acknowledged.length)]
        if (id === undefined) return
        const query = `select: * | from: ${source} | filter: id = '${id}'`
        const answer = await client.ask('/btql', { query })
        if (answer) expect(answer.data?.map((row) => row.id)).toEqual([id])
      }
      const aggregate = () => {
        const measures = 'measures: count(1) as n, avg(metrics.tokens) as tokens'
        return client.ask('/btql', {
          query: `dimensions: metadata.model as model | ${measures} | from: ${source}`,
        })
      }
      const search = () => {
        const condition = "input.text ilike '%IPSUM lorem%' and metrics.tokens > 100"
        return client.ask('/btql', {
          query: `measures: count(1) as n | from: ${source} | filter: ${condition}`,
        })
      }
      const exportAll = () => {
        return client.ask('/btql', { query: `select: * | from: ${source} | limit: 5000` })
      }
      const leave = async () => {
        const leaving = new AbortController()
        setTimeout(() => leaving.abort(), Math.random() * 100)
        const query = `select: * | from: ${source}`
        await client.ask('/btql', { query }, leaving.signal).catch((thrown: Error) => {
          if (!leaving.signal.aborted) throw thrown
        })
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

      const sizes: { readonly at: number; readonly bytes: number }[] = []
      await Promise.all([
        ...[0, 1, 2].map((writer) => loop((turn) => write(writer, turn), 50)),
        ...[0, 1, 2, 3].map(() => loop(lookUp, 2)),
        loop(aggregate, 100),
        loop(search, 200),
        loop(exportAll, 1000),
        loop(leave, 200),
        loop(leaveStream, 300),
        ...[0, 1, 2].map(() => loop(readSlowly, 0)),
        loop(async () => sizes.push({ at: Date.now(), bytes: memoryOf(server) }), 1000),
      ])

      expect(client.failures).toEqual([])
      const settled = sizes.filter(({ at }) => at > end - seconds * 900)
      const largest = (part: typeof sizes) => Math.max(...part.map(({ bytes }) => bytes))
      const half = settled.length >> 1
      expect(largest(settled.slice(half))).toBeLessThan(largest(settled.slice(0, half)) * growth)

      // Each of them was told once, while it was written.
      await expect.poll(() => told.length, { timeout: 60_000 }).toBe(acknowledged.length)
      expect(liveFailure).toBeUndefined()
      expect(new Set(told)).toEqual(new Set(acknowledged))
      const count = async () => {
        let n: unknown
        while (groups.waiting > 0) n = rowsOf([await groups.next()])[0]?.n ?? n
        return n
      }
      let counted: unknown
      await expect
        .poll(async () => (counted = (await count()) ?? counted), { timeout: 60_000 })
        .toBe(acknowledged.length)
      live.close()
      groups.close()

      const found = new Set<unknown>()
      for (let cursor = ''; ; ) {
        const query = `select: id | from: ${source} | limit: 10000${cursor}`
        const page = (await client.ask('/btql', { query })) as AnyAnswer & { cursor?: string }
        for (const { id } of page.data!) found.add(id)
        if (page.cursor === undefined) break
        cursor = ` | cursor: '${page.cursor}'`
      }
      expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
      expect(found.size).toBeGreaterThanOrEqual(acknowledged.length)
    } finally {
      server.child.kill('SIGTERM')
      expect(await server.exit).toBe(0)
      rmSync(directory, { recursive: true })
    }
  },
)
