/** How long a decision takes in a large organization, once it is warm and after each change. */
import { Bench } from 'tinybench'
import { AccessGraph, type GraphAcl } from '../../src/access/access-graph.ts'
import { builtInRoles, ownerRole } from '../../src/access/built-in-roles.ts'
import { decide, type Target } from '../../src/access/decide.ts'
import { permissions } from '../../src/catalog/permission.ts'
import { formatTable } from '../table.ts'

const organizationId = 'organization'
const aclCount = 10_000
const groupCount = 1_000
const userCount = 2_000
const projectCount = 2_000

/** 1,000 groups, each within the one before it or in a tree of ten; 10,000 ACLs on projects. */
function largeOrganization(): AccessGraph {
  const graph = new AccessGraph(builtInRoles.map((role) => ({ ...role, member_roles: [] })))
  for (let user = 0; user < userCount; user++) graph.addMember(`user-${user}`)
  for (let group = 0; group < groupCount; group++) {
    graph.putGroup({
      id: `group-${group}`,
      member_users: [0, 1, 2, 3].map((n) => `user-${(group * 4 + n) % userCount}`),
      member_groups: group % 10 === 0 ? [] : [`group-${group - 1}`],
    })
  }
  for (let n = 0; n < aclCount; n++) graph.putAcl(acl(n))
  return graph
}

function acl(n: number): GraphAcl {
  const isRole = n % 5 === 0
  return {
    id: `acl-${n}`,
    object_type: 'project',
    object_id: `project-${(n * 7) % projectCount}`,
    user_id: n % 2 === 0 ? `user-${n % userCount}` : null,
    group_id: n % 2 === 0 ? null : `group-${n % groupCount}`,
    permission: isRole ? null : permissions[n % permissions.length]!,
    restrict_object_type: !isRole && n % 3 === 0 ? 'experiment' : null,
    role_id: isRole ? ownerRole.id : null,
  }
}

function target(n: number): Target {
  const projectId = `project-${n % projectCount}`
  return { type: 'experiment', id: `experiment-${n}`, projectId, organizationId }
}

export interface AccessResult {
  readonly decision: string
  /** Median, in microseconds. */
  readonly microseconds: number
}

export async function runAccess(): Promise<AccessResult[]> {
  const graph = largeOrganization()
  const targets = Array.from({ length: 4096 }, (_, n) => target(n))
  const users = Array.from({ length: userCount }, (_, n) => `user-${n}`)
  const perCall = 1000
  let turn = 0
  let allowed = 0
  const decisions = (next: () => string) => {
    for (let i = 0; i < perCall; i++) {
      turn++
      if (decide(graph.grantsOf(next()), 'read', targets[turn & 4095]!)) allowed++
    }
  }
  const bench = new Bench({ time: 1000, warmupTime: 300 })
  bench.add('warm, one user', () => decisions(() => 'user-17'))
  bench.add('warm, 2,000 users in turn', () => decisions(() => users[turn % userCount]!))
  bench.add('the first after a change', () => {
    graph.putAcl(acl(turn++ % aclCount))
    if (decide(graph.grantsOf('user-17'), 'read', targets[0]!)) allowed++
  })
  await bench.run()
  if (allowed === 0) throw new Error('the benchmark allowed nothing')
  const results = bench.tasks.map(({ name, result }) => {
    if (result.state !== 'completed') throw new Error(`the benchmark ended as ${result.state}`)
    const calls = name.startsWith('warm') ? perCall : 1
    return { decision: name, microseconds: (result.latency.p50 * 1000) / calls }
  })
  const rows = results.map(({ decision, microseconds }) => [decision, microseconds.toFixed(3)])
  console.log(formatTable([['decision', 'µs'], ...rows]))
  return results
}
