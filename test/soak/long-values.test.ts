/**
 * Values of 100 MB in every kind of query, one at a time and six in parallel: the service answers others meanwhile,
 * ends what would hold too much with LIMIT_MEMORY, and lives on, also with a small heap. Prints how long the longest
 * answer to `/healthz` took, and the largest memory. Only in the slow suite: ASSAY_SLOW=1, with values of
 * ASSAY_LONG_MEGABYTES (100 if not given).
 */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { testKey } from '../support/running-service.ts'

const megabytes = Number(process.env.ASSAY_LONG_MEGABYTES ?? 100)
const records = 10
/** Of a machine that does nothing else. */
const longestMs = 250

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
  ...['input', 'lower(input)', 'input desc'].map((key) => [`select: id | sort: ${key}`] as const),
  ...selected.map((expression) => [`select: ${expression} as s`.replace('* as s', '*')] as const),
  ...filters.map((filter) => [`select: id | filter: ${filter}`] as const),
  ['select: id, e | unpivot: input as e | limit: 10'],
  ['infer: *'],
  ...(['jsonl', 'csv', 'parquet', 'arrow'] as const).map((fmt) => ['select: *', { fmt }] as const),
]

test.runIf(process.env.ASSAY_SLOW).each([
  ['a usual heap', {}, 1],
  ['a usual heap, six in parallel', {}, 6],
  ['a small heap', { NODE_OPTIONS: '--max-old-space-size=256' }, 1],
  ['a small budget', { ASSAY_QUERY_MEMORY_MB: '64' }, 1],
])('long values: %s', { timeout: 7_200_000 }, async (name, environment: object, parallel) => {
  const directory = mkdtempSync(join(tmpdir(), 'assay-long-'))
  const server = await serveAssay(directory, {
    ASSAY_BOOTSTRAP_KEY: testKey,
    ASSAY_WARM_UP: '0',
    ...environment,
  })
  const health = new Worker(new URL('../support/health-thread.js', import.meta.url), {
    workerData: { url: server.url },
  })
  const longest = async (): Promise<number> => {
    health.postMessage(undefined)
    return (await once(health, 'message'))[0] as number
  }
  try {
    const source = await fill(server)
    const slow: string[] = []
    const counts = new Map<number, number>()
    let [worst, largest] = [0, 0]
    for (const [clauses, options] of queries) {
      await longest()
      const body = { query: `${clauses} | from: ${source}`, ...options }
      const statuses = await Promise.all(
        Array.from({ length: parallel }, () => statusOf(server, body)),
      )
      const took = await longest()
      for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
      worst = Math.max(worst, took)
      largest = Math.max(largest, residentMegabytes(server))
      if (took > longestMs) slow.push(`${clauses}: ${Math.round(took)} ms`)
      expect(server.child.exitCode).toBe(null)
    }
    console.log(
      `${name}: ${queries.length} queries over ${records} values of ${megabytes} MB; statuses ${[...counts].join(' ')};`,
      `longest answer to /healthz ${Math.round(worst)} ms, resident ${largest} MB`,
      slow,
    )
    expect([...counts.keys()].filter((status) => status !== 200 && status !== 400)).toEqual([])
    // Whoever else uses the processors makes it longer.
    expect(slow.length).toBeLessThan(queries.length / 2)
  } finally {
    await health.terminate()
    server.child.kill('SIGTERM')
    await server.exit
    rmSync(directory, { recursive: true })
  }
})

/** The source that the records are in. */
async function fill(server: ServeProcess): Promise<string> {
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

/** The status, once the answer was read; it may break off once it has begun. */
async function statusOf(server: ServeProcess, body: object): Promise<number> {
  const response = await ask(server, '/btql', JSON.stringify(body))
  try {
    for await (const _ of response.body!);
  } catch {
    // It did not fit.
  }
  return response.status
}

function residentMegabytes({ child }: ServeProcess): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]
  return Math.round(Number(kilobytes) / 1024)
}
