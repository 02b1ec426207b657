import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Answer, RunningService } from '../support/running-service.ts'

let service: RunningService

beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

type Entry = { readonly [field: string]: string }

function call(method: string, path: string, body?: object, key?: string): Promise<Answer> {
  return service.request(path, { method, ...(body && { body }), ...(key && { key }) })
}

/** The answer's fields; fails unless it is one. */
async function answered(method: string, path: string, body?: object, key?: string) {
  const { status, json, text } = await call(method, path, body, key)
  if (status !== 200) throw new Error(`${method} ${path}: ${text}`)
  return json as unknown as Entry
}

async function list(path: string, key?: string): Promise<Entry[]> {
  return (await answered('GET', path, undefined, key)).objects as unknown as Entry[]
}

/** A new member with a key of its own, made by acting for it. */
async function member(email: string, ...group_names: string[]) {
  const invite_users = { emails: [email], group_names }
  await answered('PATCH', '/v1/organization/members', { invite_users })
  const [user] = await list(`/v1/user?email=${email}`)
  const { json } = await service.request('/v1/api_key', {
    body: { name: 'first' },
    headers: { 'x-bt-impersonate-user': email },
  })
  return { id: user!.id!, key: String(json.key) }
}

test('an organization starts with three roles, three groups and what they may', async () => {
  const [organization] = await list('/v1/organization')
  expect(organization).toMatchObject({ name: 'default' })
  const roles = await list('/v1/role')
  expect(roles.map(({ name, org_id }) => [name, org_id])).toEqual([
    ['Viewer', null],
    ['Engineer', null],
    ['Owner', null],
  ])
  const groups = await list('/v1/group')
  expect(groups.map(({ name }) => name)).toEqual(['Viewers', 'Engineers', 'Owners'])
  const on = `object_type=organization&object_id=${organization!.id}`
  const acls = await list(`/v1/acl?${on}`)
  expect(acls.map(({ group_id, role_id }) => [group_id, role_id])).toEqual(
    groups.map(({ id }, index) => [id, roles[index]!.id]),
  )
  const all = await answered('GET', '/v1/acl/list_org')
  expect(all).toEqual(acls)
})

test('a member is invited into a group, works, and loses everything when removed', async () => {
  const { id, key } = await member('eve@example.com', 'Engineers')
  const { id: project } = await answered('POST', '/v1/project', { name: 'eves' }, key)
  const [shown] = await list('/v1/api_key', key)
  expect(shown).toMatchObject({ name: 'first', user_email: 'eve@example.com', user_id: id })
  expect(JSON.stringify(shown)).not.toContain(key)
  expect(shown).not.toHaveProperty('hash')
  expect((await call('GET', '/v1/acl/list_org', undefined, key)).status).toBe(403)

  const remove_users = { emails: ['eve@example.com'] }
  await answered('PATCH', '/v1/organization/members', { remove_users })
  expect((await call('GET', `/v1/project/${project}`, undefined, key)).status).toBe(401)
  expect(await list('/v1/user?email=eve@example.com')).toEqual([])
  const again = await call('PATCH', '/v1/organization/members', { remove_users })
  expect(again.status).toBe(403)
})

test('groups and roles change by what is added and removed', async () => {
  const { id: user } = await member('grace@example.com')
  const made = await answered('POST', '/v1/group', { name: 'g', description: 'd' })
  const path = `/v1/group/${made.id}`
  const grown = await answered('PATCH', path, { add_member_users: [user], name: 'h' })
  expect(grown).toMatchObject({ name: 'h', description: 'd', member_users: [user] })
  const shrunk = await answered('PATCH', path, { remove_member_users: [user] })
  expect(shrunk).toMatchObject({ name: 'h', member_users: [] })
  expect(await answered('DELETE', path)).toMatchObject({ deleted_at: expect.any(String) })

  const read = { permission: 'read', restrict_object_type: 'dataset' }
  const role = await answered('POST', '/v1/role', { name: 'r', member_permissions: [read] })
  const update = { permission: 'update' }
  const changed = await answered('PATCH', `/v1/role/${role.id}`, {
    add_member_permissions: [update],
    remove_member_permissions: [read],
  })
  expect(changed.member_permissions).toEqual([update])
  const replaced = await answered('PUT', '/v1/role', { name: 'r', member_permissions: [read] })
  expect(replaced).toMatchObject({ id: role.id, member_permissions: [read] })
})

test('an ACL is found by its contents, and given and taken in batches', async () => {
  const { id: user_id, key } = await member('ada@example.com')
  const { id: object_id } = await answered('POST', '/v1/project', { name: 'adas' })
  const read = { object_type: 'project', object_id, user_id, permission: 'read' }
  const acl = await answered('POST', '/v1/acl', read)
  expect(await answered('GET', `/v1/acl/${acl.id}`)).toEqual(acl)
  const repeated = await call('POST', '/v1/acl', read)
  expect(repeated.json).toEqual(acl)
  expect(repeated.headers.get('x-bt-found-existing')).toBe('true')
  expect(await answered('GET', `/v1/project/${object_id}`, undefined, key)).toMatchObject({
    name: 'adas',
  })

  const update = { ...read, permission: 'update' }
  const batch = { add_acls: [read, update], remove_acls: [{ ...read, permission: 'delete' }] }
  const { added_acls, removed_acls } = await answered('POST', '/v1/acl/batch_update', batch)
  expect(added_acls).toMatchObject([update])
  expect(removed_acls).toEqual([])
  const filter = `object_type=project&object_id=${object_id}&permission=update`
  expect(await list(`/v1/acl?${filter}`)).toEqual(added_acls)

  expect(await answered('DELETE', '/v1/acl', read)).toEqual(acl)
  expect((await call('DELETE', '/v1/acl', read)).status).toBe(403)
  const after = await call('GET', `/v1/project/${object_id}`, undefined, key)
  expect(after.status).toBe(403)
})

test('a batch is given whole or not at all', async () => {
  const { id: user_id } = await member('alan@example.com')
  const { id: object_id } = await answered('POST', '/v1/project', { name: 'alans' })
  const good = { object_type: 'project', object_id, user_id, permission: 'read' }
  const bad = { ...good, object_id: '00000000-0000-4000-8000-000000000000' }
  const { status } = await call('POST', '/v1/acl/batch_update', { add_acls: [good, bad] })
  expect(status).toBe(403)
  expect(await list(`/v1/acl?object_type=project&object_id=${object_id}`)).toEqual([])
})

test('service accounts come with tokens, which are replaced by name', async () => {
  const invite_users = {
    service_accounts: [{ name: 'ci', token_name: 'deploy' }],
    group_name: 'Viewers',
    send_invite_emails: true,
  }
  const answer = await answered('PATCH', '/v1/organization/members', { invite_users })
  expect(answer).toMatchObject({ status: 'success', send_email_error: expect.any(String) })
  const [account] = answer.added_users as unknown as Entry[]
  const [token] = await list('/v1/service_token')
  expect(token).toMatchObject({ name: 'deploy', service_account_name: 'ci' })
  expect(await list('/v1/project', account!.api_key)).not.toEqual([])

  const body = { name: 'deploy', service_account_id: account!.id }
  const replaced = await answered('PUT', '/v1/service_token', body)
  expect((await call('GET', '/v1/project', undefined, account!.api_key)).status).toBe(401)
  expect(await list('/v1/project', replaced.key)).not.toEqual([])
  expect(await answered('DELETE', '/v1/service_token', { id: replaced.id })).toMatchObject({
    id: replaced.id,
  })
  expect((await call('GET', '/v1/project', undefined, replaced.key)).status).toBe(401)
})

test('users are listed by pages and found by name and address', async () => {
  const all = await list('/v1/user')
  expect(all.length).toBeGreaterThan(3)
  const paged: Entry[] = []
  for (;;) {
    const after = paged.length > 0 ? `&starting_after=${paged.at(-1)!.id}` : ''
    const page = await list(`/v1/user?limit=2${after}`)
    if (page.length === 0) break
    paged.push(...page)
  }
  expect(paged).toEqual(all)
  expect((await list('/v1/user?given_name=owner')).length).toBe(1)
  expect(await list('/v1/user?email=ADA@example.com&email=none@example.com')).toMatchObject([
    { email: 'ada@example.com' },
  ])
  expect(await answered('GET', `/v1/user/${all[0]!.id}`)).toEqual(all[0])
})

test('acting for another needs an owner, and an error of one kind says so', async () => {
  const { id, key } = await member('mallory@example.com', 'Engineers')
  const acting = (who: string, as?: string) =>
    service.request('/v1/project', {
      headers: { 'x-bt-impersonate-user': who },
      ...(as && { key: as }),
    })
  expect((await acting(id)).status).toBe(200)
  const refused = await Promise.all([
    acting('nobody@example.com'),
    acting(id, key),
    acting('nobody@example.com', key),
  ])
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(new Set(refused.map(({ json }) => json.Message)).size).toBe(1)
})

test('an ACL of a prompt gives just that prompt', async () => {
  const { id: project_id } = await answered('POST', '/v1/project', { name: 'prompts' })
  const { id: user_id, key } = await member('joan@example.com')
  const prompt = await answered('POST', '/v1/prompt', { project_id, name: 'p', slug: 'p' })
  const other = await answered('POST', '/v1/prompt', { project_id, name: 'q', slug: 'q' })
  const given = { object_type: 'prompt', object_id: prompt.id, user_id, permission: 'read' }
  expect(await answered('POST', '/v1/acl', given)).toMatchObject(given)
  const absent = { ...given, object_id: '00000000-0000-4000-8000-000000000000' }
  expect((await call('POST', '/v1/acl', absent)).status).toBe(403)

  const as = (method: string, id: unknown, body?: object) =>
    call(method, `/v1/prompt/${String(id)}`, body, key)
  expect((await as('GET', prompt.id)).json).toMatchObject({ name: 'p' })
  expect((await as('GET', other.id)).status).toBeGreaterThanOrEqual(400)
  expect((await as('PATCH', prompt.id, { description: 'd' })).status).toBe(403)
  await answered('POST', '/v1/acl', { ...given, permission: 'update' })
  expect((await as('PATCH', prompt.id, { description: 'd' })).json).toMatchObject({
    description: 'd',
  })
  // A slug that is taken looks like one that is free.
  const [taken, free] = [
    await as('PATCH', prompt.id, { slug: 'q' }),
    await as('PATCH', prompt.id, { slug: 'r' }),
  ]
  expect([taken.status, taken.json.Message]).toEqual([free.status, free.json.Message])
  expect(free.status).toBe(403)
  expect((await as('PATCH', other.id, { description: 'd' })).status).toBeGreaterThanOrEqual(400)
  expect((await as('DELETE', prompt.id)).status).toBe(403)
  // Queries show it as well, in every source that it is in, and nothing beside it.
  for (const source of [
    `project_prompts('${project_id}')`,
    `project_functions('${project_id}')`,
    `prompt('${prompt.id}', '${other.id}')`,
    `org_prompts('default')`,
  ]) {
    const body = { query: `select: id | from: ${source}` }
    expect((await service.request('/btql', { body, key })).json.data).toEqual([{ id: prompt.id }])
  }
  // A result that was made of all of them is not for who sees one of them now.
  const all = { ...given, object_type: 'project', object_id: project_id }
  const whole = await answered('POST', '/v1/acl', all)
  const { json: kept } = await service.request('/btql/async', {
    body: { query: `select: id | from: project_prompts('${project_id}')` },
    key,
  })
  const result = () => service.request(`/btql/async/${String(kept.id)}/result`, { key })
  await vi.waitFor(async () => expect((await result()).json.rows).toHaveLength(2), 10_000)
  await answered('DELETE', `/v1/acl/${String(whole.id)}`)
  expect((await result()).status).toBe(403)
  const named = { query: "select: id | from: project_prompts('prompts')" }
  expect((await service.request('/btql', { body: named, key })).status).toBe(403)
})
