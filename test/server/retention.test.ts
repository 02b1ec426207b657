import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { carryOut } from '../support/carry-out.ts'
import { filesWith } from '../support/files-with.ts'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let rules = 0

beforeAll(async () => {
  service = await RunningService.start()
})

afterAll(() => service.stop())

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 24 * 3600 * 1000).toISOString()
}

function span(root: string, id: string, days: number, more: object = {}): object {
  const place = { span_id: id, root_span_id: root, ...(id !== root && { span_parents: [root] }) }
  return { id, ...place, created: daysAgo(days), input: `words of ${id}`, ...more }
}

async function makeRule(project_id: string, more: object): Promise<string> {
  const config = { event_type: 'retention', object_type: 'project_logs', ...more }
  const made = await service.request('/v1/project_automation', {
    body: { project_id, name: `rule ${rules++}`, config },
  })
  expect(made.status, made.text).toBe(200)
  return String(made.json.id)
}

function run(rule: string) {
  return carryOut(service, rule)
}

async function idsIn(project: string): Promise<string[]> {
  const { json } = await service.query(`select: id | from: project_logs('${project}') | sort: id`)
  return (json.data as unknown as { id: string }[]).map(({ id }) => id)
}

test('whole traces leave once all their spans are old, and their bytes with them', async () => {
  const project = await service.project('by age')
  await service.insert('project_logs', project, [
    span('old', 'old', 40),
    span('old', 'old-child', 39),
    span('mixed', 'mixed', 40),
    span('mixed', 'mixed-child', 1),
    span('error', 'error', 40),
    span('error', 'error-child', 40, { error: 'it broke' }),
    span('held', 'held', 40, { tags: ['legal-hold'] }),
    span('new', 'new', 2),
  ])
  const config = {
    event_type: 'retention',
    object_type: 'project_logs',
    retention_days: 30,
    keep_filter: 'error is not null -- anything that failed',
  }
  const preview = await service.request('/v1/retention/preview', {
    body: { project_id: project, config },
  })
  expect(preview.json).toMatchObject({
    traces: 1,
    records: 2,
    objects: [{ held_traces: 1, kept_traces: 1, examples: [{ root_span_id: 'old', records: 2 }] }],
  })
  const rule = await makeRule(project, config)
  expect(await run(rule)).toMatchObject({ traces: 1, records: 2, held: 1, kept: 1 })
  const left = ['error', 'error-child', 'held', 'mixed', 'mixed-child', 'new']
  expect(await idsIn(project)).toEqual(left)
  expect(filesWith(service.directory, 'words of old')).toEqual([])
  expect(filesWith(service.directory, 'old-child')).toEqual([])
  const trail = await service.request(`/v1/audit_trail?entry_id=${rule}`)
  expect(trail.json.objects![0]).toMatchObject({ after: { removed: { records: 2, traces: 1 } } })
  expect(await run(rule)).toMatchObject({ traces: 0, records: 0 })
})

test('the newest traces stay, by count or by bytes', async () => {
  const project = await service.project('by count')
  const days = [5, 4, 3, 2, 1]
  await service.insert(
    'project_logs',
    project,
    days.map((day) => span(`t${day}`, `t${day}`, day, { output: 'x'.repeat(1000) })),
  )
  await run(await makeRule(project, { retention_days: 36_500, retention_count: 3 }))
  expect(await idsIn(project)).toEqual(['t1', 't2', 't3'])
  await run(await makeRule(project, { retention_days: 36_500, retention_bytes: 2500 }))
  expect(await idsIn(project)).toEqual(['t1', 't2'])
})

test('old versions leave by a rule of their own, but for those that a tag holds', async () => {
  const project = await service.project('old versions')
  await service.insert('project_logs', project, [
    { id: 'a', input: 'first words' },
    { id: 'b', input: 'first words', tags: ['legal-hold'] },
    { id: 'c', input: 'first words' },
    { id: 'd', input: 'only words' },
  ])
  await service.insert('project_logs', project, [
    { id: 'a', input: 'last words' },
    { id: 'b', input: 'last words', tags: ['legal-hold'] },
    { id: 'c', _object_delete: true },
  ])
  // Transactions of a second are older than it once it has passed.
  const second = Math.floor(Date.now() / 1000)
  await expect.poll(() => Math.floor(Date.now() / 1000), { timeout: 3000 }).toBeGreaterThan(second)
  const rule = await makeRule(project, { retention_days: 36_500, old_versions_days: 0 })
  expect(await run(rule)).toMatchObject({ traces: 0, records: 0 })
  expect(await idsIn(project)).toEqual(['a', 'b', 'd'])
  // That of the record which is held.
  expect(filesWith(service.directory, 'first words').length).toBeGreaterThan(0)
  await service.insert('project_logs', project, [{ id: 'b', input: 'last words', tags: [] }])
  await expect
    .poll(() => Math.floor(Date.now() / 1000), { timeout: 3000 })
    .toBeGreaterThan(second + 2)
  await run(rule)
  expect(filesWith(service.directory, 'first words')).toEqual([])
  expect(await idsIn(project)).toEqual(['a', 'b', 'd'])
})

test('a run is begun at once, and asked how it goes', async () => {
  const project = await service.project('how it goes')
  const rows = (days: number) =>
    Array.from({ length: 600 }, (_, i) => span(`${days}-${i}`, `${days}-${i}`, days))
  await service.insert('project_logs', project, [...rows(40), ...rows(1)])
  const rule = await makeRule(project, { retention_days: 30 })
  const state = async () => (await service.request(`/v1/retention/${rule}`)).json
  expect(await state()).toEqual({
    project_automation_id: rule,
    status: 'waiting',
    progress: null,
    last_run: null,
    last: null,
    error: null,
  })
  const ask = () => service.request('/v1/retention/run', { body: { project_automation_id: rule } })
  expect((await ask()).json).toMatchObject({ status: expect.stringMatching(/running|queued/) })
  const steps = new Set<unknown>()
  let seen = await state()
  for (; String(seen.status) !== 'waiting'; seen = await state()) steps.add(seen.progress?.step)
  expect(seen.last).toMatchObject({ traces: 600, records: 600, held: 0, kept: 0 })
  expect(steps.size).toBeGreaterThan(1)
  expect((await idsIn(project)).length).toBe(600)
  // Whoever asks while it runs gets a run that begins afterwards.
  await service.insert('project_logs', project, rows(40))
  await Promise.all([ask(), ask(), ask()])
  await expect.poll(async () => (await state()).status, { timeout: 20_000 }).toBe('waiting')
  expect((await idsIn(project)).length).toBe(600)
})

test('a rule that is paused does nothing, and what is wrong with one is told', async () => {
  const project = await service.project('paused')
  await service.insert('project_logs', project, [span('old', 'old', 40)])
  const rule = await makeRule(project, { retention_days: 30, status: 'paused' })
  const asked = { body: { project_automation_id: rule } }
  expect((await service.request('/v1/retention/run', asked)).json).toMatchObject({
    status: 'paused',
    last: null,
  })
  expect(await idsIn(project)).toEqual(['old'])
  const wrong = await makeRule(project, {
    retention_days: 30,
    keep_filter: "search('a', 'b', 'c')",
  })
  await service.request('/v1/retention/run', { body: { project_automation_id: wrong } })
  const state = async () => (await service.request(`/v1/retention/${wrong}`)).json
  await expect.poll(async () => (await state()).status).toBe('failed')
  expect((await state()).error).toMatchObject({ message: expect.stringContaining('search()') })
})

test('a filter that is no expression is refused when it is given', async () => {
  const project_id = await service.project('bad filter')
  const config = {
    event_type: 'retention',
    object_type: 'project_logs',
    retention_days: 1,
    keep_filter: "error is null) as kept | from: experiment('x') --",
  }
  const made = await service.request('/v1/project_automation', {
    body: { project_id, name: 'r', config },
  })
  expect(made.status).toBe(400)
})

test('a person is deleted with all versions and files, and a search of the files proves it', async () => {
  const project = await service.project('person')
  const user = 'a1b2c3d4-0000-4000-8000-9f8e7d6c5b4a'
  const email = 'erika.mustermann@example.com'
  const key = 'file-of-erika'
  for (const one of [key, 'older-file']) {
    const { json } = await service.request('/attachment', {
      body: { key: one, content_type: 'text/plain' },
    })
    const { pathname, search } = new URL(String(json.signedUrl))
    const letter = { method: 'PUT', body: `letter of Erika in ${one}`, key: null }
    await service.request(pathname + search, letter)
  }
  const file = {
    type: 'braintrust_attachment',
    key,
    filename: 'letter',
    content_type: 'text/plain',
  }
  await service.insert('project_logs', project, [
    { id: 'by-id', metadata: { user_id: user }, input: 'I am Erika Mustermann', output: file },
    { id: 'by-mail', input: { from: email } },
    { id: 'once', metadata: { user_id: user }, input: 'said something' },
    { id: 'gone', metadata: { user_id: user } },
    { id: 'replaced', metadata: { user_id: user }, output: { ...file, key: 'older-file' } },
    { id: 'other', metadata: { user_id: 'somebody' }, input: 'something else' },
    { id: 'held', metadata: { user_id: user }, tags: ['legal-hold'] },
  ])
  await service.insert('project_logs', project, [
    { id: 'once', metadata: { user_id: 'anonymous' } },
    { id: 'gone', _object_delete: true },
    { id: 'replaced', metadata: { user_id: user }, output: 'no file any more' },
  ])
  const asked = { project_id: project, user_ids: [user, email] }
  const dry = await service.request('/v1/delete_person', { body: { ...asked, dry_run: true } })
  expect(dry.json, dry.text).toMatchObject({ records: 5, held: 1, proof: null })
  expect((await idsIn(project)).length).toBe(6)
  await service.insert('project_logs', project, [{ id: 'held', input: 'no tag' }])
  const done = await service.request('/v1/delete_person', { body: asked })
  expect(done.json, done.text).toMatchObject({
    records: 6,
    held: 0,
    attachments: 2,
    proof: { versions: 0, files: [] },
  })
  const { hash, ...rest } = done.json
  expect(hash).toBe(createHash('sha256').update(JSON.stringify(rest)).digest('hex'))
  expect(done.text).not.toContain(user)
  expect(await idsIn(project)).toEqual(['other'])
  for (const text of [email, 'Erika', user, 'said something']) {
    expect(filesWith(service.directory, text), text).toEqual([])
  }
  const trail = await service.request(`/v1/audit_trail?entry_id=${project}`)
  expect(trail.json.objects![0]).toMatchObject({ after: { deleted_person: { hash } } })
})

test('a query that began before rows leave sees all of them, and they leave once it has ended', async () => {
  const project = await service.project('read meanwhile')
  const text = 'x'.repeat(4000)
  for (let from = 0; from < 4000; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => {
      return span(`r${from + i}`, `r${from + i}`, 40, { output: `${from + i} ${text}` })
    })
    await service.insert('project_logs', project, rows)
  }
  const query = `select: id, output | from: project_logs('${project}')`
  const response = await service.fetch('/btql', { body: { query, fmt: 'jsonl' } })
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  let received = Buffer.from(value!).toString()
  let isDone = false
  const rule = await makeRule(project, { retention_days: 30 })
  const removed = run(rule).finally(() => {
    isDone = true
  })
  while (!isDone && (await idsIn(project)).length > 0);
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    received += Buffer.from(part.value).toString()
  }
  const ids = received.split('\n').filter((line) => line.startsWith('{"id"'))
  expect(ids.length).toBe(4000)
  expect(await removed).toMatchObject({ records: 4000 })
}, 60_000)
