import { rm } from 'node:fs/promises'
import { afterEach, expect, it } from 'vitest'
import { system } from '../../src/catalog/audit-trail.ts'
import { Engine } from '../../src/engine.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

it('takes the records of a deleted dataset from disk when no query reads them any more', async () => {
  const directory = await makeTemporaryDirectory('removed')
  cleanups.push(() => rm(directory, { recursive: true }))
  const maintenance = { automatic: false }
  const engine = await Engine.open({ dataDirectory: directory, workers: 0, maintenance })
  cleanups.push(() => engine.close())
  const view = await ownerGate(engine.catalog)
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  const datasets = await Promise.all(
    ['kept', 'gone'].map((name) => view.findOrCreate('dataset', { project_id: project.id, name })),
  )
  const [kept, gone] = datasets.map(({ entry }) => entry.id) as [string, string]
  const numbers = [kept, gone].map((id) => engine.catalog.object('dataset', id)!.number)
  for (const id of [kept, gone]) {
    const body = Buffer.from(JSON.stringify({ events: [{ id: 'a' }, { id: 'b', input: id }] }))
    await engine.insert({ body, form: 'events', object: { type: 'dataset', id }, view })
  }
  const records = openRecords(directory, { readOnly: true })
  cleanups.push(() => records.root.close())
  const rowsOf = (object: number) => {
    records.root.resetReadTxn()
    return [...new RecordReader(records).readDelta(object, 0, 2 ** 48 - 2)].length
  }
  const ask = (id: string) => engine.query({ query: `select: id | from: dataset('${id}')`, view })
  const count = async (id: string) => {
    let rows = 0
    for await (const { rowCount } of (await ask(id)).rows) rows += rowCount
    return rows
  }
  await engine.catalog.remove('dataset', gone, system)
  await expect(ask(gone)).rejects.toThrow()
  // They are still to be flushed.
  expect(await engine.removeObjects()).toBe(false)
  await engine.flush()
  const reading = (await ask(kept)).rows[Symbol.asyncIterator]()
  await reading.next()
  await engine.removeObjects()
  await reading.return?.()
  expect(await engine.removeObjects()).toBe(true)
  expect(numbers.map(rowsOf)).toEqual([2, 0])
  expect(engine.catalog.purges()).toEqual([])
  expect(await count(kept)).toBe(2)
})
