/** Random organizations that keep changing: the decision is what a naive reading of the rules says. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AccessGraph } from '../../src/access/access-graph.ts'
import { decide } from '../../src/access/decide.ts'
import {
  type AccessType,
  accessTypes,
  type Permission,
  permissions,
} from '../../src/catalog/permission.ts'
import { ReferenceAccess, type ReferenceObject } from '../support/access-reference.ts'
import { isSlow } from '../support/random-seed.ts'

const organization: ReferenceObject = { type: 'organization', id: 'o', parent: undefined }
const atOrganization = ['org_member', 'org_project', 'org_audit_logs'].map((type) => ({
  type,
  id: 'o',
  parent: organization,
}))
const orgProject = atOrganization[1]!
const projects = ['p1', 'p2'].map((id) => ({ type: 'project', id, parent: orgProject }))
const inProjects = projects.flatMap((parent) => [
  { type: 'project_log', id: parent.id, parent },
  ...['experiment', 'dataset', 'prompt', 'prompt_session'].flatMap((type) =>
    [1, 2].map((n) => ({ type, id: `${type}-${parent.id}-${n}`, parent })),
  ),
])
const users = ['u1', 'u2', 'u3', 'u4']
const groups = ['g1', 'g2', 'g3', 'g4', 'g5']
const roles = ['r1', 'r2', 'r3', 'r4']
const objects: readonly ReferenceObject[] = [
  organization,
  ...atOrganization,
  ...projects,
  ...inProjects,
  ...groups.map((id) => ({ type: 'group', id, parent: organization })),
  ...roles.map((id) => ({ type: 'role', id, parent: organization })),
]

const permission = fc.constantFrom(...permissions)
const restriction = fc.option(fc.constantFrom(...accessTypes), { nil: null, freq: 1 })
const some = (from: readonly string[]) => fc.subarray([...from], { minLength: 1, maxLength: 3 })

const group = fc.record({
  kind: fc.constant('group' as const),
  id: fc.constantFrom(...groups),
  users: some(users),
  groups: some(groups),
})

const role = fc.record({
  kind: fc.constant('role' as const),
  id: fc.constantFrom(...roles),
  permissions: fc.array(fc.record({ permission, restrictedTo: restriction }), {
    minLength: 3,
    maxLength: 8,
  }),
  roles: some(roles),
})

const aclNumber = fc.integer({ min: 0, max: 40 })

const acl = fc.record({
  kind: fc.constant('acl' as const),
  id: aclNumber,
  on: fc.oneof(fc.constantFrom(...objects), fc.constantFrom(organization, orgProject, ...projects)),
  to: fc.constantFrom(...users, ...groups),
  given: fc.oneof(
    fc.record({ permission, restrictedTo: restriction }),
    fc.record({ role: fc.constantFrom(...roles) }),
  ),
})

const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('member' as const), user: fc.constantFrom(...users) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('leaver' as const), user: fc.constantFrom(...users) }),
  },
  { weight: 4, arbitrary: group },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('no group' as const),
      id: fc.constantFrom(...groups),
    }),
  },
  { weight: 4, arbitrary: role },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('no role' as const), id: fc.constantFrom(...roles) }),
  },
  { weight: 20, arbitrary: acl },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('no acl' as const), id: aclNumber }),
  },
)

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

/** Makes the same change to both. */
function apply(change: Change, graph: AccessGraph, reference: ReferenceAccess): void {
  switch (change.kind) {
    case 'member':
      graph.addMember(change.user)
      reference.members.add(change.user)
      return
    case 'leaver':
      graph.removeMember(change.user)
      reference.members.delete(change.user)
      return
    case 'group':
      graph.putGroup({
        id: change.id,
        member_users: change.users,
        member_groups: change.groups,
      })
      reference.groups.set(change.id, { users: change.users, groups: change.groups })
      return
    case 'no group':
      graph.removeGroup(change.id)
      reference.groups.delete(change.id)
      return
    case 'role':
      graph.putRole({
        id: change.id,
        member_permissions: change.permissions.map(({ permission, restrictedTo }) => ({
          permission,
          ...(restrictedTo !== null && { restrict_object_type: restrictedTo }),
        })),
        member_roles: change.roles,
      })
      reference.roles.set(change.id, { permissions: change.permissions, roles: change.roles })
      return
    case 'no role':
      graph.removeRole(change.id)
      reference.roles.delete(change.id)
      return
    case 'acl': {
      const { on, to, given } = change
      const id = `acl${change.id}`
      const isGroup = groups.includes(to)
      const { permission, restrictedTo, role } = {
        permission: null,
        restrictedTo: null,
        role: null,
        ...given,
      }
      graph.putAcl({
        id,
        object_type: on.type as AccessType,
        object_id: on.id,
        user_id: isGroup ? null : to,
        group_id: isGroup ? to : null,
        permission,
        restrict_object_type: restrictedTo,
        role_id: role,
      })
      reference.acls.set(id, { on, to, permission, restrictedTo, role })
      return
    }
    case 'no acl':
      graph.removeAcl(`acl${change.id}`)
      reference.acls.delete(`acl${change.id}`)
  }
}

function decided(graph: AccessGraph, user: string, wanted: Permission, object: ReferenceObject) {
  const { type, id, parent } = object
  return decide(graph.grantsOf(user), wanted, {
    type: type as AccessType,
    id,
    projectId: parent?.type === 'project' ? parent.id : undefined,
    organizationId: organization.id,
  })
}

test('a decision is what the rules say, after every change', () => {
  let decisions = 0
  let allowed = 0
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 20, maxLength: 60 }),
      fc.infiniteStream(fc.integer({ min: 0, max: 2 ** 20 })),
      (changes, choices) => {
        const graph = new AccessGraph()
        const reference = new ReferenceAccess()
        const next = (count: number) => choices.next().value! % count
        for (const user of users.slice(1)) {
          apply({ kind: 'member', user }, graph, reference)
        }
        for (const change of changes) {
          apply(change, graph, reference)
          for (let i = 0; i < 8; i++) {
            const user = users[next(users.length)]!
            const wanted = permissions[next(permissions.length)]!
            const object = objects[next(objects.length)]!
            const expected = reference.allows(user, wanted, object)
            if (decided(graph, user, wanted, object) !== expected) {
              const { type, id } = object
              expect.fail(`${user} ${wanted} ${type} ${id}: expected ${expected}`)
            }
            decisions++
            if (expected) allowed++
          }
        }
      },
    ),
    { numRuns: isSlow ? 3_000 : 40 },
  )
  expect(decisions).toBeGreaterThan(isSlow ? 500_000 : 5_000)
  // Both answers have to come up for the test to say anything.
  expect(allowed / decisions).toBeGreaterThan(0.05)
  expect(allowed / decisions).toBeLessThan(0.95)
})

test('what is still to be made is decided by what it will be in', () => {
  const graph = new AccessGraph()
  graph.addMember('u1')
  const target = { type: 'experiment', id: undefined, organizationId: 'o' } as const
  graph.putAcl({
    id: 'a',
    object_type: 'project',
    object_id: 'p1',
    user_id: 'u1',
    group_id: null,
    permission: 'create',
    restrict_object_type: 'experiment',
    role_id: null,
  })
  const grants = graph.grantsOf('u1')
  expect(decide(grants, 'create', { ...target, projectId: 'p1' })).toBe(true)
  expect(decide(grants, 'create', { ...target, projectId: 'p2' })).toBe(false)
  expect(decide(grants, 'create', { ...target, type: 'dataset', projectId: 'p1' })).toBe(false)
  expect(decide(grants, 'read', { ...target, projectId: 'p1' })).toBe(false)
})

test('cycles of groups and roles are seen before they are closed', () => {
  const graph = new AccessGraph()
  graph.putGroup({ id: 'a', member_users: [], member_groups: ['b'] })
  graph.putGroup({ id: 'b', member_users: [], member_groups: ['c'] })
  expect(graph.closesGroupCycle('c', ['a'])).toBe(true)
  expect(graph.closesGroupCycle('c', ['c'])).toBe(true)
  expect(graph.closesGroupCycle('a', ['c'])).toBe(false)
  graph.putRole({ id: 'r', member_permissions: [], member_roles: ['s'] })
  expect(graph.closesRoleCycle('s', ['r'])).toBe(true)
  expect(graph.closesRoleCycle('t', ['r', 's'])).toBe(false)
})
