import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Catalog } from '../../src/catalog/catalog.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'

let directory: string
let records: RecordsEnvironment
let catalog: Catalog

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-catalog-'))
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
})

afterEach(async () => {
  await records.root.close()
  rmSync(directory, { recursive: true })
})

async function reopen() {
  await records.root.close()
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
}

async function project(name = 'p') {
  return (await catalog.findOrCreateProject({ org_id: 'org', name })).entry
}

test('a project comes with its logs, and every key that REST answers', async () => {
  const { id, created, ...rest } = await project('Weather')
  expect(rest).toEqual({
    org_id: 'org',
    name: 'Weather',
    description: null,
    deleted_at: null,
    user_id: null,
    settings: null,
  })
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(created).toMatch(/^\d{4}-.*Z$/)
  expect(catalog.object('project_logs', id)).toEqual({
    number: 1,
    type: 'project_logs',
    id,
    projectId: id,
    organizationId: 'org',
    name: 'Weather',
  })
})

test('creating at the same time finds the one that was first', async () => {
  const made = await Promise.all(
    Array.from({ length: 20 }, () => catalog.findOrCreateProject({ org_id: 'org', name: 'p' })),
  )
  expect(new Set(made.map(({ entry }) => entry.id)).size).toBe(1)
  expect(made.filter(({ found }) => !found)).toHaveLength(1)
})

test('names are per organization, per project and per type', async () => {
  const other = (await catalog.findOrCreateProject({ org_id: 'other', name: 'p' })).entry
  const mine = await project()
  expect(other.id).not.toBe(mine.id)
  const given = { project_id: mine.id, name: 'x' }
  const experiment = (await catalog.findOrCreateExperiment(given)).entry
  const dataset = (await catalog.findOrCreateDataset(given)).entry
  const elsewhere = (await catalog.findOrCreateDataset({ ...given, project_id: other.id })).entry
  expect(new Set([experiment.id, dataset.id, elsewhere.id]).size).toBe(3)
  expect(catalog.objectsInProject(mine.id).map(({ type }) => type)).toEqual([
    'project_logs',
    'experiment',
    'dataset',
  ])
})

test('a found entry is returned as it was made', async () => {
  const { id } = await project()
  const first = { project_id: id, name: 'x', description: 'first' }
  await catalog.findOrCreateExperiment(first)
  const again = await catalog.findOrCreateExperiment({ ...first, description: 'second' })
  expect(again).toMatchObject({ found: true, entry: { description: 'first', public: false } })
})

test('everything is there again after closing and opening, and numbers go on', async () => {
  const { id } = await project()
  const experiment = (await catalog.findOrCreateExperiment({ project_id: id, name: 'a' })).entry
  const dataset = (await catalog.findOrCreateDataset({ project_id: id, name: 'Ä b/c' })).entry
  const objects = catalog.objectsInProject(id)
  await reopen()
  expect(catalog.experiment(experiment.id)).toEqual(experiment)
  expect(catalog.dataset(dataset.id)).toEqual(dataset)
  expect(dataset.url_slug).toBe(`ä-b-c-${dataset.id.slice(0, 4)}`)
  expect(catalog.objectsInProject(id)).toEqual(objects)
  const next = (await catalog.findOrCreateDataset({ project_id: id, name: 'next' })).entry
  expect(catalog.object('dataset', next.id)?.number).toBe(4)
})

test('any name is a name', async () => {
  const { id } = await project('__proto__')
  const names = ['', ' ', '__proto__', 'constructor', '/', '\0', '💧', 'x'.repeat(100_000)]
  const made = []
  for (const name of names) {
    made.push((await catalog.findOrCreateExperiment({ project_id: id, name })).entry)
  }
  expect(new Set(made.map((entry) => entry.id)).size).toBe(names.length)
  await reopen()
  for (const entry of made) expect(catalog.experiment(entry.id)).toEqual(entry)
})

test('what is deleted is invisible, and its number is not given again', async () => {
  const { id } = await project()
  const { entry } = await catalog.findOrCreateDataset({ project_id: id, name: 'd' })
  const deleted = { number: 2, entry: { ...entry, deleted_at: '2026-01-01T00:00:00.000Z' } }
  const key = Buffer.from(`dataset/${entry.id}`)
  await records.catalog.put(key, Buffer.from(JSON.stringify(deleted)))
  await reopen()
  expect(catalog.dataset(entry.id)).toBeUndefined()
  expect(catalog.object('dataset', entry.id)).toBeUndefined()
  const again = await catalog.findOrCreateDataset({ project_id: id, name: 'd' })
  expect(again.found).toBe(false)
  expect(catalog.object('dataset', again.entry.id)?.number).toBe(3)
})

test('an id names an object of one type only', async () => {
  const { id } = await project()
  const { entry } = await catalog.findOrCreateExperiment({ project_id: id, name: 'e' })
  expect(catalog.object('dataset', entry.id)).toBeUndefined()
  expect(catalog.object('project_logs', entry.id)).toBeUndefined()
  expect(catalog.object('experiment', '__proto__')).toBeUndefined()
})

test('a project has prompts and views under numbers that no other object gets', async () => {
  const [first, second] = [await project('a'), await project('b')]
  const types = ['project_logs', 'project_prompts', 'project_views'] as const
  const numbers = () =>
    [first, second].flatMap(({ id }) => types.map((type) => catalog.object(type, id)?.number))
  expect(numbers()).toEqual([1, 2 ** 29 + 1, 2 ** 30 + 1, 2, 2 ** 29 + 2, 2 ** 30 + 2])
  const before = numbers()
  await reopen()
  expect(numbers()).toEqual(before)
  expect(catalog.objectsInProject(first.id).map(({ type }) => type)).toEqual(['project_logs'])
})

test('playgrounds are found by name again, also after a restart', async () => {
  const { id: project_id } = await project()
  const made = await catalog.findOrCreatePromptSession({ project_id, name: 'play' })
  expect(made.found).toBe(false)
  await reopen()
  const again = await catalog.findOrCreatePromptSession({ project_id, name: 'play' })
  expect(again).toEqual({ entry: made.entry, found: true })
  expect(catalog.objectsByName('org', 'playground_logs', 'play')).toMatchObject([
    { id: made.entry.id, projectId: project_id, type: 'playground_logs' },
  ])
})
