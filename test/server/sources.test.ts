import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('weather')
})
afterAll(() => service.stop())

async function rows(query: string): Promise<unknown> {
  const { status, json, text } = await service.query(query)
  if (status !== 200) throw new Error(text)
  return json.data
}

test('prompts, functions and views are written by log_id and read by their sources', async () => {
  const row = { project_id: project, log_id: 'p' }
  const { status } = await service.request('/logs3', {
    body: {
      rows: [
        { ...row, id: 'p1', slug: 'summary', prompt_data: { options: { model: 'm' } } },
        { ...row, id: 'f1', slug: 'tool', function_data: { type: 'code' }, function_type: 'tool' },
        { project_id: project, log_id: 'v', id: 'v1', name: 'Mine', view_type: 'logs' },
      ],
    },
  })
  expect(status).toBe(200)
  expect(await rows("select: slug | from: project_prompts('weather')")).toEqual([
    { slug: 'summary' },
  ])
  expect(await rows("select: slug | from: org_functions('default') | sort: slug")).toEqual([
    { slug: 'summary' },
    { slug: 'tool' },
  ])
  expect(await rows("select: name | from: view('v1')")).toEqual([{ name: 'Mine' }])

  await service.request('/logs3', { body: { rows: [{ ...row, id: 'p1', _object_delete: true }] } })
  expect(await rows("select: slug | from: prompt('p1')")).toEqual([])
})

test('all columns of a prompt, and nothing of spans', async () => {
  const prompt = { id: 'p2', project_id: project, log_id: 'p', name: 'P', slug: 'p' }
  await service.request('/logs3', { body: { rows: [prompt] } })
  const [row] = (await rows("select: * | from: prompt('p2')")) as [Record<string, unknown>]
  expect(row).toMatchObject({ ...prompt, description: null, prompt_data: null, tags: null })
  expect(Object.keys(row)).toEqual([
    '_pagination_key',
    '_xact_id',
    'audit_data',
    'comments',
    'created',
    'description',
    'function_data',
    'function_schema',
    'function_type',
    'id',
    'is_root',
    'log_id',
    'metadata',
    'name',
    'org_id',
    'origin',
    'project_id',
    'prompt_data',
    'root_span_id',
    'slug',
    'span_id',
    'tags',
  ])
})

test('a playground is made like an experiment and logged to by its id', async () => {
  const body = { project_id: project, name: 'play' }
  const made = await service.request('/v1/prompt_session', { body })
  expect(made.json).toMatchObject({ ...body, description: null })
  const again = await service.request('/v1/prompt_session', { body })
  expect(again.headers.get('x-bt-found-existing')).toBe('true')
  const id = String(made.json.id)
  expect((await service.request(`/v1/prompt_session/${id}`)).json).toEqual(made.json)
  const listed = await service.request('/v1/prompt_session?project_name=weather')
  expect(listed.json.objects).toEqual([made.json])
  const absent = '00000000-0000-4000-8000-000000000000'
  expect((await service.request(`/v1/prompt_session/${absent}`)).status).toBe(403)
  expect((await service.request('/v1/prompt_session/none')).status).toBe(400)

  const span = { id: 's', prompt_session_id: id, log_id: 'x', input: 1 }
  expect((await service.request('/logs3', { body: { rows: [span] } })).status).toBe(200)
  expect(await rows("select: id, log_id | from: playground_logs('play')")).toEqual([
    { id: 's', log_id: 'x' },
  ])
  const elsewhere = { rows: [{ ...span, prompt_session_id: 'none' }] }
  expect((await service.request('/logs3', { body: elsewhere })).status).toBe(403)
})

test('an experiment goes by its name', async () => {
  const experiment = await service.create('experiment', project, 'first')
  await service.insert('experiment', experiment, [{ id: 'a', input: 1 }])
  expect(await rows("select: id | from: experiment('first')")).toEqual([{ id: 'a' }])
  const { status, json } = await service.query("select: id | from: experiment('frist')")
  expect(status).toBe(403)
  expect(json.error).toMatchObject({ line: 1, column: 31, hint: 'did you mean "first"?' })
})

test('columns of what a source may have are known when it has none', async () => {
  const alone = await service.project('alone')
  await service.insert('project_logs', alone, [{ id: 'a', input: 1 }])
  expect(
    await rows(
      `SELECT CASE WHEN experiment_id IS NULL THEN 'logs' ELSE 'experiments' END AS source, ` +
        `count(1) AS n FROM project('${alone}', shape => 'spans') ` +
        `WHERE dataset_id IS NULL GROUP BY 1`,
    ),
  ).toEqual([{ source: 'logs', n: 1 }])
  expect(await rows("select: id, scores | from: project_logs('alone')")).toEqual([
    { id: 'a', scores: null },
  ])
  const other = await service.query("select: experiment_id | from: project_logs('alone')")
  expect(other.text).toContain('BIND_UNKNOWN_FIELD')
  const [row] = (await rows(`select: * | from: project('alone')`)) as [object]
  expect(Object.keys(row)).not.toContain('dataset_id')
})
