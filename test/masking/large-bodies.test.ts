/** Bodies that other threads prepare are masked there: large ones, and many small ones together. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let open: string

beforeAll(async () => {
  service = await RunningService.start({ ASSAY_WORKERS: '2' })
  project = await service.project()
  open = await service.project('open')
  const rule = { pattern: { type: 'email' }, action: { type: 'replace' } }
  await service.request('/v1/masking_rule', { body: { name: 'a', project_id: project, ...rule } })
})
afterAll(() => service.stop())

function isOnDisk(text: string): boolean {
  const files = readdirSync(service.directory, { recursive: true, encoding: 'utf8' })
  return files.some((file) => {
    const path = join(service.directory, file)
    return statSync(path).isFile() && readFileSync(path).includes(text)
  })
}

async function countOf(id: string, text: string) {
  const query = `measures: count(1) as n | from: project_logs('${id}') | filter: input LIKE '%${text}%'`
  const { json } = await service.query(query)
  const [row] = json.data as unknown as [{ n: number }]
  return row?.n ?? 0
}

test('a large body, and one whose rows are of projects with other rules', async () => {
  const events = Array.from({ length: 3000 }, (_, i) => {
    return { id: `l${i}`, input: `row ${i} of hidden${i}@example.com ${'x'.repeat(100)}` }
  })
  expect((await service.insert('project_logs', project, events)).status).toBe(200)
  expect(await countOf(project, '[email]')).toBe(3000)
  const rows = events.flatMap(({ id, input }) => [
    { id: `m${id}`, input, project_id: project, log_id: 'g' },
    { id: `m${id}`, input: input.replace('hidden', 'shown'), project_id: open, log_id: 'g' },
  ])
  expect((await service.request('/logs3', { body: { rows } })).status).toBe(200)
  expect(await countOf(project, '[email]')).toBe(6000)
  expect(await countOf(open, '@example.com')).toBe(3000)
  expect(isOnDisk('hidden17@example')).toBe(false)
})

test('small bodies that come together', async () => {
  const sent = Array.from({ length: 60 }, async (_, i) => {
    const events = [{ id: `s${i}`, input: `small${i} of together${i}@example.com` }]
    return (await service.insert('project_logs', i % 2 === 0 ? project : open, events)).status
  })
  expect(new Set(await Promise.all(sent))).toEqual(new Set([200]))
  expect(await countOf(project, 'small')).toBe(30)
  expect(await countOf(project, 'together')).toBe(0)
  expect(await countOf(open, 'together')).toBe(30)
})
