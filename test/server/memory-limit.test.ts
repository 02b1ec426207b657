/** Queries that would hold much: each ends with what it found, or with an error that names the budget. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { type AnyJson, testKey } from '../support/running-service.ts'

const budgetMegabytes = 16

/** Elements of each record, each of which an unpivot makes a row. */
const elements = 250
const records = 1600

let directory: string
let server: ServeProcess
let from: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-memory-'))
  server = await serveAssay(directory, {
    ASSAY_BOOTSTRAP_KEY: testKey,
    ASSAY_QUERY_MEMORY_MB: String(budgetMegabytes),
    ASSAY_WARM_UP: '0',
  })
  const { id: project_id } = (await ask('/v1/project', { name: 'p' })).json
  const { id } = (await ask('/v1/experiment', { project_id, name: 'x' })).json
  from = `from: experiment('${String(id)}')`
  const list = Array.from({ length: elements }, (_, i) => i)
  const text = 'lorem ipsum dolor sit amet, '.repeat(1500)
  for (let i = 0; i < records; i += 200) {
    const events = Array.from({ length: 200 }, (_, j) => ({
      id: `r${i + j}`,
      user: i + j,
      input: `${i + j} ${text}`,
      metadata: { list, object: { name: `${i + j}`, text } },
    }))
    expect((await ask(`/v1/experiment/${String(id)}/insert`, { events })).status).toBe(200)
  }
})

afterAll(async () => {
  server.child.kill('SIGTERM')
  await server.exit
  rmSync(directory, { recursive: true })
})

async function ask(path: string, body: object) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}` },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) as AnyJson }
}

/** 400,000 different ones. */
const [number, text] = ['user * 1000 + a as k', "concat('key ', id, ' ', to_string(a)) as k"]
const rows = () => `${from} | unpivot: metadata.list as a`

test.each([
  ['groups by numbers', () => `dimensions: ${number} | measures: count(1) as n | ${rows()}`],
  ['groups by texts', () => `dimensions: ${text} | measures: count(1) as n | ${rows()}`],
  [
    'different texts',
    () => `measures: count_distinct(concat('one of ', id, ' ', to_string(a))) as n | ${rows()}`,
  ],
  ['lists', () => `measures: array_agg(concat(id, to_string(a))) as l | ${rows()}`],
  ['long texts, the first of each group', () => long('first(input, created)')],
  ['long texts, the greatest of each group', () => long('max(input)')],
  ['long texts, the most frequent of each group', () => long('mode(input)')],
  ['long texts in lists', () => long('array_agg(input)')],
  ['objects, the greatest of each group', () => long('max(metadata.object)')],
  ['groups by long texts', () => `dimensions: input | measures: count(1) as n | ${from}`],
  ['groups by objects', () => `dimensions: metadata.object | measures: count(1) as n | ${from}`],
])('%s', async (_, queryOf) => {
  const { status, json } = await ask('/btql', { query: queryOf() })
  expect([status, json.error?.code, json.Message]).toEqual([
    400,
    'LIMIT_MEMORY',
    expect.stringContaining(`the query would hold more than its budget of ${budgetMegabytes} MiB`),
  ])
  const least = await ask('/btql', { query: `measures: count(1) as n | ${from}` })
  expect(least.json.data).toEqual([{ n: records }])
})

test.each(['input', 'metadata.object', 'input desc'])(
  'a sort by %s, which is of 64 MiB, gives all rows in several passes',
  async (key) => {
    const { status, json } = await ask('/btql', { query: `select: id | ${from} | sort: ${key}` })
    const sorted = Array.from({ length: records }, (_, i) => `r${i}`).sort()
    if (key.endsWith('desc')) sorted.reverse()
    expect([status, json.data]).toEqual([200, sorted.map((id) => ({ id }))])
  },
)

const long = (measure: string) => `dimensions: id | measures: ${measure} as m | ${from}`
