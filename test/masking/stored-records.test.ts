/** Rules tried on what is stored already, and records rewritten by them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesWith } from '../support/files-with.ts'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string
let dataset: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
  dataset = await service.create('dataset', project, 'cases')
  const events = [
    { id: 'a', input: [{ content: 'of anna@example.com' }], metadata: { user: 'Anna', n: 1 } },
    { id: 'b', input: 'nothing', tags: ['t'] },
  ]
  await service.insert('project_logs', project, events)
  const cases = [{ id: 'c', input: 'otto@example.com', expected: { big: 1 } }]
  await service.insert('dataset', dataset, cases)
})
afterAll(() => service.stop())

const none = { not_writable: [], cleared_records: 0, held_records: 0 }
const rules = [
  { pattern: { type: 'email' }, action: { type: 'replace' } },
  { path: 'metadata.user', action: { type: 'drop' } },
]

test('a dry run counts what rules would change, with examples, and changes nothing', async () => {
  const body = { project_id: project, rules }
  const { status, json } = await service.request('/v1/masking_rule/dry_run', { body })
  expect(status).toBe(200)
  expect(json).toMatchObject({
    rows: 3,
    changed_rows: 2,
    changed_values: 3,
    values_by_rule: [2, 1],
  })
  const [first] = json.examples as unknown as object[]
  expect(first).toEqual({
    object_type: 'project_logs',
    object_id: project,
    id: 'a',
    path: 'input[0].content',
    before: 'anna@example.com',
    after: '[email]',
  })
  const answer = await service.query(`select: input | from: dataset('${dataset}')`)
  expect(answer.json.data).toEqual([{ input: 'otto@example.com' }])
})

test('who may not read a project learns nothing of it', async () => {
  const { organizationId: org_id } = service.access.authenticate({ token: testKey })
  const invite_users = { emails: ['nobody@example.com'] }
  await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
  const user_id = service.access.catalog.named('user', '', 'nobody@example.com')!.id
  const { text: key } = await service.access.issueKey({ org_id, user_id }, 'key')
  const body = { project_id: project, rules }
  const { status, text } = await service.request('/v1/masking_rule/dry_run', { body, key })
  expect(status).toBe(403)
  expect(text).not.toContain('anna')
})

const dora = { id: 'd', input: 'dora@example.com' }

test('a rewrite masks the current records, changes nothing else, and need not be done twice', async () => {
  await service.insert('project_logs', project, [dora])
  await service.insert('project_logs', project, [{ id: 'd', _object_delete: true }])
  for (const [i, rule] of rules.entries()) {
    await service.request('/v1/masking_rule', {
      body: { name: `r${i}`, project_id: project, ...rule },
    })
  }
  const body = { project_id: project }
  const first = await service.request('/v1/masking_rule/rewrite', { body })
  expect(first.json).toEqual({ ...none, rows: 3, rewritten_rows: 2 })
  const logs = await service.query(
    `select: id, input, metadata, tags | from: project_logs('${project}') | sort: id`,
  )
  expect(logs.json.data).toEqual([
    { id: 'a', input: [{ content: 'of [email]' }], metadata: { n: 1 }, tags: null },
    { id: 'b', input: 'nothing', metadata: null, tags: ['t'] },
  ])
  const cases = await service.query(`select: input, expected | from: dataset('${dataset}')`)
  expect(cases.json.data).toEqual([{ input: '[email]', expected: { big: 1 } }])
  const again = await service.request('/v1/masking_rule/rewrite', { body })
  expect(again.json).toEqual({ ...none, rows: 3, rewritten_rows: 0 })
})

test('old versions with values to mask leave the disk, of deleted records, too', async () => {
  await service.insert('project_logs', project, [
    { id: 'kept', input: 'first' },
    { id: 'held', input: 'nothing', tags: ['legal-hold'] },
  ])
  await service.insert('project_logs', project, [{ id: 'kept', input: 'second' }])
  expect(filesWith(service.directory, 'anna@example.com').length).toBeGreaterThan(0)
  const body = { project_id: project, remove_old_versions: true }
  const cleared = await service.request('/v1/masking_rule/rewrite', { body })
  expect(cleared.json, cleared.text).toMatchObject({ rewritten_rows: 0, cleared_records: 3 })
  for (const text of ['anna@example.com', 'otto@example.com', 'dora@example.com']) {
    expect(filesWith(service.directory, text), text).toEqual([])
  }
  // What has nothing to mask keeps its history.
  expect(filesWith(service.directory, 'first').length).toBeGreaterThan(0)
  const logs = await service.query(`select: id | from: project_logs('${project}') | sort: id`)
  expect(logs.json.data).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'held' }, { id: 'kept' }])
})
