import { rm } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Engine, type QueryRequest } from '../../src/engine.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

type Step =
  | { readonly kind: 'write'; readonly rows: readonly (readonly [id: number, n: number])[] }
  | { readonly kind: 'delete'; readonly ids: readonly number[] }
  | { readonly kind: 'flush' }
  | { readonly kind: 'compact' }

const id = fc.integer({ min: 0, max: 9 })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.tuple(id, fc.integer({ min: 0, max: 99 })), { minLength: 1, maxLength: 8 })
      .map((rows) => ({ kind: 'write', rows }) as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(id, { minLength: 1, maxLength: 3 })
      .map((ids) => ({ kind: 'delete', ids }) as const),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'flush' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'compact' } as const) },
)

/** Records in the order of their first write since they were last deleted. */
type Model = ReadonlyMap<number, number>

function applied(model: Model, change: Step): Model {
  const next = new Map(model)
  if (change.kind === 'write') for (const [id, n] of change.rows) next.set(id, n)
  if (change.kind === 'delete') for (const id of change.ids) next.delete(id)
  return next
}

interface Row {
  readonly id: string
  readonly n: number
}

/** Newest first. */
function rowsOf(model: Model): Row[] {
  return Array.from(model, ([id, n]) => ({ id: `${id}`, n })).reverse()
}

/** One engine for all runs: each has an experiment of its own. */
async function openEngine() {
  const directory = await makeTemporaryDirectory('history')
  const engine = await Engine.open({
    dataDirectory: directory,
    workers: 0,
    maintenance: { automatic: false, limits: { rows: 4 } },
  })
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  let experiments = 0
  return {
    engine,
    view,
    close: async () => {
      await engine.close()
      await rm(directory, { recursive: true })
    },
    newExperiment: async () => {
      const name = `e${experiments++}`
      const { entry } = await view.findOrCreate('experiment', { project_id: project.id, name })
      return entry.id
    },
  }
}

test('any history is seen as a replay of it, now and at every earlier version', async () => {
  const { engine, view, newExperiment, close } = await openEngine()
  const ask = async (request: Omit<QueryRequest, 'view' | 'separator'>) => {
    const result = await engine.query({ ...request, view, separator: '\n' })
    const rows: unknown[] = []
    for await (const { bytes } of result.rows) {
      for (const line of Buffer.from(bytes).toString().split('\n')) rows.push(JSON.parse(line))
    }
    return { rows, cursor: result.finish().cursor }
  }
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const experiment = await newExperiment()
        const from = `from: experiment('${experiment}')`
        const versions: { readonly version: string; readonly model: Model }[] = []
        let model: Model = new Map()
        for (const change of steps) {
          if (change.kind === 'flush') await engine.flush()
          if (change.kind === 'compact') await engine.compact()
          if (change.kind === 'flush' || change.kind === 'compact') continue
          model = applied(model, change)
          const events =
            change.kind === 'write'
              ? change.rows.map(([id, n]) => ({ id: `${id}`, metadata: { n } }))
              : change.ids.map((id) => ({ id: `${id}`, _object_delete: true }))
          const { transactionId } = await engine.insert({
            body: Buffer.from(JSON.stringify({ events })),
            form: 'events',
            object: { type: 'experiment', id: experiment },
            view,
          })
          versions.push({ version: transactionId, model })
        }
        const select = `select: id, metadata.n | ${from}`
        for (const { version, model } of versions) {
          expect((await ask({ query: select, version })).rows).toEqual(rowsOf(model))
        }
        const rows = rowsOf(model)
        const high = rows.filter(({ n }) => n >= 50)
        expect((await ask({ query: `${select} | limit: 3` })).rows).toEqual(rows.slice(0, 3))
        expect((await ask({ query: `${select} | limit: 2 | offset: 1` })).rows).toEqual(
          rows.slice(1, 3),
        )
        expect((await ask({ query: `${select} | filter: metadata.n >= 50` })).rows).toEqual(high)
        for (const useColumnstore of [true, false]) {
          const query = `${select} | filter: id in ['1', '2', '3'] | limit: 2`
          const wanted = rows.filter(({ id }) => ['1', '2', '3'].includes(id)).slice(0, 2)
          expect((await ask({ query, useColumnstore })).rows).toEqual(wanted)
        }
        const sorted = [...rows].sort((a, b) => b.n - a.n).slice(0, 4)
        expect((await ask({ query: `${select} | sort: metadata.n desc | limit: 4` })).rows).toEqual(
          sorted,
        )
        const measures = `measures: count(1) as c, sum(metadata.n) as s | ${from}`
        const total = rows.reduce((sum, { n }) => sum + n, 0)
        expect((await ask({ query: measures })).rows).toEqual([
          { c: rows.length, s: rows.length === 0 ? null : total },
        ])
        const paged: unknown[] = []
        for (let cursor: string | undefined = '', pages = 0; cursor !== undefined; pages++) {
          const clause: string = cursor === '' ? '' : ` | cursor: '${cursor}'`
          const page = await ask({ query: `${select} | limit: 3${clause}` })
          paged.push(...page.rows)
          cursor = page.cursor
          expect(pages).toBeLessThan(10)
        }
        expect(paged).toEqual(rows)
      }),
      { numRuns: process.env.ASSAY_SLOW ? 500 : 40 },
    )
  } finally {
    await close()
  }
}, 1_200_000)
