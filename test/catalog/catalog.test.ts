import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog, type CatalogChange } from '../../src/catalog/catalog.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'

let directory: string
let records: RecordsEnvironment
let catalog: Catalog
let org_id: string

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'assay-catalog-'))
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
  org_id = (await catalog.create('organization', { name: 'ours' }, system)).id
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

function project(name = 'p') {
  return catalog.create('project', { org_id, name }, system)
}

const actor = { userId: 'acting', realUserId: 'real', keyId: 'key' }

test('a project comes with its logs, and every key that REST answers', async () => {
  const { id, created, ...rest } = await project('Weather')
  expect(rest).toEqual({
    org_id,
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
    organizationId: org_id,
    name: 'Weather',
  })
})

test('creating at the same time finds the one that was first', async () => {
  const made = await Promise.all(
    Array.from({ length: 20 }, () =>
      catalog.findOrCreate('project', { org_id, name: 'p' }, system),
    ),
  )
  expect(new Set(made.map(({ entry }) => entry.id)).size).toBe(1)
  expect(made.filter(({ found }) => !found)).toHaveLength(1)
})

test('names are per organization, per project and per kind', async () => {
  const theirs = await catalog.create('organization', { name: 'theirs' }, system)
  const other = await catalog.create('project', { org_id: theirs.id, name: 'p' }, system)
  const mine = await project()
  const given = { project_id: mine.id, name: 'x' }
  const experiment = await catalog.create('experiment', given, system)
  const dataset = await catalog.create('dataset', given, system)
  const elsewhere = await catalog.create('dataset', { ...given, project_id: other.id }, system)
  expect(new Set([experiment.id, dataset.id, elsewhere.id]).size).toBe(3)
  expect(catalog.objectsInProject(mine.id).map(({ type }) => type)).toEqual([
    'project_logs',
    'experiment',
    'dataset',
  ])
  expect(catalog.objectsByName(org_id, 'dataset', 'x')).toMatchObject([{ id: dataset.id }])
  await expect(catalog.create('dataset', given, system)).rejects.toThrow(/a dataset named "x"/)
})

test('a found entry is returned as it was made', async () => {
  const { id } = await project()
  const first = { project_id: id, name: 'x', description: 'first' }
  await catalog.create('experiment', first, system)
  const again = { ...first, description: 'second' }
  expect(await catalog.findOrCreate('experiment', again, system)).toMatchObject({
    found: true,
    entry: { description: 'first', public: false },
  })
})

test('nothing is made in what is not there', async () => {
  const given = { project_id: 'none', name: 'x' }
  await expect(catalog.create('experiment', given, system)).rejects.toThrow(/Missing create access/)
  const { id } = await project()
  await catalog.remove('project', id, system)
  const made = catalog.create('experiment', { ...given, project_id: id }, system)
  await expect(made).rejects.toThrow(/Missing create access/)
})

test('everything is there again after closing and opening, and numbers go on', async () => {
  const { id: project_id } = await project()
  const experiment = await catalog.create('experiment', { project_id, name: 'a' }, system)
  const dataset = await catalog.create('dataset', { project_id, name: 'Ä b/c' }, system)
  const tag = await catalog.create('project_tag', { project_id, name: 't', user_id: 'u' }, system)
  const objects = catalog.objectsInProject(project_id)
  await reopen()
  expect(catalog.get('experiment', experiment.id)).toEqual(experiment)
  expect(catalog.get('dataset', dataset.id)).toEqual(dataset)
  expect(catalog.named('project_tag', project_id, 't')).toEqual(tag)
  expect(dataset.url_slug).toBe(`ä-b-c-${dataset.id.slice(0, 4)}`)
  expect(catalog.objectsInProject(project_id)).toEqual(objects)
  const next = await catalog.create('dataset', { project_id, name: 'next' }, system)
  expect(catalog.object('dataset', next.id)?.number).toBe(4)
  const names = Array.from(catalog.list('dataset', { parentId: project_id }), ({ name }) => name)
  expect(names).toEqual(['next', 'Ä b/c'])
})

test('any name is a name', async () => {
  const { id: project_id } = await project('__proto__')
  const names = ['', ' ', '__proto__', 'constructor', '/', '\0', '💧', 'x'.repeat(100_000)]
  const made = []
  for (const name of names) {
    made.push(await catalog.create('experiment', { project_id, name }, system))
  }
  await reopen()
  for (const entry of made) {
    expect(catalog.get('experiment', entry.id)).toEqual(entry)
    expect(catalog.named('experiment', project_id, entry.name)).toEqual(entry)
  }
})

test('an update changes what it names, and a name only to a free one', async () => {
  const { id: project_id } = await project()
  const [a, b] = [
    await catalog.create('dataset', { project_id, name: 'a', description: 'd' }, system),
    await catalog.create('dataset', { project_id, name: 'b' }, system),
  ]
  await expect(catalog.update('dataset', a.id, { name: 'b' }, system)).rejects.toMatchObject({
    code: 'REQUEST_CONFLICT',
  })
  const renamed = await catalog.update('dataset', a.id, { name: 'c' }, system)
  expect(renamed).toEqual({ ...a, name: 'c' })
  expect(catalog.named('dataset', project_id, 'a')).toBeUndefined()
  expect(catalog.object('dataset', a.id)?.name).toBe('c')
  expect(catalog.object('dataset', b.id)?.name).toBe('b')
  await catalog.update('dataset', b.id, { name: 'a' }, system)
  await reopen()
  expect(catalog.named('dataset', project_id, 'a')?.id).toBe(b.id)
  expect(catalog.get('dataset', a.id)).toEqual(renamed)
})

test('what is removed is not there any more, and its name and nothing else can be used again', async () => {
  const { id: project_id } = await project()
  const entry = await catalog.create('dataset', { project_id, name: 'd' }, system)
  const removed = await catalog.remove('dataset', entry.id, system)
  expect(removed).toEqual({ ...entry, deleted_at: expect.stringMatching(/Z$/) })
  const isGone = () => {
    expect(catalog.get('dataset', entry.id)).toBeUndefined()
    expect(catalog.object('dataset', entry.id)).toBeUndefined()
    expect(catalog.objectsInProject(project_id)).toHaveLength(1)
    expect([...catalog.list('dataset')]).toEqual([])
  }
  isGone()
  await reopen()
  isGone()
  const again = await catalog.create('dataset', { project_id, name: 'd' }, system)
  expect(catalog.object('dataset', again.id)?.number).toBe(3)
  await expect(catalog.remove('dataset', entry.id, system)).rejects.toThrow(/Missing delete access/)
})

test('a project takes with it all that it has', async () => {
  const { id: project_id } = await project()
  const other = await project('other')
  const dataset = await catalog.create('dataset', { project_id, name: 'd' }, system)
  const given = { dataset_id: dataset.id, name: 's', xact_id: '1' }
  const snapshot = await catalog.create('dataset_snapshot', given, system)
  const kept = await catalog.create('dataset', { project_id: other.id, name: 'kept' }, system)
  const right = {
    object_type: 'dataset',
    object_id: dataset.id,
    user_id: 'u',
    permission: 'read',
    _object_org_id: org_id,
  } as const
  const acl = await catalog.create('acl', right, system)
  await catalog.remove('project', project_id, system)
  const isGone = () => {
    expect(catalog.get('project', project_id)).toBeUndefined()
    expect(catalog.get('dataset', dataset.id)).toBeUndefined()
    expect(catalog.get('dataset_snapshot', snapshot.id)).toBeUndefined()
    expect(catalog.get('acl', acl.id)).toBeUndefined()
    expect(catalog.object('dataset', dataset.id)).toBeUndefined()
    expect(catalog.object('project_prompts', project_id)).toBeUndefined()
    expect(catalog.get('dataset', kept.id)).toEqual(kept)
    expect([...catalog.list('dataset', { organizationId: org_id })]).toEqual([kept])
  }
  isGone()
  await reopen()
  isGone()
})

test('records of what is removed are to be removed from disk, until that is done', async () => {
  const { id: project_id } = await project()
  await catalog.create('dataset', { project_id, name: 'd' }, system)
  await catalog.remove('project', project_id, system)
  await reopen()
  expect(new Set(catalog.purges())).toEqual(new Set([1, 2 ** 29 + 1, 2 ** 30 + 1, 2]))
  await catalog.purged([1, 2])
  await reopen()
  expect(new Set(catalog.purges())).toEqual(new Set([2 ** 29 + 1, 2 ** 30 + 1]))
})

test('who is removed is taken out of groups, and loses keys and rights', async () => {
  const user = await catalog.create('user', {}, system)
  const given = { org_id, name: 'g', member_users: [user.id, 'other'] }
  const group = await catalog.create('group', given, system)
  const key = { org_id, user_id: user.id, name: 'k', preview_name: 'k', hash: 'h' }
  const apiKey = await catalog.create('api_key', key, system)
  await catalog.remove('user', user.id, system)
  const isOut = () => {
    expect(catalog.get('group', group.id)?.member_users).toEqual(['other'])
    expect(catalog.get('api_key', apiKey.id)).toBeUndefined()
  }
  isOut()
  await reopen()
  isOut()
})

test('changes happen together or not at all', async () => {
  const failed = catalog.change(system, (change) => {
    const { id } = change.create('project', { org_id, name: 'p' })
    change.create('experiment', { project_id: id, name: 'e' })
    expect(change.named('project', org_id, 'p')?.id).toBe(id)
    change.create('experiment', { project_id: id, name: 'e' })
  })
  await expect(failed).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' })
  expect(catalog.named('project', org_id, 'p')).toBeUndefined()
  const made = await catalog.change(system, (change) => {
    const { id } = change.create('project', { org_id, name: 'p' })
    change.update('project', id, { name: 'q' })
    return change.create('experiment', { project_id: id, name: 'e' })
  })
  expect(catalog.named('project', org_id, 'q')?.id).toBe(made.project_id)
  expect(catalog.named('project', org_id, 'p')).toBeUndefined()
  expect(catalog.object('experiment', made.id)?.number).toBe(2)
})

test('the trail tells who changed what, and no secret', async () => {
  const { id } = await project()
  await catalog.update('project', id, { description: 'new' }, actor)
  await catalog.update('project', id, { description: 'new' }, actor)
  await catalog.remove('project', id, actor)
  const key = { org_id, user_id: 'u', name: 'k', preview_name: 'k', hash: 'secret' }
  await catalog.create('api_key', key, system)
  await reopen()
  const trail = [...catalog.auditTrail(org_id)]
  expect(trail.map(({ action, entry_type }) => `${action} ${entry_type}`)).toEqual([
    'create api_key',
    'delete project',
    'update project',
    'create project',
    'create organization',
  ])
  expect(JSON.stringify(trail)).not.toContain('secret')
  expect(trail[2]).toMatchObject({
    user_id: 'acting',
    real_user_id: 'real',
    key_id: 'key',
    entry_name: 'p',
    before: { description: null },
    after: { description: 'new' },
  })
  const ofProject = [...catalog.auditTrail(org_id, id)]
  expect(ofProject).toEqual(trail.slice(1, 4))
  expect([...catalog.auditTrail(org_id, id, trail[2]!.id)]).toEqual(trail.slice(3, 4))
  expect([...catalog.auditTrail('another', id)]).toEqual([])
})

test('listeners hear of a change when it is visible', async () => {
  const heard: (readonly CatalogChange[])[] = []
  const stop = catalog.onChange((changes) => {
    heard.push(changes)
    for (const { kind, id, after } of changes) expect(catalog.get(kind, id)).toEqual(after)
  })
  const { id } = await project()
  await catalog.create('dataset', { project_id: id, name: 'd' }, system)
  await catalog.remove('project', id, system)
  stop()
  await project()
  expect(heard.map((changes) => changes.map(({ kind }) => kind))).toEqual([
    ['project'],
    ['dataset'],
    ['project', 'dataset'],
  ])
})

test('a page goes on beyond an entry that has been removed', async () => {
  const { id: project_id } = await project()
  const made = []
  for (const name of ['a', 'b', 'c', 'd']) {
    made.push(await catalog.create('dataset', { project_id, name }, system))
  }
  await catalog.remove('dataset', made[2]!.id, system)
  const beyond = catalog.positionOf('dataset', made[2]!.id)!.sequence
  const names = (direction: 'older' | 'newer') =>
    Array.from(
      catalog.list('dataset', { parentId: project_id }, { beyond, direction }),
      ({ name }) => name,
    )
  expect(names('older')).toEqual(['b', 'a'])
  expect(names('newer')).toEqual(['d'])
})

test('an id names an object of one type only', async () => {
  const { id: project_id } = await project()
  const entry = await catalog.create('experiment', { project_id, name: 'e' }, system)
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
  const given = { project_id, name: 'play' }
  const made = await catalog.create('prompt_session', given, system)
  await reopen()
  expect(await catalog.findOrCreate('prompt_session', given, system)).toEqual({
    entry: made,
    found: true,
  })
  expect(catalog.objectsByName(org_id, 'playground_logs', 'play')).toMatchObject([
    { id: made.id, projectId: project_id, type: 'playground_logs' },
  ])
})
