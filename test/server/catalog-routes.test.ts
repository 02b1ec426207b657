import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

test('a project is made once', async () => {
  const body = { name: 'Once', description: 'first' }
  const made = await service.request('/v1/project', { body })
  expect(made.status).toBe(200)
  expect(made.headers.get('x-bt-found-existing')).toBeNull()
  expect(Object.keys(made.json)).toEqual([
    'id',
    'org_id',
    'name',
    'description',
    'created',
    'deleted_at',
    'user_id',
    'settings',
  ])
  const again = await service.request('/v1/project', { body: { ...body, description: 'second' } })
  expect(again.headers.get('x-bt-found-existing')).toBe('true')
  expect(again.json).toEqual(made.json)
  const put = await service.request('/v1/project', { method: 'PUT', body })
  expect(put.headers.get('deprecation')).toBe('true')
  expect(put.json).toEqual(made.json)
  expect((await service.request(`/v1/project/${String(made.json.id)}`)).json).toEqual(made.json)
})

test('an experiment has every field of its schema', async () => {
  const project = await service.project()
  const { json } = await service.request('/v1/experiment', {
    body: {
      project_id: project,
      name: 'e',
      description: null,
      repo_info: { commit: 'abc', dirty: false },
      tags: ['a'],
      metadata: { model: 'm', ['__proto__']: 1 },
      public: true,
    },
  })
  expect(json).toMatchObject({
    project_id: project,
    name: 'e',
    description: null,
    repo_info: { commit: 'abc', dirty: false },
    commit: 'abc',
    base_exp_id: null,
    deleted_at: null,
    dataset_id: null,
    dataset_version: null,
    internal_metadata: null,
    parameters_id: null,
    parameters_version: null,
    public: true,
    metadata: { model: 'm' },
    tags: ['a'],
  })
  expect((await service.request(`/v1/experiment/${String(json.id)}`)).json).toEqual(json)
})

test('ensure_new never returns an existing experiment; a name is made up if there is none', async () => {
  await service.project('Named')
  const make = (body: object) =>
    service.request('/v1/experiment', { body: { project_name: 'Named', ...body } })
  const first = await make({ name: 'e' })
  const second = await make({ name: 'e', ensure_new: true })
  expect(second.json.id).not.toBe(first.json.id)
  expect(second.json.name).toMatch(/^e-[0-9a-f]{8}$/)
  expect((await make({})).json.name).toMatch(/^experiment-\d+$/)
})

test('a dataset has every field of its schema', async () => {
  const project = await service.project()
  const body = { project_id: project, name: 'My Data' }
  const { json } = await service.request('/v1/dataset', { body })
  expect(json).toMatchObject({ name: 'My Data', tags: null, metadata: null, description: null })
  expect(json.url_slug).toMatch(/^my-data-/)
  expect((await service.request(`/v1/dataset/${String(json.id)}`)).json).toEqual(json)
  const put = await service.request('/v1/dataset', { method: 'PUT', body })
  expect(put.headers.get('x-bt-found-existing')).toBe('true')
})

test('creating at the same time makes one', async () => {
  const project = await service.project()
  const body = { project_id: project, name: 'same' }
  const made = await Promise.all(
    Array.from({ length: 20 }, () => service.request('/v1/experiment', { body })),
  )
  expect(new Set(made.map(({ json }) => json.id)).size).toBe(1)
})

test('lists are newest first, and are narrowed by name, id and page', async () => {
  const project = await service.project('Lists')
  const ids = []
  for (const name of ['a', 'b', 'c', 'd']) ids.push(await service.create('dataset', project, name))
  const list = async (query: string) => {
    const { status, json } = await service.request(`/v1/dataset?project_id=${project}&${query}`)
    expect(status).toBe(200)
    return Array.from(json.objects as unknown as { name: string }[], ({ name }) => name).join('')
  }
  expect(await list('')).toBe('dcba')
  expect(await list('limit=2')).toBe('dc')
  expect(await list(`limit=2&starting_after=${ids[2]}`)).toBe('ba')
  expect(await list(`starting_after=${ids[0]}`)).toBe('')
  expect(await list(`limit=2&ending_before=${ids[0]}`)).toBe('cb')
  expect(await list('dataset_name=b')).toBe('b')
  expect(await list(`ids=${ids[0]},${ids[3]}`)).toBe('da')
  expect(await list('project_name=Lists&dataset_name=none')).toBe('')
  expect(await list('project_name=Other')).toBe('')
  for (const bad of ['limit=x', 'limit=-1', `starting_after=${ids[0]}&ending_before=${ids[1]}`]) {
    const { status } = await service.request(`/v1/dataset?project_id=${project}&${bad}`)
    expect(status).toBe(400)
  }
  const named = await service.request('/v1/project?name=Lists')
  expect(named.json.objects).toMatchObject([{ id: project }])
})

test.each(['project', 'experiment', 'dataset'])('a %s that is not there', async (type) => {
  const id = '00000000-0000-4000-8000-000000000000'
  const { status, json } = await service.request(`/v1/${type}/${id}`)
  expect(status).toBe(403)
  expect(json).toMatchObject({
    Code: 'ForbiddenError',
    Message: `Missing read access to ${type} id ${id}, or the ${type} does not exist`,
    Path: `/v1/${type}/${id}`,
  })
  for (const id of ['x', '__proto__', '%F0%9F%92%A7']) {
    const { status, json } = await service.request(`/v1/${type}/${id}`)
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ code: 'REQUEST_INVALID', path: `${type}_id` })
  }
})

test('an id of another type is not there', async () => {
  const project = await service.project()
  expect((await service.request(`/v1/experiment/${project}`)).status).toBe(403)
  const body = { project_id: await service.create('dataset', project), name: 'x' }
  expect((await service.request('/v1/experiment', { body })).status).toBe(400)
})

test.each([
  [{}, 'name'],
  [{ name: null }, 'name'],
  [{ name: 3 }, 'name'],
  [{ name: 'x', description: 3 }, 'description'],
  [{ name: 'x', settings: [] }, 'settings'],
])('a project of %j is refused', async (body, path) => {
  const { status, json } = await service.request('/v1/project', { body })
  expect(status).toBe(400)
  expect(json.error).toMatchObject({ code: 'REQUEST_INVALID', path })
})

test('an experiment needs a project that is there', async () => {
  const make = (body: object) => service.request('/v1/experiment', { body })
  expect((await make({ name: 'x' })).json.error).toMatchObject({ path: 'project_id' })
  expect((await make({ name: 'x', project_id: 'none' })).json.error).toMatchObject({
    path: 'project_id',
  })
  expect((await make({ name: 'x', project_name: 'none' })).json.error).toMatchObject({
    path: 'project_name',
  })
  const absent = { name: 'x', project_id: '00000000-0000-0000-0000-000000000000' }
  const refused = await make(absent)
  expect(refused).toMatchObject({ status: 400, json: { error: { path: 'project_id' } } })
  expect(refused.json.Message).toMatch(/^Missing read access to project id 0/)
})

test('metadata may be nested, but not without end', async () => {
  await service.project('Deep')
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const make = (depth: number) =>
    service.request('/v1/dataset', {
      body: `{"project_name":"Deep","name":"d${depth}","metadata":${nested(depth)}}`,
    })
  expect((await make(900)).status).toBe(200)
  const deep = await make(100_000)
  expect(deep).toMatchObject({ status: 400, json: { error: { code: 'REQUEST_TOO_DEEP' } } })
})

test('what was under /crud says what took its place, but for what the oldest clients ask', async () => {
  const gone = await service.request('/crud/experiments', { body: {} })
  expect(gone).toMatchObject({ status: 410, json: { Code: 'GoneError' } })
  expect(gone.json.Message).toContain('use /v1/experiment')
  const project = await service.project('Crud')
  const [older, newer] = [
    await service.create('experiment', project, 'older'),
    await service.create('experiment', project, 'newer'),
  ]
  const asked = await service.request(`/crud/base_experiments?id=${newer}`)
  expect(asked.json).toEqual([{ id: newer, base_exp_id: older, base_exp_name: 'older' }])
  expect((await service.request(`/crud/base_experiments?id=${older}`)).json).toEqual([])
})

test('null takes the description of an environment away, and that of nothing else', async () => {
  const body = { name: 'Live', slug: 'live', description: 'd' }
  const { json: made } = await service.request('/environment', { body })
  const patch = (path: string, fields: object) =>
    service.request(path, { method: 'PATCH', body: fields })
  const environment = await patch(`/environment/${made.id}`, { name: null, description: null })
  expect(environment.json).toMatchObject({ name: 'Live', slug: 'live', description: null })
  const { json: project } = await service.request('/v1/project', {
    body: { name: 'described', description: 'd' },
  })
  const kept = await patch(`/v1/project/${project.id}`, { description: null })
  expect(kept.json).toMatchObject({ description: 'd' })
})
