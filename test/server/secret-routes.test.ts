import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('Secrets')
})
afterAll(() => service.stop())

const secret = 'sk-very-secret-0123456789'

test('an environment variable can be written and not read', async () => {
  const body = { object_type: 'project', object_id: project, name: 'KEY', value: secret }
  const made = await service.request('/v1/env_var', { body })
  expect(made.json).toMatchObject({
    name: 'KEY',
    preview_secret: '***6789',
    secret_category: 'env_var',
    used: null,
  })
  const path = `/v1/env_var/${String(made.json.id)}`
  const patch = { name: 'KEY', value: `${secret}-new` }
  const changed = await service.request(path, { method: 'PATCH', body: patch })
  expect(changed.json.preview_secret).toBe('***-new')
  const put = await service.request('/v1/env_var', {
    method: 'PUT',
    body: { ...body, value: null },
  })
  expect(put.json).toMatchObject({ id: made.json.id, preview_secret: null })
  const listed = await service.request(`/v1/env_var?object_type=project&object_id=${project}`)
  expect(listed.json.objects).toMatchObject([{ id: made.json.id }])
  for (const { text } of [made, changed, put, listed]) expect(text).not.toContain('very-secret')
  expect((await service.request(path, { method: 'DELETE' })).json.id).toBe(made.json.id)
  expect((await service.request(path)).status).toBe(403)
})

test('an AI secret is removed by its name', async () => {
  const body = { name: 'OPENAI', type: 'openai', metadata: { a: { b: 1 } }, secret }
  const made = await service.request('/v1/ai_secret', { body })
  expect(made.json).toMatchObject({ type: 'openai', preview_secret: '***6789' })
  const path = `/v1/ai_secret/${String(made.json.id)}`
  const patch = { metadata: { a: { c: 2 } } }
  const changed = await service.request(path, { method: 'PATCH', body: patch })
  expect(changed.json).toMatchObject({ metadata: { a: { b: 1, c: 2 } }, preview_secret: '***6789' })
  const wrong = await service.request('/v1/ai_secret', { method: 'DELETE', body: { name: 'none' } })
  expect(wrong.status).toBe(403)
  const gone = await service.request('/v1/ai_secret', {
    method: 'DELETE',
    body: { name: 'OPENAI' },
  })
  expect(gone.json.id).toBe(made.json.id)
  expect((await service.request('/v1/ai_secret?ai_secret_type=openai')).json.objects).toEqual([])
})

test('no secret is on disk as it is, nor in the trail', async () => {
  await service.request('/v1/ai_secret', { body: { name: 'DISK', secret } })
  const trail = await service.request('/v1/audit_trail')
  const [newest] = trail.json.objects as unknown as object[]
  expect(newest).toMatchObject({ entry_type: 'ai_secret', action: 'create', entry_name: 'DISK' })
  expect(trail.text).not.toContain('very-secret')
  const records = join(service.directory, 'records')
  for (const file of readdirSync(records)) {
    expect(readFileSync(join(records, file)).includes('very-secret'), file).toBe(false)
  }
})

test('views belong to an object, which every request names', async () => {
  const owner = { object_type: 'project', object_id: project }
  const body = { ...owner, view_type: 'logs', name: 'Slow', view_data: { search: { filter: [] } } }
  const made = await service.request('/v1/view', { body })
  expect(made.json).toMatchObject({ ...body, options: null, deleted_at: null })
  expect((await service.request('/v1/view', { body })).json.id).toBe(made.json.id)
  const path = `/v1/view/${String(made.json.id)}`
  const query = `object_type=project&object_id=${project}`
  expect((await service.request(`${path}?${query}`)).json).toEqual(made.json)
  expect((await service.request(path)).json.error).toMatchObject({ path: 'object_type' })
  const patch = { ...owner, options: { rowHeight: 'tall' } }
  const changed = await service.request(path, { method: 'PATCH', body: patch })
  expect(changed.json).toMatchObject({ options: { rowHeight: 'tall' }, view_type: 'logs' })
  expect((await service.request(`/v1/view?${query}&view_type=monitor`)).json.objects).toEqual([])
  expect((await service.request(`/v1/view?${query}`)).json.objects).toMatchObject([
    { name: 'Slow' },
  ])
  const other = { object_type: 'project_log', object_id: project }
  expect((await service.request(path, { method: 'DELETE', body: other })).status).toBe(403)
  expect((await service.request(path, { method: 'DELETE', body: owner })).json.id).toBe(
    made.json.id,
  )
})
