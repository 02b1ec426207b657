/**
 * Every route, asked by everybody: what the rules deny is not shown, not changed, and not to be told
 * from what is not there. The rules are read by `ReferenceAccess`, which knows nothing of the server.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sourceTables } from '../../src/binder/source-table.ts'
import { entryKinds } from '../../src/catalog/entry.ts'
import { permissions } from '../../src/catalog/permission.ts'
import { ReferenceAccess, type ReferenceObject } from '../support/access-reference.ts'
import { accessTable, type Line } from '../support/access-table.ts'
import { accessVariants } from '../support/access-variants.ts'
import { makeWorld, type World } from '../support/access-world.ts'
import { type Answer, RunningService } from '../support/running-service.ts'
import { WorkCount } from '../support/work-count.ts'

let service: RunningService
let ours: World
let theirs: World
let reference: ReferenceAccess
let objects: ReadonlyMap<string, ReferenceObject>
let callers: readonly Caller[]

interface Caller {
  readonly name: string
  readonly id: string
  readonly key: string
}

const inProjects = ['project', 'experiment', 'dataset', 'prompt', 'prompt_session', 'project_log']
const people = ['organization', 'org_member', 'group', 'role']

beforeAll(async () => {
  service = await RunningService.start()
  ours = await makeWorld(service, 'ours')
  theirs = await makeWorld(service, 'theirs')
  objects = objectsOf(ours)
  reference = new ReferenceAccess()
  callers = [
    { name: 'the owner', id: ours.ownerId, key: ours.ownerKey },
    await member('an engineer', 'Engineers'),
    await member('a viewer', 'Viewers'),
    await member('a member'),
    await member('one of experiments', [
      ['read', 'project', 'experiment'],
      ['update', 'project', 'experiment'],
    ]),
    await member('a reader of one dataset', [['read', 'dataset', null]]),
    await member('a reader of one prompt', [['read', 'prompt', null]]),
    await member('a keeper of ACLs', [
      ['read_acls', 'project', null],
      ['create_acls', 'project', null],
    ]),
    { name: 'the owner of another organization', id: theirs.ownerId, key: theirs.ownerKey },
  ]
  const all = permissions.map((permission) => ({ permission, restrictedTo: null }))
  const each = (given: string[], types: string[]) =>
    types.flatMap((restrictedTo) => given.map((permission) => ({ permission, restrictedTo })))
  reference.members.add(ours.ownerId)
  reference.groups.set('Owners', { users: [ours.ownerId], groups: [] })
  reference.roles.set('Owner', { permissions: all, roles: [] })
  reference.roles.set('Engineer', {
    permissions: [
      ...each(['create', 'read', 'update', 'delete'], inProjects),
      ...each(['read'], people),
    ],
    roles: [],
  })
  reference.roles.set('Viewer', {
    permissions: each(['read'], [...inProjects, ...people]),
    roles: [],
  })
  for (const name of ['Owner', 'Engineer', 'Viewer']) {
    const on = { type: 'organization', id: ours.organizationId }
    const acl = { on, to: `${name}s`, permission: null, restrictedTo: null, role: name }
    reference.acls.set(name, acl)
  }
}, 120_000)

afterAll(() => service.stop())

type Grant = readonly [permission: string, on: string, restrictedTo: string | null]

/** A new member of our organization, in a group or with rights of its own. */
async function member(name: string, given: string | readonly Grant[] = []): Promise<Caller> {
  const email = `${name.replaceAll(' ', '-')}@ours.example`
  const groups = typeof given === 'string' ? { group_names: [given] } : {}
  await asOwner('PATCH', '/v1/organization/members', {
    invite_users: { emails: [email], ...groups },
  })
  const [user] = service.access.catalog.list('user')
  const id = user!.id
  const { text: key } = await service.access.issueKey(
    { org_id: ours.organizationId, user_id: id },
    'key',
  )
  reference.members.add(id)
  if (typeof given === 'string') {
    const known = reference.groups.get(given)?.users ?? []
    reference.groups.set(given, { users: [...known, id], groups: [] })
    return { name, id, key }
  }
  for (const [permission, kind, restrictedTo] of given) {
    const { type, id: on } = objects.get(kind)!
    await asOwner('POST', '/v1/acl', {
      object_type: type,
      object_id: on,
      user_id: id,
      permission,
      restrict_object_type: restrictedTo,
    })
    const acl = { on: { type, id: on }, to: id, permission, restrictedTo, role: null }
    reference.acls.set(randomUUID(), acl)
  }
  return { name, id, key }
}

async function asOwner(method: string, path: string, body: object): Promise<Answer> {
  const answer = await service.request(path, { method, body, key: ours.ownerKey })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer
}

/** What each kind of thing is checked as, and where it is. */
function objectsOf(world: World): Map<string, ReferenceObject> {
  const at = (type: string, id: string, parent: ReferenceObject | undefined) => ({
    type,
    id,
    parent,
  })
  const id = (kind: string) => world.things.get(kind)!.id
  const organization = at('organization', world.organizationId, undefined)
  const orgProject = at('org_project', world.organizationId, organization)
  const project = at('project', id('project'), orgProject)
  const found = new Map<string, ReferenceObject>([
    ['organization', organization],
    ['org_member', at('org_member', world.organizationId, organization)],
    ['org_audit_logs', at('org_audit_logs', world.organizationId, organization)],
    ['project', project],
    ['new project', at('project', 'new', orgProject)],
    ['function', at('prompt', id('function'), project)],
    ['project_log', at('project_log', id('project'), project)],
  ])
  for (const type of ['experiment', 'dataset', 'prompt', 'prompt_session']) {
    found.set(type, at(type, id(type), project))
    found.set(`new ${type}`, at(type, 'new', project))
  }
  for (const type of ['role', 'group', 'project_group', 'ai_secret']) {
    found.set(type, at(type, id(type), organization))
    found.set(`new ${type}`, at(type, 'new', organization))
  }
  return found
}

function isAllowed({ id }: Caller, needs: Line['needs']): boolean {
  if (needs === 'open') return true
  // Nobody owns all organizations of this service.
  if (needs === 'operator') return false
  if (needs === 'anyone') return reference.members.has(id) || id === theirs.ownerId
  const all = permissions.map((permission) => [permission, 'organization'] as const)
  return (needs === 'owner' ? all : needs).every(([permission, kind]) =>
    reference.allows(id, permission, objects.get(kind)!),
  )
}

/** What it takes to see a thing of a kind. */
const toSee: Readonly<Record<string, Line['needs']>> = {
  project: [['read', 'project']],
  project_log: [['read', 'project_log']],
  experiment: [['read', 'experiment']],
  dataset: [['read', 'dataset']],
  prompt_session: [['read', 'prompt_session']],
  prompt: [['read', 'prompt']],
  function: [['read', 'function']],
  dataset_snapshot: [['read', 'dataset']],
  project_score: [['read', 'project']],
  project_tag: [['read', 'project']],
  project_automation: [['read', 'project']],
  span_iframe: [['read', 'project']],
  mcp_server: [['read', 'project']],
  agent: [['read', 'project']],
  masking_rule: [['read', 'project']],
  view: [['read', 'project']],
  env_var: [['read', 'project']],
  role: [['read', 'role']],
  group: [['read', 'group']],
  acl: [['read_acls', 'project']],
  user: [['read', 'org_member']],
  service_account: [['read', 'org_member']],
  service_token: 'owner',
  api_key: [['update', 'org_member']],
  ai_secret: 'anyone',
  org_automation: 'anyone',
  project_group: 'anyone',
  environment: 'anyone',
}

/** Texts that must not come up in an answer to the caller. */
function hiddenFrom(caller: Caller): string[] {
  const [own, other] = caller.id === theirs.ownerId ? [theirs, ours] : [ours, theirs]
  const hidden = [...other.things.values()].flatMap(({ id, secret }) => [id, secret])
  hidden.push(other.organizationId)
  if (own === theirs) return hidden
  for (const [kind, { id, secret }] of own.things) {
    const needs = toSee[kind]
    if (needs === undefined) throw new Error(`the test does not know who may see a ${kind}`)
    if (isAllowed(caller, needs) || (kind === 'user' && caller.id === id)) continue
    hidden.push(secret)
    if (!namedElsewhere.includes(kind)) hidden.push(id)
  }
  return hidden
}

/** Whoever sees an experiment is told its project and its maker, and in an ACL whom it is for. */
const namedElsewhere: readonly string[] = ['project', 'project_log', 'user', 'group']

/** Whether the caller has any right on the thing, and so may know that it is there. */
function knows(caller: Caller, kind: string): boolean {
  const needs = toSee[kind]
  if (needs === undefined || isAllowed(caller, needs)) return true
  if (!Array.isArray(needs)) return false
  const object = objects.get((needs as readonly (readonly string[])[])[0]![1]!)!
  return permissions.some((permission) => reference.allows(caller.id, permission, object))
}

/** Every route, and again for further types of objects. */
const lines = [...Object.entries(accessTable), ...accessVariants]

const absent = '00000000-0000-4000-8000-00000000dead'

async function ask(route: string, line: Line, caller: Caller, id: string, name: string) {
  const [method = '', pattern = ''] = route.split(' ')
  const asked = line.ask({ id, name, world: ours })
  const { path = pattern, body, headers } = asked
  const answer = await service.request(path, {
    method,
    key: caller.key,
    ...(body && { body }),
    ...(headers && { headers }),
  })
  return { ...answer, asked: JSON.stringify(asked), shown: withoutGiven(answer, id, name) }
}

/** The answer but for what the request named and what no two answers share. */
function withoutGiven({ status, text }: Answer, id: string, name: string): string {
  const bare = text
    .replaceAll(id, 'ID')
    .replaceAll(name, 'NAME')
    .replace(/"InternalTraceId":"[^"]*"/, '')
    .replace(/[A-Za-z]{3} \d+ms|\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return `${status} ${bare}`
}

/** The page and the documents, which are the same for everybody. */
const isStatic = /^GET \/((app|assets|docs)(\/.*)?|openapi\.json)?$/

test('every route has a line in the table', () => {
  const served = service.routes.map(({ method, path }) => `${method} ${path}`)
  const lines = [...new Set(served)].filter((route) => !isStatic.test(route))
  expect(lines.sort()).toEqual(Object.keys(accessTable).sort())
})

test('nobody without a key gets further than the door', async () => {
  for (const { method, path, access } of service.routes) {
    if (access === 'open') continue
    const asked = path.replace(/:\w+/g, absent)
    for (const key of [null, 'sk-wrong']) {
      const { status, json } = await service.request(asked, { method, key })
      expect(`${method} ${path} ${status} ${json.Message}`).toBe(
        `${method} ${path} 401 The request carries no valid API key; ` +
          'send the header "Authorization: Bearer <key>"',
      )
    }
  }
})

/** Asks for what the line is about, if there is such, and expects that nothing is seen that is hidden. */
async function askForThing(route: string, line: Line, caller: Caller) {
  const thing = line.about === undefined ? undefined : ours.things.get(line.about)
  const id = line.about === 'organization' ? ours.organizationId : (thing?.id ?? absent)
  const answer = await ask(route, line, caller, id, `new-${randomUUID()}`)
  const seen = hiddenFrom(caller).filter(
    (text) => answer.text.includes(text) && !answer.asked.includes(text),
  )
  expect.soft(seen, `${route} by ${caller.name}`).toEqual([])
  return { answer, thing }
}

async function checkAnswered(route: string, line: Line, caller: Caller): Promise<void> {
  const { answer } = await askForThing(route, line, caller)
  if (line.filters) return
  const where = `${route} by ${caller.name}: ${answer.text}`
  expect.soft(answer.status, where).toBe(line.status ?? 200)
}

async function checkRefused(
  route: string,
  line: Line,
  caller: Caller,
  isOutside: boolean,
): Promise<void> {
  const where = `${route} by ${caller.name}`
  const { answer, thing } = await askForThing(route, line, caller)
  // The owner of another organization may do there what is refused here.
  if (thing === undefined && caller.id === theirs.ownerId) return
  if (!line.filters) expect.soft(answer.status, where).toBeGreaterThanOrEqual(400)
  if (!isOutside && line.about !== undefined && knows(caller, line.about)) return
  const nowhere = await ask(route, line, caller, absent, `new-${randomUUID()}`)
  expect.soft(answer.shown, where).toBe(nowhere.shown)
}

test('every route gives everybody what the rules allow and nothing else', async () => {
  const counts = { answered: 0, refused: 0 }
  for (const [route, line] of lines) {
    for (const caller of callers) {
      const isOutside = caller.id === theirs.ownerId && line.about !== undefined
      const may = !isOutside && isAllowed(caller, line.needs)
      if (may && line.destroys) continue
      if (may) await checkAnswered(route, line, caller)
      else await checkRefused(route, line, caller, isOutside)
      if (!may) counts.refused++
      else if (!line.filters) counts.answered++
    }
  }
  for (const kind of entryKinds) {
    const entries = service.access.catalog.list(kind, { organizationId: ours.organizationId })
    const names = Array.from(entries, (entry) => ('name' in entry ? String(entry.name) : ''))
    expect(names.filter((name) => name.startsWith('new-'))).toEqual([])
  }
  expect(counts.refused).toBeGreaterThan(600)
  expect(counts.answered).toBeGreaterThan(300)
}, 600_000)

test('what is hidden takes the same look-ups and decisions as what is not there', async () => {
  const work = new WorkCount()
  const counted = async (...given: Parameters<typeof ask>) => {
    work.reset()
    await ask(...given)
    // What the service does by itself meanwhile is not of the request.
    service.access.catalog.get('project', absent)
    return work.counts
  }
  let compared = 0
  const counts = new Set<string>()
  for (const [route, line] of lines) {
    const thing = line.about === undefined ? undefined : ours.things.get(line.about)
    if (!thing) continue
    for (const caller of callers) {
      const isOutside = caller.id === theirs.ownerId
      if (!isOutside && (isAllowed(caller, line.needs) || knows(caller, line.about!))) continue
      const name = `new-${randomUUID()}`
      const hidden = await counted(route, line, caller, thing.id, name)
      const nowhere = await counted(route, line, caller, absent, name)
      expect.soft(hidden, `${route} by ${caller.name}`).toBe(nowhere)
      counts.add(hidden)
      compared++
    }
  }
  work.stop()
  expect(counts.size).toBeGreaterThan(5)
  expect(compared).toBeGreaterThan(400)
}, 600_000)

test('a name that is taken looks to those who may not see it like one that is free', async () => {
  for (const [route, line] of Object.entries(accessTable)) {
    if (!/^(POST|PUT) /.test(route) || !line.destroys || line.about !== undefined) continue
    const kind = route.split('/').at(-1)!
    if (!ours.things.has(kind) || kind === 'acl') continue
    const taken = `taken-${kind}`
    for (const caller of callers) {
      if (caller.id === theirs.ownerId || isAllowed(caller, line.needs)) continue
      if (isAllowed(caller, toSee[kind] ?? 'owner')) continue
      const known = await ask(route, line, caller, absent, taken)
      const free = await ask(route, line, caller, absent, `never-${kind}`)
      expect
        .soft(`${route} by ${caller.name}: ${known.shown}`)
        .toBe(`${route} by ${caller.name}: ${free.shown}`)
    }
  }
}, 120_000)

/** A source of each form, with what it takes to see all of it. */
const sources: Readonly<Record<string, { kind: string; named?: string; more?: string }>> = {
  experiment: { kind: 'experiment', named: 'taken-experiment' },
  dataset: { kind: 'dataset', named: 'taken-dataset' },
  project_logs: { kind: 'project_log', named: 'taken-project' },
  project: { kind: 'project', named: 'taken-project' },
  project_dataset: { kind: 'project', more: ", 'taken-dataset'" },
  playground_logs: { kind: 'prompt_session', named: 'taken-prompt_session' },
  prompt_session: { kind: 'prompt_session', named: 'taken-prompt_session' },
  project_prompts: { kind: 'project', named: 'taken-project' },
  project_functions: { kind: 'project', named: 'taken-project' },
  project_views: { kind: 'project', named: 'taken-project' },
  org_prompts: { kind: 'organization', named: 'acme' },
  org_functions: { kind: 'organization', named: 'acme' },
  prompt: { kind: 'prompt' },
  function: { kind: 'function' },
  view: { kind: 'view' },
}

/** Kinds of which a source shows a thing to whoever may read that. */
const directKinds: readonly string[] = [
  'experiment',
  'dataset',
  'prompt_session',
  'project_log',
  'prompt',
  'function',
]

test('every source shows everybody what the rules allow, and hides that there is more', async () => {
  expect(Object.keys(sources).sort()).toEqual([...sourceTables.keys()].sort())
  const clauses = [
    'select: *',
    'measures: count(1) as n',
    'select: id, created | limit: 1',
    'infer: *',
  ]
  for (const [source, { kind, named, more = '' }] of Object.entries(sources)) {
    const id = kind === 'organization' ? ours.organizationId : ours.things.get(kind)!.id
    for (const caller of callers) {
      const asked = [id, ...(named === undefined || caller.id === theirs.ownerId ? [] : [named])]
      for (const argument of asked) {
        for (const clause of clauses) {
          await checkSource({ source, kind, id, argument, clause, more }, caller)
        }
      }
    }
  }
}, 600_000)

interface AskedSource {
  readonly source: string
  readonly kind: string
  readonly id: string
  /** Its id, or its name. */
  readonly argument: string
  readonly clause: string
  readonly more: string
}

async function checkSource(asked: AskedSource, caller: Caller): Promise<void> {
  const { source, kind, id, argument, clause, more } = asked
  const where = `${clause} of ${source}('${argument}') by ${caller.name}`
  const run = (name: string) => {
    const query = `${clause} | from: ${source}('${name}'${more})`
    return service.request('/btql', { body: { query }, key: caller.key })
  }
  const answer = await run(argument)
  const hidden = hiddenFrom(caller)
  const seen = hidden.filter((text) => text !== id && answer.text.includes(text))
  expect.soft(seen, where).toEqual([])
  const direct = objects.get(kind)
  if (!direct || !directKinds.includes(kind)) return
  if (reference.allows(caller.id, 'read', direct)) {
    expect.soft(answer.status, `${where}: ${answer.text}`).toBe(200)
    // Descriptions of prompts have been changed by who may.
    const shown = /prompt$|function/.test(kind) ? `taken-${kind}` : secretOf(kind)
    if (clause === 'select: *') expect.soft(answer.text, where).toContain(shown)
    return
  }
  // Who may see one prompt is told which project it is in.
  if (kind === 'project_log' && caller.name === 'a reader of one prompt') return
  const other = argument === id ? absent : argument.replace('taken', 'never')
  const nowhere = await run(other)
  expect
    .soft(withoutGiven(answer, argument, argument), where)
    .toBe(withoutGiven(nowhere, other, other))
}

function secretOf(kind: string): string {
  return ours.things.get(kind)!.secret
}

test('two organizations with equal names see each their own', async () => {
  const worlds = [
    [ours, theirs],
    [theirs, ours],
  ] as const
  for (const [mine, other] of worlds) {
    const texts = []
    const get = (path: string) => service.request(path, { key: mine.ownerKey })
    for (const kind of ['project', 'experiment', 'dataset', 'prompt', 'role', 'group']) {
      const { json, text } = await get(`/v1/${kind}?${kind}_name=taken-${kind}&org_name=acme`)
      const found = json.objects as unknown as { id: string }[]
      expect(found.map(({ id }) => id)).toEqual([mine.things.get(kind)!.id])
      texts.push(text)
    }
    for (const source of [
      "experiment('taken-experiment')",
      "project_logs('taken-project')",
      "org_prompts('acme')",
    ]) {
      const query = `select: * | from: ${source}`
      texts.push((await service.request('/btql', { body: { query }, key: mine.ownerKey })).text)
    }
    texts.push((await get('/v1/audit_trail?limit=1000')).text)
    const foreign = [...other.things.values()].flatMap(({ id, secret }) => [id, secret])
    for (const text of texts) expect(foreign.filter((one) => text.includes(one))).toEqual([])
  }
})

test('kept plans and kept results are of no use to those who lost the right', async () => {
  const caller = callers.find(({ name }) => name === 'a reader of one dataset')!
  const id = ours.things.get('dataset')!.id
  const query = `select: input | from: dataset('${id}')`
  const run = () => service.request('/btql', { body: { query }, key: caller.key })
  expect((await run()).status).toBe(200)
  expect((await run()).text).toContain(secretOf('dataset'))
  const given = { object_type: 'dataset', object_id: id, user_id: caller.id, permission: 'read' }
  const { json } = await service.request('/btql/async', { body: { query }, key: caller.key })
  const result = `/btql/async/${json.id}/result`
  const kept = async () => {
    const { text } = await service.request(result, { key: caller.key })
    return text
  }
  await vi.waitFor(async () => expect(await kept()).toContain(secretOf('dataset')), 10_000)
  await asOwner('DELETE', '/v1/acl', given)
  expect(await kept()).not.toContain('secret')
  const after = await run()
  expect(after.status).toBe(403)
  expect(after.text).not.toContain('secret')
  await asOwner('POST', '/v1/acl', given)
  expect((await run()).text).toContain(secretOf('dataset'))
})
