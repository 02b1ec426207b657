/** Entries of the catalog whose stored bytes are damaged: what is left of them, and of all that has to do with them. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Access } from '../../src/access/access.ts'
import { bootstrap } from '../../src/access/bootstrap.ts'
import { isOwner } from '../../src/access/guarded-change.ts'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import type { Change } from '../../src/catalog/change.ts'
import { type Entry, type EntryKind, entryKinds } from '../../src/catalog/entry.ts'
import { repairCatalog } from '../../src/catalog/repair-catalog.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import { randomOf } from '../support/damage.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { randomSeed } from '../support/random-seed.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

let directory: string
let records: RecordsEnvironment
const random = randomOf(randomSeed)

beforeEach(async () => {
  directory = await makeTemporaryDirectory('damaged-catalog')
  records = openRecords(directory, { readOnly: false })
})

afterEach(async () => {
  await records.root.close()
  await rm(directory, { recursive: true })
})

/** Flips one bit of what is stored under the key; what is returned puts it back. */
function damage(key: string): () => void {
  const { stored } = records.catalog
  const name = Buffer.from(key)
  const value = Buffer.from(stored.get(name)!)
  const damaged = Buffer.from(value)
  const bit = random(value.length * 8)
  damaged[bit >> 3]! ^= 1 << (bit & 7)
  stored.putSync(name, damaged)
  return () => stored.putSync(name, value)
}

/** Nothing tells any more what the entry was. */
function lose(kind: EntryKind, id: string): void {
  damage(`${kind}/${id}`)
  for (const key of [...records.catalog.getKeys({})].map(String)) {
    if (key.startsWith(`audit_of/${id}/`)) damage(key)
  }
}

const hashed = { hash: 'a'.repeat(64), preview_name: 'p', expires_at: null }

/** Two of each kind, some of which are changed once more. */
function makeAll(change: Change, org_id: string): void {
  for (const n of [1, 2]) {
    const name = `${n}`
    const user_id = change.create('user', { email: `${n}@example.com` }).id
    const made = { org_id, user_id, name }
    change.create('member', { org_id, user_id })
    const key = change.create('api_key', { ...made, ...hashed, hash: `${n}`.repeat(64) })
    change.create('service_token', {
      org_id,
      service_account_id: user_id,
      name,
      ...hashed,
      hash: `${n + 2}`.repeat(64),
    })
    change.create('password', { org_id, user_id, salt: 's', hash: 'h' })
    const expires = new Date(Date.now() + 1e6).toISOString()
    change.create('session', { org_id, user_id, key_id: key.id, hash: `${n}`, expires })
    const role = change.create('role', { org_id, name, member_roles: [] })
    const group = change.create('group', { org_id, name, member_users: [user_id] })
    change.create('environment', { org_id, name, slug: name } as never)
    change.create('ai_secret', { org_id, name, sealed: 'abc', preview_secret: 'x' } as never)
    change.create('org_automation', { org_id, name, config: {} } as never)
    const project = change.create('project', { org_id, name })
    const project_id = project.id
    change.create('project_group', { org_id, name, member_projects: [project_id] })
    for (const kind of [
      'experiment',
      'dataset',
      'prompt_session',
      'project_score',
      'project_tag',
      'project_automation',
      'span_iframe',
      'mcp_server',
      'agent',
    ] as const) {
      const id = randomUUID()
      change.create(kind, { id, project_id, name, user_id, config: {} } as never)
      if (kind === 'dataset') {
        change.create('dataset_snapshot', { dataset_id: id, name, xact_id: '1' })
      }
      if (n === 2) change.update(kind, id, { description: 'changed' } as never)
    }
    const action = { type: 'drop' } as const
    change.create('masking_rule', { org_id, project_id, name, path: 'input', action })
    const owner = { org_id, object_type: 'project', object_id: project_id, name } as const
    change.create('environment_object', { ...owner, environment_slug: name } as never)
    change.create('view', { ...owner, view_type: 'logs' } as never)
    change.create('env_var', { ...owner, sealed: 'abc', secret_category: 'env_var' } as never)
    const { object_type, object_id } = owner
    const given = { object_type, object_id, _object_org_id: org_id, role_id: role.id }
    change.create('acl', { ...given, group_id: group.id })
  }
}

async function made(): Promise<Catalog> {
  const catalog = new Catalog(records)
  const { id } = await catalog.create('organization', { name: 'o' }, system)
  await catalog.change(system, (change) => makeAll(change, id))
  const [tag] = catalog.list('project_tag')
  await catalog.remove('project_tag', tag!.id, system)
  const [project] = catalog.list('project')
  await catalog.update('project', project!.id, { name: 'renamed' }, system)
  await catalog.noteFiles(['a'.repeat(64)], { type: 'project_logs', id: project!.id })
  const purged = await catalog.create('project', { org_id: id, name: 'removed' }, system)
  await catalog.remove('project', purged.id, system)
  return catalog
}

function contentsOf(catalog: Catalog): Map<string, { readonly entry: Entry; number?: number }> {
  const found = entryKinds.flatMap((kind) =>
    Array.from(catalog.list(kind), (entry) => {
      const type = { project: 'project_logs', prompt_session: 'playground_logs' }[kind as string]
      const number = catalog.object((type ?? kind) as 'experiment', entry.id)?.number
      return [`${kind}/${entry.id}`, { entry, ...(number !== undefined && { number }) }] as const
    }),
  )
  return new Map(found)
}

const closedKinds = ['api_key', 'service_token', 'session']
const sealedKinds = ['ai_secret', 'env_var']

test('one damaged value of any kind keeps nothing else from being read, and all but secrets is made again', async () => {
  const expected = contentsOf(await made())
  const keys = Array.from(records.catalog.getKeys({}), String)
  for (const key of keys) {
    const undo = damage(key)
    const opened = new Catalog(records)
    const wanted = new Map(expected)
    const [kind = ''] = key.split('/')
    const known = wanted.get(key)
    if (known && closedKinds.includes(kind)) wanted.delete(key)
    if (known && sealedKinds.includes(kind)) {
      const entry = { ...known.entry, sealed: null, preview_secret: null } as Entry
      wanted.set(key, { entry })
    }
    const found = contentsOf(opened)
    if (kind === 'password' && known) {
      expect(found.get(key)?.entry).toMatchObject({ hash: Buffer.alloc(32).toString('base64') })
      wanted.set(key, found.get(key)!)
    }
    expect([...found], key).toEqual([...wanted])
    expect(opened.damaged.map((each) => `${each.kind}/${each.id}`)).toEqual(known ? [key] : [])
    // What is made now is another one, whatever the counters were.
    const org_id = [...opened.list('organization')][0]!.id
    const added = await opened.create('project', { org_id, name: `new ${key}` }, system)
    const { number } = opened.object('project_logs', added.id)!
    expect([...expected.values()].map((each) => each.number)).not.toContain(number)
    await opened.remove('project', added.id, system)
    undo()
  }
})

test('what is repaired is whole, and what cannot be is removed', async () => {
  const expected = contentsOf(await made())
  const keys = Array.from(records.catalog.getKeys({}), String)
  for (const key of keys) {
    const undo = damage(key)
    const { madeAgain, removed, left } = repairCatalog(records, [Buffer.from(key)])
    expect(madeAgain.length + removed.length, key).toBe(1)
    expect(left).toEqual([])
    const damages: unknown[] = []
    for (const _ of verifyRecords(records, (one) => damages.push(one)));
    expect(damages, key).toEqual([])
    const opened = new Catalog(records)
    expect(opened.damaged).toEqual([])
    const found = contentsOf(opened)
    const isRemoved = [...closedKinds, 'password'].includes(key.split('/')[0]!)
    expect([...found.keys()], key).toEqual(
      [...expected.keys()].filter((k) => k !== key || !isRemoved),
    )
    undo()
  }
})

test('entries that were made one after the other keep their places and numbers', async () => {
  const catalog = new Catalog(records)
  const { id: org_id } = await catalog.create('organization', { name: 'o' }, system)
  for (let n = 0; n < 9; n++) await catalog.create('project', { org_id, name: `${n}` }, system)
  const expected = [...contentsOf(catalog)]
  const keys = Array.from(records.catalog.getKeys({}), String).filter((k) =>
    k.startsWith('project/'),
  )
  for (const key of keys.filter(() => random(3) > 0)) damage(key)
  expect([...contentsOf(new Catalog(records))]).toEqual(expected)
})

test('a project of which nothing is known is an error that names it, and so is all that is in it', async () => {
  const catalog = await made()
  const gate = await ownerGate(catalog, 'test')
  const { entry: project } = await gate.findOrCreate('project', { name: 'p' })
  const { entry: experiment } = await gate.findOrCreate('experiment', {
    project_id: project.id,
    name: 'e',
  })
  await catalog.noteFiles(['b'.repeat(64)], { type: 'experiment', id: experiment.id })
  lose('project', project.id)
  const opened = new Catalog(records)
  const reader = await ownerGate(opened, 'test')
  const told = { code: 'STORAGE_CORRUPT', message: expect.stringContaining(project.id) }
  const asked: (() => unknown)[] = [
    () => reader.require('read', 'project', project.id),
    () => reader.readable('project_logs', project.id),
    () => reader.readable('experiment', experiment.id),
    () => reader.readableProject('p'),
    () => [...reader.list('experiment', { parentId: project.id })],
  ]
  for (const ask of asked) expect(ask, String(ask)).toThrow(expect.objectContaining(told))
  await expect(reader.findOrCreate('project', { name: 'p' })).rejects.toMatchObject(told)
  await expect(reader.remove('experiment', experiment.id)).rejects.toMatchObject(told)
  expect(opened.filePlaces('b'.repeat(64))).toMatchObject({ isLost: true, objects: [] })
  const [other] = [...reader.list('project', { name: 'other' })]
  expect(other).toBeUndefined()
  expect(repairCatalog(records, [Buffer.from(`project/${project.id}`)]).left).toHaveLength(1)
})

test.each(['acl', 'group', 'member', 'role', 'user', 'organization'] as const)(
  'nobody is given more when the %s that makes an owner is lost, nor after the repair',
  async (kind) => {
    const first = new Access(new Catalog(records))
    await bootstrap(first, 'sk-first-first-first-first')
    const { catalog } = first
    const [organization] = catalog.list('organization')
    const org_id = organization!.id
    const viewer = await catalog.change(system, (change) => {
      const user_id = change.create('user', { email: 'viewer@example.com' }).id
      change.create('member', { org_id, user_id })
      return user_id
    })
    const [owner] = [...catalog.list('member')].filter(({ user_id }) => user_id !== viewer)
    const [group] = [...catalog.list('group')].filter(({ member_users }) => member_users?.length)
    const [acl] = [...catalog.list('acl')].filter(({ group_id }) => group_id === group!.id)
    const ids = {
      acl: acl!.id,
      group: group!.id,
      member: owner!.id,
      role: acl!.role_id!,
      user: owner!.user_id,
      organization: org_id,
    }
    lose(kind, ids[kind])
    for (let start = 0; start < 2; start++) {
      const access = new Access(new Catalog(records))
      await bootstrap(access, 'sk-second-second-second')
      expect(isOwner(access.catalog, access.index, org_id, viewer)).toBe(false)
      if (start === 0) {
        const key = `${kind}/${ids[kind]}`
        const damages: Buffer[] = []
        for (const _ of verifyRecords(records, (one) => damages.push(Buffer.from(one.key, 'hex'))));
        repairCatalog(
          records,
          damages.filter((each) => each.toString() === key),
        )
      }
    }
  },
)

test('without a readable password none can be set but by who knows it', async () => {
  const catalog = await made()
  const [password] = catalog.list('password')
  damage(`password/${password!.id}`)
  const opened = new Access(new Catalog(records))
  const { org_id: organizationId, user_id: userId } = password!
  const principal = { organizationId, userId, keyId: null }
  await expect(
    opened.sessions.setPassword(principal, 'a long new password', ''),
  ).rejects.toMatchObject({ message: 'the current password is another' })
})

test('a session ends where the key that it began with is damaged', async () => {
  const first = new Access(new Catalog(records))
  await bootstrap(first, 'sk-first-first-first-first')
  const principal = first.authenticate({ token: 'sk-first-first-first-first' })
  const { text } = await first.sessions.start(principal)
  expect(first.sessions.find(text)).toBeDefined()
  damage(`api_key/${principal.keyId}`)
  const opened = new Access(new Catalog(records))
  expect(opened.sessions.find(text)).toBeUndefined()
  expect(() => opened.authenticate({ token: 'sk-first-first-first-first' })).toThrow(
    'no valid API key',
  )
})
