import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
beforeAll(async () => {
  service = await RunningService.start()
})
afterAll(() => service.stop())

const remove = (path: string) => service.request(path, { method: 'DELETE' })

async function idsIn(project: string): Promise<unknown[]> {
  const { json, text } = await service.query(`select: id | from: project('${project}') | sort: id`)
  expect(json.data, text).toBeDefined()
  return (json.data as unknown as { id: string }[]).map(({ id }) => id)
}

test('records of a removed experiment are in no answer any more, at once', async () => {
  const project = await service.project('Removal')
  const experiment = await service.create('experiment', project, 'e')
  const dataset = await service.create('dataset', project, 'd')
  await service.insert('experiment', experiment, [{ id: 'in-experiment', input: 1 }])
  await service.insert('dataset', dataset, [{ id: 'in-dataset', input: 1 }])
  await service.insert('project_logs', project, [{ id: 'in-logs', input: 1 }])
  expect(await idsIn(project)).toEqual(['in-dataset', 'in-experiment', 'in-logs'])

  const removed = await remove(`/v1/experiment/${experiment}`)
  expect(removed.json).toMatchObject({ id: experiment, deleted_at: expect.stringMatching(/Z$/) })
  expect(await idsIn(project)).toEqual(['in-dataset', 'in-logs'])
  const asked = `select: * | from: experiment('${experiment}')`
  expect((await service.query(asked)).status).toBe(403)
  expect((await service.request(`/v1/experiment/${experiment}/fetch`)).status).toBe(403)
  expect((await service.insert('experiment', experiment, [{ id: 'late' }])).status).toBe(403)
  expect((await remove(`/v1/experiment/${experiment}`)).status).toBe(403)

  const again = await service.create('experiment', project, 'e')
  expect(again).not.toBe(experiment)
  const { json } = await service.query(`select: * | from: experiment('${again}')`)
  expect(json.data).toEqual([])
})

test('a removed project takes all of it along', async () => {
  const project = await service.project('Whole')
  const dataset = await service.create('dataset', project, 'd')
  await service.insert('dataset', dataset, [{ id: 'r', input: 1 }])
  const tag = await service.request('/v1/project_tag', { body: { project_id: project, name: 't' } })
  expect((await remove(`/v1/project/${project}`)).status).toBe(200)
  const gone = [
    await service.query(`select: * | from: project('${project}')`),
    await service.query(`select: * | from: dataset('${dataset}')`),
    await service.query(`select: * | from: project_logs('${project}')`),
    await service.request(`/v1/dataset/${dataset}`),
    await service.request(`/v1/project_tag/${String(tag.json.id)}`),
  ]
  expect(gone.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
  expect((await service.request(`/v1/dataset?project_id=${project}`)).json.objects).toEqual([])
  const trail = await service.request(`/v1/audit_trail?entry_id=${project}&limit=1`)
  expect(trail.json.objects).toMatchObject([{ action: 'delete', entry_name: 'Whole' }])
})
