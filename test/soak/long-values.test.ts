/**
 * Values of 100 MB in every kind of query, one at a time and six in parallel: the service answers others meanwhile,
 * ends what would hold too much with LIMIT_MEMORY, and lives on, also with a small heap. Prints how long the longest
 * turn of the main thread was, by the processor time that it took, and the longest answer to `/healthz`, which other work
 * of the machine holds up, too, and the largest memory. Only in the slow suite: ASSAY_SLOW=1, with values of
 * ASSAY_LONG_MEGABYTES (100 if not given), or a fifth of that where sorts are given in passes.
 */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { testKey } from '../support/running-service.ts'
import { WatchedTurns } from '../support/watched-turns.ts'

const megabytes = Number(process.env.ASSAY_LONG_MEGABYTES ?? 100)
const records = 10
/** Of the main thread's processor time; in some turns it also looks for garbage, in others it serves several queries. */
const longestTurn = (parallel: number) => (parallel === 1 ? 60 : 100)

const measures = [
  ...['array_agg(input)', "string_agg(input, ',')", 'count_distinct(input)', 'min(input)'],
  ...['first(input, created)', 'mode(input)', 'sum(len(input))', 'percentile(len(input), 0.5)'],
]
const selected = [
  ...['*', 'input', 'lower(input)', "replace(input, 'lorem', 'x')", 'concat(input, input)'],
  ...["regexp_extract(input, 'l.*m')", "split(input, ' ')", 'json_parse(input)', 'input.a'],
]
const filters = [
  ...["search('lorem ipsum')", "input MATCH 'adipiscing'", "input ILIKE '%zzz%'", "input = 'a'"],
  ...["lower(input) = 'a'", "input IN ['a', 'b']", "input > 'b'", "id = 'r1'"],
]
const queries: readonly (readonly [clauses: string, options?: object])[] = [
  ...measures.flatMap((measure) => [
    [`measures: ${measure} as m`] as const,
    [`dimensions: id | measures: ${measure} as m`] as const,
  ]),
  ...['lower(input)', 'input', 'len(input)', 'substring(input, 0, 5)'].map((key) => {
    return [`dimensions: ${key} as k | measures: count(1) as n`] as const
  }),
  ...['input', 'lower(input)', 'input desc', "split(input, ' ')"].flatMap((key) => [
    [`select: id | sort: ${key}`] as const,
    [`select: id | sort: ${key} | limit: 3`] as const,
  ]),
  ['select: id | from: (select: id, input | sort: input | limit: 3 | $) | sort: input desc'],
  ...selected.map((expression) => [`select: ${expression} as s`.replace('* as s', '*')] as const),
  ...filters.map((filter) => [`select: id | filter: ${filter}`] as const),
  ['select: id, e | unpivot: input as e | limit: 10'],
  ['infer: *'],
  ...(['jsonl', 'csv', 'parquet', 'arrow'] as const).map((fmt) => ['select: *', { fmt }] as const),
]

interface Kind {
  readonly name: string
  readonly megabytes: number
  readonly parallel: number
  readonly environment?: Readonly<Record<string, string>>
  readonly nodeOptions?: string
}

const kinds: readonly Kind[] = [
  { name: 'a usual heap', megabytes, parallel: 1 },
  { name: 'a usual heap, six in parallel', megabytes, parallel: 6 },
  { name: 'a small heap', megabytes, parallel: 1, nodeOptions: '--max-old-space-size=256' },
  ...[megabytes, megabytes / 5].map((megabytes): Kind => {
    const environment = { ASSAY_QUERY_MEMORY_MB: '64' }
    return { name: 'a small budget', megabytes, parallel: 1, environment }
  }),
]

test.runIf(process.env.ASSAY_SLOW).each(kinds)(
  'long values: $name, $megabytes MB',
  {
    timeout: 7_200_000,
  },
  async ({ name, megabytes, parallel, environment, nodeOptions = '' }) => {
    const directory = mkdtempSync(join(tmpdir(), 'assay-long-'))
    const turns = new WatchedTurns(directory)
    const server = await serveAssay(join(directory, 'd'), {
      ASSAY_BOOTSTRAP_KEY: testKey,
      ASSAY_WARM_UP: '0',
      ...environment,
      ...turns.environment,
      NODE_OPTIONS: `${turns.environment.NODE_OPTIONS} ${nodeOptions}`,
    })
    const health = new Worker(new URL('../support/health-thread.js', import.meta.url), {
      workerData: { url: server.url },
    })
    const longest = async (): Promise<number> => {
      health.postMessage(undefined)
      return (await once(health, 'message'))[0] as number
    }
    try {
      turns.forget()
      const source = await fill(server, megabytes)
      const filled = turns.longest
      const slow: string[] = []
      const counts = new Map<number, number>()
      let [worst, worstTurn, largest] = [0, 0, 0]
      for (const [clauses, options] of queries) {
        await longest()
        turns.forget()
        const from = `from: ${source}`
        const query = clauses.includes('$') ? clauses.replace('$', from) : `${clauses} | ${from}`
        const body = { query, ...options }
        const statuses = await Promise.all(
          Array.from({ length: parallel }, () => statusOf(server, body)),
        )
        const took = await longest()
        for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
        worst = Math.max(worst, took)
        largest = Math.max(largest, residentMegabytes(server))
        worstTurn = Math.max(worstTurn, turns.longest)
        if (turns.longest > longestTurn(parallel))
          slow.push(`${clauses}: ${Math.round(turns.longest)} ms`)
        expect(server.child.exitCode).toBe(null)
      }
      console.log(
        `${name}: ${queries.length} queries over ${records} values of ${megabytes} MB; statuses ${[...counts].join(' ')};`,
        `longest turn ${Math.round(worstTurn)} ms, of inserts ${Math.round(filled)} ms;`,
        `longest answer to /healthz ${Math.round(worst)} ms, resident ${largest} MB`,
        slow,
      )
      expect([...counts.keys()].filter((status) => status !== 200 && status !== 400)).toEqual([])
      expect(slow).toEqual([])
    } finally {
      await health.terminate()
      server.child.kill('SIGTERM')
      await server.exit
      rmSync(directory, { recursive: true })
    }
  },
)

/** The source that the records are in. */
async function fill(server: ServeProcess, megabytes: number): Promise<string> {
  const made = async (path: string, body: object) => {
    return ((await (await ask(server, path, JSON.stringify(body))).json()) as { id: string }).id
  }
  const project_id = await made('/v1/project', { name: 'p' })
  const id = await made('/v1/experiment', { project_id, name: 'x' })
  const text = 'lorem ipsum dolor sit amet adipiscing '.repeat((megabytes * 2 ** 20) / 38)
  for (let i = 0; i < records; i++) {
    const body = `{"events":[{"id":"r${i}","input":"${i} ${text}"}]}`
    expect((await ask(server, `/v1/experiment/${id}/insert`, body)).status).toBe(200)
  }
  return `experiment('${id}')`
}

function ask({ url }: ServeProcess, path: string, body: string): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}` },
    body,
  })
}

/**
 * The status, once the answer was read; it may break off once it has begun. Not by `fetch`, which gives an answer up that
 * has not begun after five minutes.
 */
async function statusOf({ url }: ServeProcess, body: object): Promise<number> {
  const headers = { authorization: `Bearer ${testKey}` }
  const asked = request(`${url}/btql`, { method: 'POST', headers }).end(JSON.stringify(body))
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  try {
    for await (const _ of response);
  } catch {
    // It did not fit.
  }
  return response.statusCode!
}

function residentMegabytes({ child }: ServeProcess): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]
  return Math.round(Number(kilobytes) / 1024)
}
