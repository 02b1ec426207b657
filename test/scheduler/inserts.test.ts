import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Engine } from '../../src/engine.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

/** An engine that prepares rows in threads, and two organizations that have an experiment each. */
async function openEngine() {
  const directory = await makeTemporaryDirectory('inserts')
  const engine = await Engine.open({ dataDirectory: directory, workers: 2 })
  onTestFinished(async () => {
    await engine.close()
    await rm(directory, { recursive: true })
  })
  const owned = async (name: string) => {
    const view = await ownerGate(engine.catalog, name)
    const { entry: project } = await view.findOrCreate('project', { name: 'p' })
    const { entry } = await view.findOrCreate('experiment', { project_id: project.id, name: 'e' })
    const rowsOf = async (clauses: string) => {
      const query = `from: experiment('${entry.id}') | ${clauses}`
      const { rows } = await engine.query({ query, view, separator: '\n' })
      const found: Record<string, unknown>[] = []
      for await (const { bytes } of rows) {
        const lines = Buffer.from(bytes).toString().split('\n')
        found.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>))
      }
      return found
    }
    return { view, id: entry.id, rowsOf }
  }
  return { engine, ours: await owned('ours'), theirs: await owned('theirs') }
}

test('of many small bodies at the same time each gets its own answer, and fails alone', async () => {
  const { engine, ours, theirs } = await openEngine()
  const rowsOf = (i: number) =>
    Array.from({ length: 1 + (i % 7) }, (_, row) => ({
      id: `${i}/${row}`,
      experiment_id: i % 10 === 3 ? theirs.id : ours.id,
      input: `row ${row} of request ${i}`,
      ...(i % 10 === 5 && { tags: 'no list' }),
    }))
  const outcomes = await Promise.allSettled(
    Array.from({ length: 200 }, (_, i) => {
      const body = Buffer.from(JSON.stringify({ rows: rowsOf(i) }))
      return engine.insert({ body, form: 'logs3', view: ours.view })
    }),
  )
  const written = new Map<string, string>()
  outcomes.forEach((outcome, i) => {
    if (i % 10 === 3) {
      expect(outcome).toMatchObject({ reason: { code: 'ACCESS_DENIED' } })
    } else if (i % 10 === 5) {
      expect(outcome).toMatchObject({ reason: { code: 'REQUEST_INVALID', path: 'rows[0].tags' } })
    } else {
      const ids = rowsOf(i).map(({ id }) => id)
      expect(outcome).toMatchObject({ value: { ids } })
      const { transactionId } = (outcome as PromiseFulfilledResult<{ transactionId: string }>).value
      for (const id of ids) written.set(id, transactionId)
    }
  })
  const found = await ours.rowsOf('select: id, _xact_id, input')
  expect(new Map(found.map((row) => [row.id, row._xact_id]))).toEqual(written)
  for (const { id, input } of found) {
    const [request, row] = String(id).split('/')
    expect(input).toBe(`row ${row} of request ${request}`)
  }
  expect(await theirs.rowsOf('select: id')).toEqual([])
  const requests = new Set([...written.keys()].map((id) => id.split('/')[0]))
  expect(new Set(written.values()).size).toBe(requests.size)
})

test('merges into one record, from bodies that go together, lose nothing', async () => {
  const { engine, ours } = await openEngine()
  const inserts = Array.from({ length: 100 }, (_, i) => {
    const event = { id: 'one', _is_merge: true, metadata: { [`field ${i}`]: i } }
    const body = Buffer.from(JSON.stringify({ events: [event] }))
    const object = { type: 'experiment', id: ours.id } as const
    return engine.insert({ body, form: 'events', object, view: ours.view })
  })
  await Promise.all(inserts)
  const [row] = await ours.rowsOf('select: metadata')
  expect(Object.keys(row!.metadata as object)).toHaveLength(100)
  expect(await ours.rowsOf('select: id')).toEqual([{ id: 'one' }])
})

test('a few small bodies at the same time, whose rows fill no block, are written', async () => {
  const { engine, ours } = await openEngine()
  const object = { type: 'experiment', id: ours.id } as const
  const insert = (id: string) => {
    const body = Buffer.from(JSON.stringify({ events: [{ id }] }))
    return engine.insert({ body, form: 'events', object, view: ours.view })
  }
  for (let turn = 0; turn < 10; turn++) {
    await Promise.all([0, 1, 2].map((writer) => insert(`${turn}/${writer}`)))
  }
  expect(await ours.rowsOf('select: id')).toHaveLength(30)
})
