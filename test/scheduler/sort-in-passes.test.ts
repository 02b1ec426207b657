/** Sorts whose keys do not fit into the memory of a query give the same rows as with more memory. */
import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Engine } from '../../src/engine.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const rowCount = 3000
const enough = 2 ** 30

/** The JSON of values of every kind. Many tie, so that passes end between rows that only their age tells apart. */
const values = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 20 }).map(String) },
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.string({ maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('null', 'true', 'false', '""', '"é"', '"\\ud83d"', '[1,"a"]', '{"a":{"b":1}}'),
  fc.constantFrom('12345678901234567890', '9007199254740993', '9007199254740992'),
)

const sorts = [
  'metadata.v',
  'metadata.v desc',
  'metadata.w desc, metadata.v',
  'metadata.w, id desc',
  'created desc',
  'input',
]

const clauses = [' | limit: 2100 | offset: 300', ' | filter: metadata.w > 1']

interface Logs {
  /** The answer, and how many tasks have scanned for it, where a query may hold so many bytes. */
  ask(query: string, budget: number): Promise<{ readonly rows: string; readonly scans: number }>
}

async function withLogs(rows: readonly string[], check: (logs: Logs) => Promise<void>) {
  const dataDirectory = await makeTemporaryDirectory('passes')
  let opened: { readonly engine: Engine; readonly budget: number } | undefined
  const open = async (budget: number) => {
    if (opened?.budget === budget) return opened.engine
    await opened?.engine.close()
    const engine = await Engine.open({
      dataDirectory,
      workers: 0,
      maintenance: { automatic: false, limits: { rows: 800 } },
      limits: { memory: { perQuery: budget, total: enough } },
    })
    opened = { engine, budget }
    return engine
  }
  try {
    const engine = await open(enough)
    const view = await ownerGate(engine.catalog)
    const { entry: project } = await view.findOrCreate('project', { name: 'p' })
    const object = { type: 'project_logs', id: project.id } as const
    const insert = async (events: readonly string[]) => {
      const body = Buffer.from(`{"events":[${events.join(',')}]}`)
      await engine.insert({ body, form: 'events', object, view })
    }
    // Some rows are in segments, others are not, and some of the former were written again.
    await insert(rows.slice(0, 2200))
    await engine.flush()
    await insert(rows.slice(2000))
    await check({
      ask: async (clauses, budget) => {
        const engine = await open(budget)
        const query = `from: project_logs('${project.id}') | ${clauses}`
        const view = await ownerGate(engine.catalog)
        const result = await engine.query({ query, view, auditLog: true, separator: '\n' })
        const chunks: Uint8Array[] = []
        for await (const { bytes } of result.rows) chunks.push(bytes, Buffer.from('\n'))
        const { auditLog = [] } = result.finish()
        const scans = auditLog.filter(({ event }) => event === 'scan').length
        return { rows: Buffer.concat(chunks).toString(), scans }
      },
    })
  } finally {
    await opened?.engine.close()
    await rm(dataDirectory, { recursive: true })
  }
}

it('gives the same rows in the same order in passes as at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(values, fc.integer({ min: 0, max: 3 })), { minLength: 50, maxLength: 200 }),
      async (given) => {
        const events = Array.from({ length: rowCount }, (_, i) => {
          const [v, w] = given[(i * 7919) % given.length]!
          return `{"id":"r${i}","input":"text ${i % 50}","metadata":{"v":${v},"w":${w}}}`
        })
        await withLogs(events, async ({ ask }) => {
          const queries = sorts.flatMap((sort, i) =>
            ['', clauses[i % clauses.length]!].map((clause) => {
              return `select: id, metadata.v as v | sort: ${sort}${clause}`
            }),
          )
          const expected = []
          for (const query of queries) expected.push(await ask(query, enough))
          for (const [i, query] of queries.entries()) {
            const { rows, scans } = await ask(query, 2 ** 15)
            expect({ query, rows }).toEqual({ query, rows: expected[i]!.rows })
            expect(scans).toBeGreaterThan(expected[i]!.scans)
          }
        })
      },
    ),
    { seed, numRuns: isSlow ? 20 : 1, endOnFailure: true },
  )
}, 120_000)

/** Longer than what a cursor may have; some tie, and of others only the end differs. */
const longValue = (i: number) => {
  const end = i % 7
  return i % 3 === 0
    ? JSON.stringify(Array(400).fill(`member ${end}`))
    : `"${'long '.repeat(1200)}${end}"`
}

it('goes on after rows whose sort keys are long, and among rows that tie in them', async () => {
  const events = Array.from({ length: rowCount }, (_, i) => {
    const v = i % 75 === 0 ? longValue(i) : i % 5
    return `{"id":"r${i}","metadata":{"v":${v},"w":${i % 2}}}`
  })
  await withLogs(events, async ({ ask }) => {
    const queries = ['metadata.v', 'metadata.v desc', 'metadata.w, metadata.v desc'].map((sort) => {
      return `select: id | sort: ${sort}`
    })
    const expected = []
    for (const query of queries) expected.push(await ask(query, enough))
    for (const [i, query] of queries.entries()) {
      const { rows, scans } = await ask(query, 2 ** 17)
      expect({ query, rows }).toEqual({ query, rows: expected[i]!.rows })
      expect(scans).toBeGreaterThan(expected[i]!.scans)
    }
  })
})
