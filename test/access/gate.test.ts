import { afterEach, beforeEach, expect, test } from 'vitest'
import { builtInRoles, ownerRole } from '../../src/access/built-in-roles.ts'
import type { Gate } from '../../src/access/gate.ts'
import { AccessFixture, failure, type TestOrganization } from '../support/access-fixture.ts'

let fixture: AccessFixture
let ours: TestOrganization
let owner: Gate

beforeEach(async () => {
  fixture = new AccessFixture()
  ours = await fixture.organization('ours')
  owner = ours.owner
})
afterEach(() => fixture.close())

const absentId = '00000000-0000-4000-8000-000000000000'

/** A member with no rights but those that are given to it by the test. */
async function newcomer(): Promise<{ id: string; gate: Gate }> {
  const id = await fixture.member(ours)
  return { id, gate: fixture.gate(ours.id, id) }
}

async function project(name = 'p') {
  return (await owner.findOrCreate('project', { name })).entry
}

async function experimentIn(project_id: string, name = 'e') {
  return (await owner.findOrCreate('experiment', { project_id, name })).entry
}

function groupId(name: string): string {
  return owner.named('group', ours.id, name)!.id
}

test('an organization sees and changes its own and nothing of another', async () => {
  const theirs = (await fixture.organization('ours')).owner
  const { id: project_id } = await project()
  const experiment = await experimentIn(project_id)
  expect(owner.readable('experiment', experiment.id)?.id).toBe(experiment.id)
  expect(owner.readableInProject(project_id)).toHaveLength(2)
  expect(experiment).toMatchObject({ user_id: ours.ownerId })

  expect(theirs.readable('experiment', experiment.id)).toBeUndefined()
  expect(theirs.writable('project_logs', project_id)).toBeUndefined()
  expect(theirs.readableInProject(project_id)).toBeUndefined()
  expect(theirs.projectByName('p')).toBeUndefined()
  expect([...theirs.list('project'), ...theirs.list('experiment')]).toEqual([])
  expect([...theirs.list('experiment', { parentId: project_id })]).toEqual([])
  expect(theirs.positionOf('experiment', experiment.id)).toBeUndefined()
  await expect(theirs.findOrCreate('dataset', { project_id, name: 'd' })).rejects.toMatchObject({
    status: 403,
  })
  await expect(theirs.remove('project', project_id)).rejects.toMatchObject({ status: 403 })
  expect([...theirs.list('group'), ...theirs.list('acl')].map(({ id }) => id)).not.toContain(
    groupId('Owners'),
  )
})

test('what one may not see and what is not there read the same', async () => {
  const { id } = await project()
  const { gate } = await newcomer()
  const hidden = failure(() => gate.require('read', 'project', id))
  expect(hidden.message).toBe(
    `Missing read access to project id ${id}, or the project does not exist`,
  )
  const absent = failure(() => gate.require('read', 'project', absentId))
  expect(absent.code).toBe(hidden.code)
  expect(absent.message).toBe(hidden.message.replace(id, absentId))
  const long = failure(() => gate.require('read', 'experiment', 'x'.repeat(10_000)))
  expect(long.message.length).toBeLessThan(300)
})

test('engineers change projects and not who may; viewers only read', async () => {
  const engineer = fixture.gate(ours.id, await fixture.member(ours, 'Engineers'))
  const viewer = fixture.gate(ours.id, await fixture.member(ours, 'Viewers'))
  const { entry } = await engineer.findOrCreate('project', { name: 'theirs' })
  const experiment = await engineer.findOrCreate('experiment', {
    project_id: entry.id,
    name: 'e',
  })
  expect(viewer.readable('experiment', experiment.entry.id)).toBeDefined()
  expect(viewer.writable('experiment', experiment.entry.id)).toBeUndefined()
  expect(viewer.writable('project_logs', entry.id)).toBeUndefined()
  // Clients find projects by the same call that makes them.
  expect((await viewer.findOrCreate('project', { name: 'theirs' })).found).toBe(true)
  const refused = [
    viewer.findOrCreate('project', { name: 'another' }),
    viewer.update('project', entry.id, { name: 'x' }),
    viewer.remove('experiment', experiment.entry.id),
    engineer.findOrCreate('group', { name: 'g' }),
    engineer.update('group', groupId('Owners'), {
      member_users: [engineer.principal.userId!],
    }),
    engineer.people.invite({ ...nobody, emails: ['x@example.com'] }),
    engineer.people.remove([ours.ownerId], []),
    engineer.findOrCreate('acl', {
      object_type: 'project',
      object_id: entry.id,
      user_id: engineer.principal.userId,
      permission: 'create_acls',
    }),
  ]
  for (const attempt of refused) await expect(attempt).rejects.toMatchObject({ status: 403 })
  expect(failure(() => engineer.auditTrail()).status).toBe(403)
  expect([...engineer.people.list()]).toHaveLength(3)
})

test('rights on a project are rights on what is in it, restricted or not', async () => {
  const { id: project_id } = await project()
  const experiment = await experimentIn(project_id)
  const dataset = (await owner.findOrCreate('dataset', { project_id, name: 'd' })).entry
  const { id, gate } = await newcomer()
  const acl = await fixture.grant(ours, id, 'read', ['project', project_id], 'experiment')
  expect(gate.find('experiment', experiment.id)).toEqual(experiment)
  expect(gate.find('dataset', dataset.id)).toBeUndefined()
  expect(gate.find('project', project_id)).toBeUndefined()
  expect([...gate.readableOfType('experiment')].map(({ id }) => id)).toEqual([experiment.id])
  expect([...gate.readableOfType('dataset')]).toEqual([])

  await fixture.grant(ours, id, 'read', ['project', project_id], 'project')
  expect(gate.readableInProject(project_id)?.map(({ type }) => type)).toEqual(['experiment'])
  await fixture.grant(ours, id, 'read', ['project', project_id])
  expect(gate.find('dataset', dataset.id)).toEqual(dataset)
  expect(gate.readableInProject(project_id)).toHaveLength(3)

  for (const { id } of owner.list('acl', { parentId: project_id })) await owner.remove('acl', id)
  expect(acl).toBeDefined()
  expect(gate.find('experiment', experiment.id)).toBeUndefined()
})

test('who makes something must be able to see its like, since names are unique', async () => {
  const { id: project_id } = await project()
  await experimentIn(project_id, 'taken')
  const { id, gate } = await newcomer()
  await fixture.grant(ours, id, 'create', ['project', project_id], 'experiment')
  const attempt = (name: string) =>
    gate.findOrCreate('experiment', { project_id, name }).catch((error) => error.message)
  expect(await attempt('taken')).toBe(await attempt('free'))
  await fixture.grant(ours, id, 'read', ['project', project_id], 'experiment')
  expect(await attempt('taken')).toMatchObject({ found: true })
  expect(await attempt('free')).toMatchObject({ found: false })
})

test('a name can be chosen only by who may see all others', async () => {
  const { id: project_id } = await project()
  await experimentIn(project_id, 'taken')
  const mine = await experimentIn(project_id, 'mine')
  const { id, gate } = await newcomer()
  await fixture.grant(ours, id, 'update', ['experiment', mine.id])
  const rename = (name: string) =>
    gate.update('experiment', mine.id, { name }).catch((error) => error.message)
  expect(await rename('taken')).toBe(await rename('free'))
  expect(await gate.update('experiment', mine.id, { description: 'd' })).toMatchObject({
    description: 'd',
  })
  await fixture.grant(ours, id, 'read', ['project', project_id], 'experiment')
  expect(await rename('taken')).toMatch(/there is a.* already/i)
  expect(await rename('free')).toMatchObject({ name: 'free' })
})

test('groups within groups and roles within roles count; neither may contain itself', async () => {
  const { id: projectId } = await project()
  const { id, gate } = await newcomer()
  const inner = (await owner.findOrCreate('group', { name: 'inner', member_users: [id] })).entry
  const outer = (await owner.findOrCreate('group', { name: 'outer', member_groups: [inner.id] }))
    .entry
  const base = (
    await owner.findOrCreate('role', {
      name: 'base',
      member_permissions: [{ permission: 'read', restrict_object_type: null }],
    })
  ).entry
  const role = (await owner.findOrCreate('role', { name: 'more', member_roles: [base.id] })).entry
  await owner.findOrCreate('acl', {
    object_type: 'project',
    object_id: projectId,
    group_id: outer.id,
    role_id: role.id,
  })
  expect(gate.find('project', projectId)).toBeDefined()
  await expect(
    owner.update('group', inner.id, { member_groups: [outer.id] }),
  ).rejects.toMatchObject({ code: 'REQUEST_INVALID', path: 'member_groups' })
  await expect(owner.update('role', base.id, { member_roles: [role.id] })).rejects.toMatchObject({
    code: 'REQUEST_INVALID',
    path: 'member_roles',
  })
  await owner.update('role', base.id, { member_permissions: [] })
  expect(gate.find('project', projectId)).toBeUndefined()
})

test('nothing of another organization can be named in a group, a role or an ACL', async () => {
  const theirs = await fixture.organization('theirs')
  const { id: projectId } = await project()
  const [theirGroup] = theirs.owner.list('group')
  const theirRole = (await theirs.owner.findOrCreate('role', { name: 'r' })).entry
  const theirProject = (await theirs.owner.findOrCreate('project', { name: 'p' })).entry
  const on = { object_type: 'project', object_id: projectId, permission: 'read' } as const
  const attempts = (user: string, group: string, role: string) => [
    owner.findOrCreate('group', { name: 'a', member_users: [user] }),
    owner.findOrCreate('group', { name: 'b', member_groups: [group] }),
    owner.findOrCreate('role', { name: 'c', member_roles: [role] }),
    owner.findOrCreate('acl', { ...on, user_id: user }),
    owner.findOrCreate('acl', { ...on, group_id: group }),
    owner.findOrCreate('acl', { ...on, permission: null, role_id: role, user_id: ours.ownerId }),
    owner.people.invite({ ...nobody, ids: [user] }),
    owner.people.invite({ ...nobody, emails: ['x@example.com'], groupIds: [group] }),
  ]
  const messages = async (...ids: [string, string, string]) => {
    const results = await Promise.allSettled(attempts(...ids))
    return results.map((result) =>
      result.status === 'rejected' ? String(result.reason.message) : 'done',
    )
  }
  const foreign = await messages(theirs.ownerId, theirGroup!.id, theirRole.id)
  const absent = await messages(absentId, absentId, absentId)
  expect(foreign.map((text) => text.replace(/[0-9a-f-]{36}/g, 'ID'))).toEqual(
    absent.map((text) => text.replace(/[0-9a-f-]{36}/g, 'ID')),
  )
  expect(foreign).not.toContain('done')
  const onTheirs = { ...on, object_id: theirProject.id, user_id: ours.ownerId }
  await expect(owner.findOrCreate('acl', onTheirs)).rejects.toMatchObject({ status: 403 })
})

test('an ACL is for one of two, gives one of two, and is restricted to what can be there', async () => {
  const { id: object_id } = await project()
  const user_id = ours.ownerId
  const on = { object_type: 'project', object_id } as const
  const wrong = [
    { ...on, permission: 'read' as const },
    { ...on, user_id },
    { ...on, user_id, group_id: groupId('Owners'), permission: 'read' as const },
    { ...on, user_id, permission: 'read' as const, role_id: ownerRole.id },
    { ...on, user_id, role_id: ownerRole.id, restrict_object_type: 'dataset' as const },
    { ...on, user_id, permission: 'read' as const, restrict_object_type: 'group' as const },
  ]
  for (const given of wrong) {
    await expect(owner.findOrCreate('acl', given)).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    })
  }
  expect([...owner.list('acl', { parentId: object_id })]).toEqual([])
})

test('the last owner stays, whatever is changed', async () => {
  const ownersGroup = groupId('Owners')
  const [ownersAcl] = [...owner.list('acl')].filter(({ group_id }) => group_id === ownersGroup)
  await owner.people.invite({
    ...nobody,
    serviceAccounts: [{ name: 'bot' }],
    groupNames: ['Owners'],
  })
  const attempts = () => [
    owner.update('group', ownersGroup, { member_users: [] }),
    owner.remove('group', ownersGroup),
    owner.remove('acl', ownersAcl!.id),
    owner.people.remove([ours.ownerId], []),
  ]
  for (const attempt of attempts()) {
    await expect(attempt).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' })
  }
  expect(() => owner.requireOwner()).not.toThrow()
  // Two who remove each other at the same moment: one is too late.
  const second = await fixture.member(ours, 'Owners')
  const outcomes = await Promise.allSettled([
    owner.people.remove([second], []),
    fixture.gate(ours.id, second).people.remove([ours.ownerId], []),
  ])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('who is removed and invited again has nothing of what was', async () => {
  const { id: projectId } = await project()
  const id = await fixture.member(ours, 'Engineers')
  const email = fixture.catalog.get('user', id)!.email!
  await fixture.grant(ours, id, 'read', ['project', projectId])
  const gate = fixture.gate(ours.id, id)
  expect(gate.find('project', projectId)).toBeDefined()
  await owner.people.remove([], [email.toUpperCase()])
  expect(gate.find('project', projectId)).toBeUndefined()
  await owner.people.invite({ ...nobody, emails: [email] })
  expect(owner.people.get(id)?.email).toBe(email)
  expect(gate.find('project', projectId)).toBeUndefined()
  await owner.people.invite({ ...nobody, emails: [email], groupNames: ['Engineers'] })
  // Groups are for those who were not there before.
  expect(gate.find('project', projectId)).toBeUndefined()
})

test('rights end at once, and come at once', async () => {
  const { id: projectId } = await project()
  const { id, gate } = await newcomer()
  for (let round = 0; round < 3; round++) {
    expect(gate.find('project', projectId)).toBeUndefined()
    const acl = await fixture.grant(ours, id, 'read', ['project', projectId])
    expect(gate.find('project', projectId)).toBeDefined()
    await owner.remove('acl', acl)
  }
  await owner.update('group', groupId('Viewers'), { member_users: [id] })
  expect(gate.find('project', projectId)).toBeDefined()
  await fixture.reopen()
  expect(fixture.gate(ours.id, id).find('project', projectId)).toBeDefined()
})

test('built-in roles are in every list, at its end, and are nobody’s to change', async () => {
  const role = (await owner.findOrCreate('role', { name: 'own' })).entry
  const { gate } = await newcomer()
  const names = builtInRoles.map(({ name }) => name).reverse()
  expect(Array.from(owner.list('role'), ({ name }) => name)).toEqual(['own', ...names])
  expect(Array.from(gate.list('role'), ({ name }) => name)).toEqual(names)
  const page = (beyond: string, direction: 'older' | 'newer') =>
    Array.from(
      owner.list('role', {}, { beyond: owner.positionOf('role', beyond)!, direction }),
      ({ name }) => name,
    )
  expect(page(role.id, 'older')).toEqual(names)
  expect(page(builtInRoles[1]!.id, 'newer')).toEqual(['Viewer', 'own'])
  await expect(owner.update('role', ownerRole.id, { name: 'x' })).rejects.toMatchObject({
    status: 403,
  })
  await expect(owner.remove('role', ownerRole.id)).rejects.toMatchObject({ status: 403 })
})

test('lists are newest first', async () => {
  for (const name of ['a', 'b', 'c']) await project(name)
  expect(Array.from(owner.list('project'), ({ name }) => name)).toEqual(['c', 'b', 'a'])
})

test('who has the data directory in hands may do everything in one organization', async () => {
  const theirs = await fixture.organization('theirs')
  const operator = fixture.gate(ours.id, null)
  const { entry } = await operator.findOrCreate('project', { name: 'p' })
  expect(entry.user_id).toBeNull()
  expect(theirs.owner.find('project', entry.id)).toBeUndefined()
  const [record] = operator.auditTrail(entry.id)
  expect(record).toMatchObject({ user_id: null, action: 'create' })
  expect(failure(() => operator.require('read', 'organization', theirs.id)).status).toBe(403)
})

const nobody = { ids: [], emails: [], serviceAccounts: [], groupIds: [], groupNames: [] }
