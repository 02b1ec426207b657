import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createProgram } from '../../src/cli/program.ts'
import { AssayError } from '../../src/error.ts'
import { runAssay } from '../support/assay-process.ts'
import { RunningService, testKey } from '../support/running-service.ts'

type Entry = { readonly [field: string]: unknown }

let service: RunningService
const directory = mkdtempSync(join(tmpdir(), 'assay-admin-'))

beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(async () => {
  await service.stop()
  rmSync(directory, { recursive: true })
})

/** Runs a command line in this process and reads the JSON lines that it prints. */
async function run(...args: string[]): Promise<Entry[]> {
  let output = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += text
    return true
  })
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } finally {
    write.mockRestore()
  }
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry)
}

async function failure(...args: string[]): Promise<AssayError> {
  try {
    await run(...args)
  } catch (error) {
    if (error instanceof AssayError) return error
    throw error
  }
  throw new Error(`${args.join(' ')} did not fail`)
}

const data = join(directory, 'data')
const ways: readonly (readonly [name: string, flags: () => string[]])[] = [
  ['a running service', () => ['--url', service.url, '--key', testKey]],
  ['a data directory', () => ['--data-dir', data]],
]

beforeAll(() => run('orgs', 'create', 'acme', '--owner', 'boss@acme.example', '--data-dir', data))

describe.each(ways)('%s', (_, flags) => {
  const assay = (...args: string[]) => run(...args, ...flags())

  test('people come, get keys, and go', async () => {
    const [eve] = await assay('members', 'add', 'eve@acme.example', '--group', 'Viewers')
    expect(eve).toMatchObject({ email: 'eve@acme.example' })
    const [made] = await assay('keys', 'create', 'laptop', '--user', 'EVE@acme.example')
    expect(made?.key).toMatch(/^sk-/)
    const listed = await assay('keys', 'list')
    const shown = listed.find(({ id }) => id === made?.id)
    expect(shown).toMatchObject({ name: 'laptop', user_email: 'eve@acme.example' })
    expect(JSON.stringify(listed)).not.toContain(made?.key)
    await assay('keys', 'revoke', String(made?.id))
    expect((await assay('keys', 'list')).map(({ id }) => id)).not.toContain(made?.id)
    await assay('members', 'remove', 'eve@acme.example')
    const left = await assay('members', 'list')
    expect(left.map(({ email }) => email)).not.toContain('eve@acme.example')
  })

  test('keys and tokens expire when it is said', async () => {
    await assay('members', 'add', 'max@acme.example')
    const [made] = await assay(
      'keys',
      'create',
      'k',
      '--user',
      'max@acme.example',
      '--expires-in',
      '30d',
    )
    const days = (Date.parse(String(made?.expires_at)) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29)
    const listed = await assay('keys', 'list')
    expect(listed.find(({ id }) => id === made?.id)).toMatchObject({ expires_at: made?.expires_at })
    await assay('members', 'add', 'robot', '--service')
    const until = ['--expires-at', '2030-01-31']
    const [token] = await assay('keys', 'create', 't', '--account', 'robot', ...until)
    expect(token).toMatchObject({ expires_at: '2030-01-31T00:00:00.000Z' })
    await assay('keys', 'revoke', String(token?.id), '--service')
    await assay('members', 'remove', 'max@acme.example')
  })

  test('service accounts have tokens', async () => {
    const [account] = await assay('members', 'add', 'ci', '--service', '--token', 'first')
    expect(account?.key).toMatch(/^sk-/)
    const [token] = await assay('keys', 'create', 'second', '--account', 'ci')
    expect(token).toMatchObject({ service_account_name: 'ci', name: 'second' })
    const names = (await assay('keys', 'list', '--service')).map(({ name }) => name)
    expect(names).toEqual(['second', 'first'])
    await assay('keys', 'revoke', String(token?.id), '--service')
    expect(await assay('keys', 'list', '--service')).toHaveLength(1)
  })

  test('roles, groups and rights are given by name', async () => {
    const [grace] = await assay('members', 'add', 'grace@acme.example')
    const [role] = await assay('roles', 'create', 'Auditor', '--permission', 'read:dataset')
    const given = [{ permission: 'read', restrict_object_type: 'dataset' }]
    expect(role).toMatchObject({ name: 'Auditor', member_permissions: given })
    const [grown] = await assay('roles', 'update', 'Auditor', '--role', 'Viewer')
    expect(grown?.member_roles).toHaveLength(1)
    const [group] = await assay('groups', 'create', 'audit', '--user', 'grace@acme.example')
    expect(group).toMatchObject({ member_users: [grace?.id] })
    const acl = ['--on', 'org_project', '--to', 'group:audit', '--give', 'role:Auditor']
    const [made] = await assay('acls', 'add', ...acl)
    expect(made).toMatchObject({ group_id: group?.id, role_id: role?.id })
    expect(await assay('acls', 'list', '--on', 'org_project')).toEqual([made])
    expect(await assay('acls', 'list')).toContainEqual(made)
    await assay('acls', 'remove', ...acl)
    expect(await assay('acls', 'list', '--on', 'org_project')).toEqual([])
    const [empty] = await assay('groups', 'update', 'audit', '--remove-user', String(grace?.id))
    expect(empty?.member_users).toEqual([])
    await assay('groups', 'remove', 'audit')
    await assay('roles', 'remove', 'Auditor')
    const names = (await assay('roles', 'list')).map(({ name }) => name)
    expect(names).toEqual(['Viewer', 'Engineer', 'Owner'])
  })

  test('what is not there, or would leave nobody in charge, is refused', async () => {
    const refused = async (...args: string[]) => (await failure(...args, ...flags())).message
    expect(await refused('members', 'remove', 'nobody@acme.example')).toBe(
      'there is no member "nobody@acme.example"',
    )
    expect(await refused('groups', 'remove', 'Owners')).toContain('without an owner')
    expect(await refused('acls', 'list', '--on', 'house:1')).toBe('"house:1" is no object')
    const acl = ['--on', 'organization', '--to', 'somebody', '--give', 'read']
    expect(await refused('acls', 'add', ...acl)).toBe('"somebody" is nobody')
  })
})

test('a data directory has several organizations, of which one is meant', async () => {
  await run('orgs', 'create', 'other', '--owner', 'boss@acme.example', '--data-dir', data)
  expect(await run('orgs', 'list', '--data-dir', data)).toHaveLength(2)
  const unclear = await failure('members', 'list', '--data-dir', data)
  expect(unclear.hint).toMatch(/^give --org: .*acme \(.*other \(|other \(.*acme \(/)
  const members = await run('members', 'list', '--data-dir', data, '--org', 'other')
  expect(members).toMatchObject([{ email: 'boss@acme.example' }])
  await run('orgs', 'rename', 'others', '--data-dir', data, '--org', 'other')
  const names = (await run('orgs', 'list', '--data-dir', data)).map(({ name }) => name)
  expect(names.sort()).toEqual(['acme', 'others'])
})

test('a data directory that a service has open is left alone', async () => {
  const locked = await failure('members', 'list', '--data-dir', service.directory)
  expect(locked.code).toBe('STORAGE_LOCKED')
})

test('the exit code tells a wrong command line from a refusal', async () => {
  const environment = { ASSAY_URL: service.url, ASSAY_API_KEY: testKey }
  const outcomes = await Promise.all([
    runAssay(['members', 'remove', 'nobody@acme.example'], { environment }),
    runAssay(['orgs', 'create', 'x'], { environment }),
    runAssay(['keys', '--help'], { environment }),
  ])
  expect(outcomes.map(({ code }) => code)).toEqual([1, 2, 0])
  expect(outcomes[2]?.stdout).toContain('revoke')
})
