import { cp, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Engine } from '../../src/engine.ts'
import type { EngineStatus } from '../../src/scheduler/status.ts'
import { damagedKinds, damageSegments, randomOf } from '../support/damage.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

/** In the slow suite, hundreds of values are damaged. */
const trialsOfKind = isSlow ? 60 : 1

const limits = { rows: 40_000 }
let whole: string
let projectId: string
let answers: readonly string[]
let version: string

const models = ['small', 'large', 'huge', 'tiny']
const words = 'the quick brown fox jumps over a lazy dog while seven wizards mix potions'.split(' ')

function record(i: number) {
  const text = Array.from(
    { length: 12 },
    (_, k) => words[(i * 7 + k * k + (i % 11)) % words.length],
  )
  return {
    id: `r${i}`,
    root_span_id: `trace-${Math.floor(i / 3)}`,
    created: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
    input: `${text.join(' ')} ${i}`,
    output: i % 5 === 0 ? { answer: text.slice(0, 3), n: i } : text.slice(3).join(' '),
    scores: { exact: i % 2, close: (i % 100) / 100 },
    metrics: { tokens: i % 977 },
    metadata: {
      model: models[i % 4],
      user: `user-${(i * 7919) % 30_000}`,
      nested: { deep: i % 13 },
    },
    tags: i % 4 === 0 ? ['even', `t${i % 6}`] : [],
  }
}

async function openEngine(directory: string, automatic = false): Promise<Engine> {
  return Engine.open({
    dataDirectory: directory,
    workers: 2,
    maintenance: { automatic, limits },
  })
}

beforeAll(async () => {
  whole = await makeTemporaryDirectory('whole')
  const engine = await openEngine(whole)
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  projectId = project.id
  const object = { type: 'project_logs', id: project.id } as const
  const { entry: experiment } = await view.findOrCreate('experiment', {
    project_id: project.id,
    name: 'e',
  })
  const insert = async (
    events: readonly object[],
    into: Parameters<Engine['insert']>[0]['object'] = object,
  ) => {
    const body = Buffer.from(JSON.stringify({ events }))
    return (await engine.insert({ body, form: 'events', object: into, view })).transactionId
  }
  const records = Array.from({ length: 36_000 }, (_, i) => record(i))
  await insert(records)
  await insert(records.slice(0, 500), { type: 'experiment', id: experiment.id })
  await engine.flush()
  await engine.compact()
  version = await insert([{ id: 'r1', _is_merge: true, output: 'changed' }])
  await insert(
    Array.from({ length: 300 }, (_, i) => ({ ...record(i * 3), metrics: { tokens: -i } })),
  )
  await insert(Array.from({ length: 50 }, (_, i) => ({ id: `r${i * 5}`, _object_delete: true })))
  await insert(Array.from({ length: 700 }, (_, i) => record(40_000 + i)))
  await engine.flush()
  await insert(Array.from({ length: 20 }, (_, i) => record(50_000 + i)))
  answers = await answersOf(engine)
  await engine.close()
}, 120_000)

afterAll(() => rm(whole, { recursive: true }))

function queries(): { readonly query: string; readonly version?: string }[] {
  const logs = `from: project_logs('${projectId}')`
  const asked = [
    'measures: count(1) as n, sum(metrics.tokens) as tokens, avg(scores.close) as close',
    'dimensions: metadata.model | measures: count(1) as n, max(metrics.tokens) as most',
    'dimensions: metadata.user as user | measures: count(1) as n | sort: n desc, user | limit: 20',
    'select: id, metrics.tokens, output | filter: metrics.tokens > 970 | sort: metrics.tokens desc, id | limit: 40',
    'select: * | limit: 30',
    "select: id, input | filter: input MATCH 'wizards potions' | limit: 50",
    "select: id | filter: input LIKE '%fox jumps%' | sort: id | limit: 30",
    "select: * | filter: root_span_id = 'trace-77'",
    "select: id | filter: metadata.user = 'user-7919'",
    "measures: count(1) as n | filter: tags INCLUDES 'even' AND output.n > 100",
    'dimensions: metadata.nested.deep as deep | measures: count_distinct(metadata.user) as users | sort: deep',
    'select: id, scores | filter: scores.exact = 1 | limit: 3000',
  ]
  return [
    ...asked.map((clauses) => ({ query: `${logs} | ${clauses}` })),
    { query: `${logs} | ${asked[0]}`, version },
    { query: `${logs} | select: id, output | filter: id = 'r1'`, version },
  ]
}

async function answersOf(engine: Engine): Promise<string[]> {
  const view = await ownerGate(engine.catalog)
  const given: string[] = []
  for (const request of queries()) {
    const { rows } = await engine.query({ ...request, view })
    const parts: string[] = []
    for await (const { bytes } of rows) parts.push(Buffer.from(bytes).toString())
    given.push(parts.join(',\n'))
  }
  return given
}

/** Queries whose answers are not what they were. */
async function changedAnswers(engine: Engine): Promise<string[]> {
  const given = await answersOf(engine)
  return queries().flatMap(({ query }, i) => (given[i] === answers[i] ? [] : [query]))
}

/** What is wrong with the directory's segments, which nobody has open. */
async function openedAnew(directory: string) {
  const engine = await openEngine(directory)
  try {
    return { changed: await changedAnswers(engine), damage: engine.status().damage }
  } finally {
    await engine.close()
  }
}

/** Sockets cannot be copied. */
function isNoLock(path: string): boolean {
  return !basename(path).startsWith('lock')
}

async function withCopy(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await makeTemporaryDirectory('damaged')
  try {
    await cp(whole, directory, { recursive: true, filter: isNoLock })
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

describe('segments that are damaged', () => {
  test.each(damagedKinds)(
    'in %s change no answer, and are made again',
    async (kind) => {
      let found = 0
      for (let trial = 0; trial < trialsOfKind; trial++) {
        await withCopy(async (directory) => {
          const told = await damageSegments(
            directory,
            kind,
            randomOf(randomSeed + 1000 * kind.length + trial),
          )
          const engine = await openEngine(directory)
          try {
            expect(await changedAnswers(engine), told).toEqual([])
            found += engine.status().damage.found
            await engine.flush()
            await engine.compact()
            expect(engine.status().damage.left, told).toBe(0)
            expect(await changedAnswers(engine), told).toEqual([])
          } finally {
            await engine.close()
          }
          if (!isSlow) return
          const again = await openedAnew(directory)
          expect(again.changed, told).toEqual([])
          expect(again.damage.found, told).toBe(0)
        })
      }
      if (isSlow)
        console.log(
          `${kind}: ${trialsOfKind} values damaged, ${found} found by queries, seed ${randomSeed}`,
        )
    },
    1_200_000,
  )

  test('are found by reading all now and then', { timeout: 120_000 }, async () => {
    await withCopy(async (directory) => {
      // A merge would find the damage, too, if there was anything to merge.
      const before = await openEngine(directory)
      await before.flush()
      await before.compact()
      await before.close()
      // Some of it is in the bytes that fill up between values, where it is none.
      const random = randomOf(randomSeed)
      for (let i = 0; i < 10; i++) await damageSegments(directory, 'columns', random)
      const engine = await Engine.open({
        dataDirectory: directory,
        workers: 1,
        maintenance: { limits, scrubBytesPerSecond: 2 ** 30 },
      })
      try {
        const { scrub } = await until(engine, (status) => status.scrub.rounds > 0)
        expect(scrub.found).toMatchObject({ indexes: 0, records: 0 })
        expect(scrub.found.segments).toBeGreaterThan(0)
        await until(engine, ({ damage }) => damage.found === scrub.found.segments)
        await until(engine, ({ damage }) => damage.left === 0)
        expect(scrub.bytes).toBeGreaterThan(2 ** 20)
      } finally {
        await engine.close()
      }
    })
  })
})

async function until(engine: Engine, is: (status: EngineStatus) => boolean): Promise<EngineStatus> {
  for (;;) {
    const status = engine.status()
    if (is(status)) return status
    await new Promise((done) => setTimeout(done, 50))
  }
}
