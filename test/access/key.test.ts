import { afterEach, beforeEach, expect, test } from 'vitest'
import { Access, type Credentials } from '../../src/access/access.ts'
import { bootstrap } from '../../src/access/bootstrap.ts'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { storageError } from '../../src/storage/storage-error.ts'
import { writeCatalogBatch } from '../../src/storage/write/catalog-batch.ts'
import { AccessFixture, failure } from '../support/access-fixture.ts'

let fixture: AccessFixture
let access: Access

beforeEach(() => {
  fixture = new AccessFixture()
  access = fixture.access
})
afterEach(() => fixture.close())

test('an empty catalog gets an owner and a random key, once', async () => {
  const text = await bootstrap(access, undefined)
  expect(text).toMatch(/^sk-[\w-]{43}$/)
  const principal = access.authenticate({ authorization: `Bearer ${text}` })
  expect(fixture.catalog.get('organization', principal.organizationId)?.name).toBe('default')
  expect(() => access.gate(principal).requireOwner()).not.toThrow()

  const again = new Access(new Catalog(fixture.records))
  expect(await bootstrap(again, undefined)).toBeUndefined()
  expect(again.authenticate({ token: text })).toEqual(principal)
})

test('a given key is the owner’s, and a later one is too', async () => {
  expect(await bootstrap(access, 'sk-first')).toBeUndefined()
  expect(await bootstrap(access, 'sk-first')).toBeUndefined()
  expect(await bootstrap(access, 'sk-second')).toBeUndefined()
  expect([...fixture.catalog.list('api_key')]).toHaveLength(2)
  const first = access.authenticate({ token: 'sk-first' })
  expect(access.authenticate({ token: 'sk-second' }).userId).toBe(first.userId)
})

test('an organization without an owner, as of an older directory, gets its members as owners', async () => {
  const { id: org_id } = await fixture.catalog.create('organization', { name: 'old' }, system)
  const { id: user_id } = await fixture.catalog.create('user', {}, system)
  await fixture.catalog.create('member', { org_id, user_id }, system)
  const gate = fixture.gate(org_id, user_id)
  expect(failure(() => gate.requireOwner()).status).toBe(403)
  await bootstrap(access, 'sk-given')
  expect(() => gate.requireOwner()).not.toThrow()
  expect(access.authenticate({ token: 'sk-given' })).toMatchObject({ userId: user_id })
})

test('the text of a key is nowhere in the store', async () => {
  const text = await bootstrap(access, undefined)
  for (const { value } of fixture.records.catalog.getRange({})) {
    expect(value.toString()).not.toContain(text!.slice(8))
  }
})

test('missing, malformed, unknown, revoked keys and those of former members get the same error', async () => {
  await bootstrap(access, 'sk-right')
  const { organizationId } = access.authenticate({ token: 'sk-right' })
  const owner = fixture.gate(organizationId, access.authenticate({ token: 'sk-right' }).userId)
  const organization = { id: organizationId, ownerId: '', owner }

  const leaver = await fixture.member(organization, 'Viewers')
  const left = await fixture.gate(organizationId, leaver).keys.create('left')
  await owner.people.remove([leaver], [])
  const revoked = await owner.keys.create('revoked')
  expect(access.authenticate({ token: revoked.text }).keyId).toBe(revoked.key.id)
  await owner.remove('api_key', revoked.key.id)

  const wrong: Credentials[] = [
    {},
    { authorization: '' },
    { authorization: 'sk-right' },
    { authorization: 'Basic sk-right' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer sk-wrong' },
    { authorization: 'Bearer sk-right x' },
    { token: 'sk-wrong', authorization: 'Bearer sk-right' },
    { token: 'x'.repeat(100_000) },
    { token: revoked.text },
    { token: left.text },
    { token: 'sk-wrong', impersonate: 'somebody' },
  ]
  const errors = wrong.map((headers) => failure(() => access.authenticate(headers)))
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['ACCESS_UNAUTHENTICATED']))
  expect(new Set(errors.map(({ message }) => message)).size).toBe(1)
  expect(() => access.authenticate({ authorization: 'bearer  sk-right' })).not.toThrow()
})

test('a key opens the organization that it was made in, though its owner is in two', async () => {
  const [ours, theirs] = [await fixture.organization('a'), await fixture.organization('b')]
  await theirs.owner.people.invite({ ...nobody, emails: [emailOf(ours.ownerId)] })
  const both = fixture.gate(theirs.id, ours.ownerId)
  const { text } = await both.keys.create('theirs')
  const principal = access.authenticate({ token: text })
  expect(principal).toMatchObject({ userId: ours.ownerId, organizationId: theirs.id })
  // Owner there, nobody here.
  expect(failure(() => access.gate(principal).requireOwner()).status).toBe(403)
})

test('when a key was last used is kept, and changes nothing else', async () => {
  const { owner } = await fixture.organization('a')
  const { key, text } = await owner.keys.create('k')
  expect(fixture.catalog.get('api_key', key.id)?.used).toBeNull()
  const before = Date.now()
  for (let i = 0; i < 3; i++) access.authenticate({ token: text })
  await access.close()
  const noted = fixture.catalog.get('api_key', key.id)!
  expect(Date.parse(noted.used!)).toBeGreaterThanOrEqual(before)
  expect(noted).toEqual({ ...key, used: noted.used })
  await fixture.reopen()
  expect(fixture.catalog.get('api_key', key.id)).toEqual(noted)
  expect(fixture.access.authenticate({ token: text }).keyId).toBe(key.id)
})

test('only owners act for others, and the trail has both', async () => {
  const organization = await fixture.organization('a')
  const other = await fixture.organization('b')
  const engineer = await fixture.member(organization, 'Engineers')
  const { text } = await organization.owner.keys.create('k')
  const acting = access.authenticate({ token: text, impersonate: engineer })
  expect(acting).toMatchObject({ userId: engineer, realUserId: organization.ownerId })
  const byEmail = emailOf(engineer).toUpperCase()
  expect(access.authenticate({ token: text, impersonate: byEmail })).toEqual(acting)
  // It is the other's rights that count.
  expect(failure(() => access.gate(acting).requireOwner()).status).toBe(403)

  const { entry } = await access.gate(acting).findOrCreate('project', { name: 'p' })
  const [record] = organization.owner.auditTrail(entry.id)
  expect(record).toMatchObject({ user_id: engineer, real_user_id: organization.ownerId })

  const engineersKey = await fixture.gate(organization.id, engineer).keys.create('k')
  const refused = [
    { token: engineersKey.text, impersonate: organization.ownerId },
    { token: engineersKey.text, impersonate: 'nobody@example.com' },
    { token: text, impersonate: 'nobody@example.com' },
    { token: text, impersonate: other.ownerId },
    { token: text, impersonate: emailOf(other.ownerId) },
  ].map((headers) => failure(() => access.authenticate(headers)))
  expect(new Set(refused.map(({ status, message }) => `${status} ${message}`)).size).toBe(1)
  expect(refused[0]?.status).toBe(403)
})

test('only owners make service tokens, which open the same doors and end at once', async () => {
  const organization = await fixture.organization('a')
  const { owner } = organization
  const [account] = await owner.people.invite({
    ...nobody,
    serviceAccounts: [{ name: 'ci', tokenName: 'first' }],
    groupNames: ['Engineers'],
  })
  const principal = access.authenticate({ token: account!.api_key! })
  expect(principal.userId).toBe(account!.id)
  const bot = access.gate(principal)
  expect((await bot.findOrCreate('project', { name: 'p' })).found).toBe(false)
  await expect(bot.keys.createToken(account!.id, 'second', false)).rejects.toMatchObject({
    status: 403,
  })
  await expect(bot.keys.create('key')).rejects.toMatchObject({ status: 403 })
  await expect(owner.keys.createToken(organization.ownerId, 't', false)).rejects.toMatchObject({
    code: 'REQUEST_INVALID',
  })

  const replaced = await owner.keys.createToken(account!.id, 'first', true)
  expect(failure(() => access.authenticate({ token: account!.api_key! })).status).toBe(401)
  expect(access.authenticate({ token: replaced.text }).userId).toBe(account!.id)
  expect([...bot.list('service_token')]).toEqual([])
  expect([...owner.list('service_token')]).toHaveLength(1)
  await owner.remove('service_token', replaced.token.id)
  expect(failure(() => access.authenticate({ token: replaced.text })).status).toBe(401)
})

test('people see their own keys; who may change members sees and revokes all', async () => {
  const organization = await fixture.organization('a')
  const [first, second] = [await fixture.member(organization), await fixture.member(organization)]
  const gateOf = (id: string) => fixture.gate(organization.id, id)
  const { key } = await gateOf(first).keys.create('mine')
  expect([...gateOf(first).list('api_key')]).toEqual([key])
  expect([...gateOf(second).list('api_key')]).toEqual([])
  await expect(gateOf(second).remove('api_key', key.id)).rejects.toMatchObject({ status: 403 })
  expect([...organization.owner.list('api_key')]).toEqual([key])
  await organization.owner.remove('api_key', key.id)
  expect([...gateOf(first).list('api_key')]).toEqual([])
})

const nobody = { ids: [], emails: [], serviceAccounts: [], groupIds: [], groupNames: [] }

function emailOf(userId: string): string {
  return fixture.catalog.get('user', userId)!.email!
}

test('when keys were used, and all else, is in memory what it is on disk when a commit fails', async () => {
  let isFull = false
  const catalog = new Catalog(fixture.records, {
    write: async (batch) => {
      if (isFull)
        throw storageError('the change', Object.assign(new Error('full'), { code: 'ENOSPC' }))
      writeCatalogBatch(fixture.records, batch)
    },
  })
  const other = new Access(catalog)
  await bootstrap(other, 'sk-given-0123456789')
  other.authenticate({ token: 'sk-given-0123456789' })
  const keyIn = (one: Catalog) => [...one.list('api_key')][0]!
  const { org_id } = keyIn(catalog)
  isFull = true
  const full = { code: 'STORAGE_UNAVAILABLE', message: expect.stringContaining('no space left') }
  await expect(other.close()).rejects.toMatchObject(full)
  await expect(catalog.create('project', { org_id, name: 'p' }, system)).rejects.toMatchObject(full)
  await expect(catalog.remove('api_key', keyIn(catalog).id, system)).rejects.toMatchObject(full)
  expect(keyIn(catalog)).toEqual(keyIn(new Catalog(fixture.records)))
  expect([...catalog.list('project')]).toEqual([])
  isFull = false
  await other.close()
  await catalog.create('project', { org_id, name: 'p' }, system)
  const again = new Catalog(fixture.records)
  expect(keyIn(again).used).toMatch(/Z$/)
  expect(keyIn(catalog)).toEqual(keyIn(again))
  const numbers = Array.from(again.auditTrail(org_id), ({ id }) => Number(id))
  expect(numbers[0]! - numbers.at(-1)!).toBe(numbers.length - 1)
})
