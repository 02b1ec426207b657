/** Changes that wait together share a transaction, and still are as if they had come one by one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { EntryStore } from '../../src/catalog/entry-store.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'

let directory: string
let records: RecordsEnvironment
let catalog: Catalog
let org_id: string
let project_id: string
let writes: { mock: { calls: unknown[] }; mockRestore(): void }

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-queue-'))
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
  org_id = (await catalog.create('organization', { name: 'ours' }, system)).id
  project_id = (await catalog.create('project', { org_id, name: 'p' }, system)).id
  writes = vi.spyOn(EntryStore.prototype, 'write')
})

afterEach(async () => {
  writes.mockRestore()
  await records.root.close()
  rmSync(directory, { recursive: true })
})

function experiment(name: string) {
  return catalog.findOrCreate('experiment', { project_id, name }, system)
}

test('what is asked for at the same time is written together', async () => {
  const names = Array.from({ length: 100 }, (_, n) => `e${n % 50}`)
  const made = await Promise.all(names.map(experiment))
  expect(writes.mock.calls).toHaveLength(1)
  expect(made.filter(({ found }) => found)).toHaveLength(50)
  made.forEach(({ entry }, n) => {
    expect(entry).toEqual(made[n % 50]!.entry)
    expect(catalog.get('experiment', entry.id)).toEqual(entry)
  })
  expect([...catalog.auditTrail(org_id)].filter(({ entry_type }) => entry_type === 'experiment')) //
    .toHaveLength(50)
  const listed = Array.from(catalog.list('experiment'), ({ name }) => name)
  await records.root.close()
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
  expect(Array.from(catalog.list('experiment'), ({ name }) => name)).toEqual(listed)
  expect(listed.reverse()).toEqual(names.slice(0, 50))
})

test('each sees what came before it, and the trail has every step with who took it', async () => {
  const { entry } = await experiment('e')
  const as = (userId: string) => ({ userId })
  const [first, second, taken] = await Promise.allSettled([
    catalog.update('experiment', entry.id, { name: 'f' }, as('a')),
    catalog.update('experiment', entry.id, ({ name }) => ({ description: `was ${name}` }), as('b')),
    catalog.create('experiment', { project_id, name: 'f' }, as('c')),
  ])
  const again = await experiment('e')
  expect([first?.status, second?.status, taken?.status]).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
  ])
  expect(catalog.get('experiment', entry.id)).toMatchObject({ name: 'f', description: 'was f' })
  expect(again.found).toBe(false)
  const [now, before] = catalog.auditTrail(org_id, entry.id)
  expect(before).toMatchObject({ user_id: 'a', before: { name: 'e' }, after: { name: 'f' } })
  expect(now).toMatchObject({ user_id: 'b', after: { description: 'was f' } })
})

test('what takes something away comes after all that was asked for before it', async () => {
  const outcomes = await Promise.allSettled([
    experiment('a'),
    catalog.remove('project', project_id, system),
    experiment('b'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect([...catalog.list('experiment')]).toEqual([])
  expect(writes.mock.calls).toHaveLength(2)
})

test('what changes rights has a transaction of its own', async () => {
  const user = () => catalog.create('user', {}, system)
  await Promise.all([experiment('a'), user(), experiment('b'), experiment('c')])
  expect(writes.mock.calls).toHaveLength(3)
})

test('one that fails takes nothing with it', async () => {
  const outcomes = await Promise.allSettled([
    experiment('a'),
    catalog.change(system, (change) => {
      change.create('experiment', { project_id, name: 'half' })
      throw new Error('no')
    }),
    experiment('half'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[2]).toMatchObject({ value: { found: false } })
})
