import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Authenticator } from '../../src/access/authenticate.ts'
import { bootstrap } from '../../src/access/bootstrap.ts'
import { Gate } from '../../src/access/gate.ts'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { AssayError } from '../../src/error.ts'
import { openRecords, type RecordsEnvironment } from '../../src/storage/environment.ts'

let directory: string
let records: RecordsEnvironment
let catalog: Catalog
let authenticator: Authenticator

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-access-'))
  records = openRecords(directory, { readOnly: false })
  catalog = new Catalog(records)
  authenticator = new Authenticator(catalog)
})

afterEach(async () => {
  await records.root.close()
  rmSync(directory, { recursive: true })
})

function failure(work: () => unknown): AssayError {
  try {
    work()
  } catch (error) {
    if (error instanceof AssayError) return error
    throw error
  }
  throw new Error('did not fail')
}

async function gateOf(organizationName: string) {
  const organization = await catalog.create('organization', { name: organizationName }, system)
  const user = await catalog.create('user', { given_name: 'someone' }, system)
  const owner = { org_id: organization.id, user_id: user.id }
  await catalog.create('member', owner, system)
  const { text } = await authenticator.issueKey(owner, 'test')
  return new Gate(catalog, authenticator.authenticate({ token: text }))
}

test('an empty catalog gets an owner and a random key, once', async () => {
  const text = await bootstrap(catalog, authenticator, undefined)
  expect(text).toMatch(/^sk-[\w-]{43}$/)
  const principal = authenticator.authenticate({ authorization: `Bearer ${text}` })
  expect(catalog.get('organization', principal.organizationId)?.name).toBe('default')
  expect(catalog.get('user', principal.userId)?.given_name).toBe('owner')

  const reloaded = new Catalog(records)
  const again = new Authenticator(reloaded)
  expect(await bootstrap(reloaded, again, undefined)).toBeUndefined()
  expect(again.authenticate({ token: text })).toEqual(principal)
})

test('a given key is the owner’s, and a later one is too', async () => {
  expect(await bootstrap(catalog, authenticator, 'sk-first')).toBeUndefined()
  expect(await bootstrap(catalog, authenticator, 'sk-first')).toBeUndefined()
  expect(await bootstrap(catalog, authenticator, 'sk-second')).toBeUndefined()
  expect([...catalog.list('api_key')]).toHaveLength(2)
  const first = authenticator.authenticate({ token: 'sk-first' })
  expect(authenticator.authenticate({ token: 'sk-second' }).userId).toBe(first.userId)
})

test('the text of a key is nowhere in the store', async () => {
  const text = await bootstrap(catalog, authenticator, undefined)
  for (const { value } of records.catalog.getRange({})) {
    expect(value.toString()).not.toContain(text!.slice(8))
  }
})

test('missing, malformed and unknown keys get one and the same error', async () => {
  await bootstrap(catalog, authenticator, 'sk-right')
  const wrong = [
    {},
    { authorization: '' },
    { authorization: 'sk-right' },
    { authorization: 'Basic sk-right' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer sk-wrong' },
    { authorization: 'Bearer sk-right x' },
    { token: 'sk-wrong', authorization: 'Bearer sk-right' },
    { token: 'x'.repeat(100_000) },
  ]
  const errors = wrong.map((headers) => failure(() => authenticator.authenticate(headers)))
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['ACCESS_UNAUTHENTICATED']))
  expect(new Set(errors.map(({ message }) => message)).size).toBe(1)
  expect(() => authenticator.authenticate({ authorization: 'bearer  sk-right' })).not.toThrow()
})

test('an organization sees and changes its own and nothing of another', async () => {
  const mine = await gateOf('mine')
  const theirs = await gateOf('theirs')
  const { entry: project } = await mine.findOrCreate('project', { name: 'p' })
  const given = { project_id: project.id, name: 'x' }
  const { entry: experiment } = await mine.findOrCreate('experiment', given)
  const { entry: dataset } = await mine.findOrCreate('dataset', given)

  expect(mine.readable('experiment', experiment.id)?.id).toBe(experiment.id)
  expect(mine.writable('dataset', dataset.id)?.id).toBe(dataset.id)
  expect(mine.readableInProject(project.id)).toHaveLength(3)
  expect(mine.require('read', 'experiment', experiment.id)).toMatchObject({
    user_id: mine.principal.userId,
  })
  expect([...mine.list('project')]).toEqual([project])

  expect(theirs.readable('experiment', experiment.id)).toBeUndefined()
  expect(theirs.writable('project_logs', project.id)).toBeUndefined()
  expect(theirs.readableInProject(project.id)).toBeUndefined()
  expect(theirs.projectByName('p')).toBeUndefined()
  expect([
    ...theirs.list('project'),
    ...theirs.list('experiment'),
    ...theirs.list('dataset'),
  ]).toEqual([])
  await expect(theirs.findOrCreate('dataset', given)).rejects.toMatchObject({ status: 403 })
})

test('an object of another organization and one that is not there read the same', async () => {
  const mine = await gateOf('mine')
  const theirs = await gateOf('theirs')
  const { entry: project } = await mine.findOrCreate('project', { name: 'p' })
  const foreign = failure(() => theirs.require('read', 'project', project.id))
  expect(foreign.message).toBe(
    `Missing read access to project id ${project.id}, or the project does not exist`,
  )
  const absent = failure(() =>
    theirs.require('read', 'project', '00000000-0000-0000-0000-000000000000'),
  )
  expect(absent.code).toBe(foreign.code)
  expect(
    failure(() => theirs.require('read', 'experiment', 'x'.repeat(10_000))).message.length,
  ).toBeLessThan(300)
})

test('lists are newest first', async () => {
  const gate = await gateOf('mine')
  for (const name of ['a', 'b', 'c']) await gate.findOrCreate('project', { name })
  expect(Array.from(gate.list('project'), ({ name }) => name)).toEqual(['c', 'b', 'a'])
})
