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

test('bodies that lie one after the other in the same memory, with other names at the same places', async () => {
  const own = await service.project('fields')
  const rule = { fields: ['password'], action: { type: 'replace' } }
  await service.request('/v1/masking_rule', { body: { name: 'b', project_id: own, ...rule } })
  const large = (name: string, value: string) =>
    Array.from({ length: 1000 }, (_, i) => {
      const id = `${name}${String(i).padStart(4, '0')}`
      return { id, metadata: { [name]: value }, input: 'x'.repeat(200) }
    })
  for (let i = 0; i < 4; i++) {
    const sent = i % 2 === 0 ? large('username', 'ann-4711') : large('password', 'key-4711')
    expect((await service.insert('project_logs', own, sent)).status).toBe(200)
  }
  const query = `select: metadata | from: project_logs('${own}') | filter: metadata.password is not null | limit: 2000`
  const { json } = await service.query(query)
  const data = json.data as unknown as { readonly metadata: unknown }[]
  const shown = new Set(data.map(({ metadata }) => JSON.stringify(metadata)))
  expect([...shown]).toEqual(['{"password":"[masked]"}'])
  expect(isOnDisk('key-4711')).toBe(false)
})

test('small bodies that are masked together, with other fields at the same places', async () => {
  const sent = Array.from({ length: 60 }, async (_, i) => {
    const field = i % 2 === 0 ? 'input' : 'error'
    // A row that says how it is merged is read member by member.
    const id = `f${String(i).padStart(2, '0')}`
    const events = [
      {
        id,
        _is_merge: true,
        _merge_paths: [['metadata']],
        [field]: `${field} of fields@example.com`,
      },
    ]
    return (await service.insert('project_logs', project, events)).status
  })
  expect(new Set(await Promise.all(sent))).toEqual(new Set([200]))
  const query = `select: input, error | from: project_logs('${project}') | filter: id like 'f__' | limit: 100`
  const { json } = await service.query(query)
  const shown = new Set((json.data as unknown as object[]).map((row) => JSON.stringify(row)))
  expect([...shown].sort()).toEqual([
    '{"input":"input of [email]","error":null}',
    '{"input":null,"error":"error of [email]"}',
  ])
})
