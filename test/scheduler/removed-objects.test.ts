import { rm } from 'node:fs/promises'
import { afterEach, expect, it } from 'vitest'
import { system } from '../../src/catalog/audit-trail.ts'
import { Engine } from '../../src/engine.ts'
import { closeSegments, openRecords, openSegments } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
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
  // A query whose steps are written down is run by tasks, which read while it goes on.
  const ask = async (id: string) =>
    engine.query({ query: `select: id | from: dataset('${id}')`, view, auditLog: true })
  const count = async (id: string) => {
    let rows = 0
    for await (const { rowCount } of (await ask(id)).rows) rows += rowCount
    return rows
  }
  await engine.flush()
  await engine.catalog.remove('dataset', gone, system)
  await expect(ask(gone)).rejects.toThrow()
  const reading = (await ask(kept)).rows[Symbol.asyncIterator]()
  await reading.next()
  await engine.removeObjects()
  await reading.return?.()
  expect(await engine.removeObjects()).toBe(true)
  expect(numbers.map(rowsOf)).toEqual([2, 0])
  expect(engine.catalog.purges()).toEqual([])
  expect(await count(kept)).toBe(2)
})

it('takes them from disk before they were ever flushed, and no flush writes them', async () => {
  const directory = await makeTemporaryDirectory('removed')
  cleanups.push(() => rm(directory, { recursive: true }))
  const open = async () => {
    const maintenance = { automatic: false }
    const engine = await Engine.open({ dataDirectory: directory, workers: 0, maintenance })
    return { engine, view: await ownerGate(engine.catalog) }
  }
  const { engine, view } = await open()
  const { entry: project } = await view.findOrCreate('project', { name: 'p' })
  const made = ['kept', 'gone'].map((name) =>
    view.findOrCreate('dataset', { project_id: project.id, name }),
  )
  const [kept, gone] = (await Promise.all(made)).map(({ entry }) => entry.id) as [string, string]
  const [number] = [gone].map((id) => engine.catalog.object('dataset', id)!.number)
  // Few rows are spans, many come with their columns.
  for (const rows of [2, 3000]) {
    for (const id of [kept, gone]) {
      const events = Array.from({ length: rows }, (_, i) => ({ id: `${rows} ${i}`, input: i }))
      const body = Buffer.from(JSON.stringify({ events }))
      await engine.insert({ body, form: 'events', object: { type: 'dataset', id }, view })
    }
  }
  await engine.catalog.remove('dataset', gone, system)
  expect(await engine.removeObjects()).toBe(true)
  expect(engine.catalog.purges()).toEqual([])
  await engine.flush()
  await engine.compact()
  await engine.close()
  const again = await open()
  cleanups.push(() => again.engine.close())
  const query = `from: dataset('${kept}') | measures: count(1) as n`
  const { rows } = await again.engine.query({ query, view: again.view })
  for await (const { bytes } of rows) {
    expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({ n: 3002 })
  }
  const segments = openSegments(directory, { readOnly: true })
  cleanups.push(() => closeSegments(segments))
  const held = new SegmentStore(segments).manifest().segments.flatMap(({ metadata }) => {
    return metadata.objects.map(({ object }) => object)
  })
  expect(held).not.toContain(number)
})
