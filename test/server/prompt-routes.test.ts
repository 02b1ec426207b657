import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('Prompts')
})
afterAll(() => service.stop())

const promptData = { prompt: { type: 'completion', content: 'x' }, options: { model: 'm' } }

function prompt(slug: string, more: object = {}) {
  const body = { project_id: project, name: slug, slug, prompt_data: promptData, ...more }
  return service.request('/v1/prompt', { body })
}

async function list(kind: string, query: string) {
  const { json, text } = await service.request(`/v1/${kind}?${query}`)
  expect(json.objects, text).toBeDefined()
  return json.objects as unknown as { id: string; slug: string; description: string | null }[]
}

test('a prompt has the keys that the strictest clients allow, and is made once', async () => {
  const made = await prompt('once', { tags: ['t'] })
  expect(made.status, made.text).toBe(200)
  expect(Object.keys(made.json).sort()).toEqual(
    [
      '_xact_id',
      'created',
      'description',
      'id',
      'log_id',
      'metadata',
      'name',
      'org_id',
      'project_id',
      'prompt_data',
      'slug',
      'tags',
    ].sort(),
  )
  expect(made.json).toMatchObject({ log_id: 'p', project_id: project, prompt_data: promptData })
  const again = await prompt('once', { description: 'other' })
  expect(again.json).toEqual(made.json)
  expect((await service.request(`/v1/prompt/${String(made.json.id)}`)).json).toEqual(made.json)
})

test('what is made at the same time with one slug is one', async () => {
  const made = await Promise.all(Array.from({ length: 10 }, () => prompt('same')))
  expect(new Set(made.map(({ json }) => json.id)).size).toBe(1)
})

test('changes make versions, which stay readable', async () => {
  const first = (await prompt('versions', { description: 'one' })).json
  const path = `/v1/prompt/${String(first.id)}`
  const patch = { description: 'two', prompt_data: { options: { params: { temperature: 1 } } } }
  const second = (await service.request(path, { method: 'PATCH', body: patch })).json
  expect(second).toMatchObject({
    description: 'two',
    created: first.created,
    prompt_data: { ...promptData, options: { model: 'm', params: { temperature: 1 } } },
  })
  expect((await service.request(`${path}?version=${String(first._xact_id)}`)).json).toEqual(first)
  const [listed] = await list('prompt', `slug=versions&version=${String(first._xact_id)}`)
  expect(listed?.description).toBe('one')
  const body = { project_id: project, name: 'n', slug: 'versions' }
  const put = await service.request('/v1/prompt', { method: 'PUT', body })
  expect(put.headers.get('deprecation')).toBe('true')
  expect(put.json).toMatchObject({ id: first.id, name: 'n', prompt_data: null, description: null })
  const removed = await service.request(path, { method: 'DELETE' })
  expect(removed.json).toMatchObject({ id: first.id, slug: 'versions', _object_delete: true })
  expect((await service.request(path)).status).toBe(403)
  expect(await list('prompt', 'slug=versions')).toEqual([])
  expect((await service.request(`${path}?version=${String(first._xact_id)}`)).json).toEqual(first)
})

test('a slug is taken by functions, too, and one cannot be renamed to it', async () => {
  const body = {
    project_id: project,
    name: 'f',
    slug: 'tool',
    function_type: 'tool',
    function_data: { type: 'global', name: 'g' },
  }
  const made = await service.request('/v1/function', { body })
  expect(made.json).toMatchObject({ function_type: 'tool', function_data: { type: 'global' } })
  const other = (await prompt('renamed')).json
  const renamed = await service.request(`/v1/prompt/${String(other.id)}`, {
    method: 'PATCH',
    body: { slug: 'tool' },
  })
  expect(renamed).toMatchObject({ status: 400, json: { error: { path: 'slug' } } })
  expect(await list('prompt', 'slug=tool')).toEqual([])
  expect(await list('function', 'slug=tool&function_type=tool')).toHaveLength(1)
  expect(await list('function', 'slug=renamed')).toHaveLength(1)
  const invoke = await service.request(`/v1/function/${String(made.json.id)}/invoke`, {
    body: { input: 1 },
  })
  expect(invoke).toMatchObject({ status: 501, json: { Code: 'NotImplementedError' } })
})

test('lists are newest first and come in pages, over the organization or a project', async () => {
  const other = await service.project('Other')
  for (const slug of ['a', 'b', 'c']) await prompt(slug, { project_id: other })
  const slugs = async (query: string) =>
    (await list('prompt', query)).map(({ slug }) => slug).join('')
  expect(await slugs('project_name=Other')).toBe('cba')
  expect(await slugs('limit=2')).toBe('cb')
  const [c, b, a] = await list('prompt', `project_id=${other}`)
  expect(await slugs(`project_id=${other}&limit=1&starting_after=${c!.id}`)).toBe('b')
  expect(await slugs(`project_id=${other}&limit=1&ending_before=${a!.id}`)).toBe('b')
  expect(await slugs(`ids=${a!.id},${b!.id}`)).toBe('ba')
  expect(await slugs('project_name=Other&prompt_name=b')).toBe('b')
  expect(await slugs('project_name=none')).toBe('')
})

test('a removed function takes its variables along', async () => {
  const { json } = await prompt('with-parts')
  const owner = { object_type: 'function', object_id: json.id }
  const made = await service.request('/v1/env_var', { body: { ...owner, name: 'E', value: 'x' } })
  expect(made.status, made.text).toBe(200)
  await service.request(`/v1/function/${String(json.id)}`, { method: 'DELETE' })
  expect((await service.request(`/v1/env_var/${String(made.json.id)}`)).status).toBe(403)
  const absent = { object_type: 'function', object_id: json.id, name: 'E' }
  expect((await service.request('/v1/env_var', { body: absent })).status).toBe(403)
})
