/** A service is backed up while it runs, and made again from the backup. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allAnswers, backUp, differences, restoreFrom } from '../support/backups.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

let service: RunningService
let folder: string
let project: string
let experiment: string
let dataset: string

beforeAll(async () => {
  folder = await makeTemporaryDirectory('backups')
  service = await RunningService.start()
  project = await service.project('kept')
  experiment = await service.create('experiment', project, 'e')
  dataset = await service.create('dataset', project, 'd')
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true, force: true })
})

async function insert(type: string, id: string, events: readonly object[]): Promise<string> {
  const { status, text } = await service.insert(type, id, events)
  expect(status, text).toBe(200)
  const { json } = await service.query(`measures: max(_xact_id) as x | from: ${type}('${id}')`)
  return String((json.data as unknown as { x: string }[])[0]!.x)
}

const record = (i: number, more: object = {}) => {
  return { id: `r${i}`, input: `question ${i}`, scores: { a: i / 10 }, metadata: { i }, ...more }
}

async function upload(key: string, bytes: Uint8Array): Promise<void> {
  const body = { key, filename: 'f.bin', content_type: 'application/octet-stream', org_id: null }
  const { json } = await service.request('/attachment', { body })
  await fetch(String(json.signedUrl), { method: 'PUT', body: bytes })
  const status = { upload_status: 'done' }
  await service.request('/attachment/status', { body: { key, org_id: null, status } })
}

async function download(from: RunningService, key: string): Promise<Buffer> {
  const { json } = await from.request(`/attachment?key=${key}`)
  const path = new URL(String(json.downloadUrl))
  const response = await fetch(from.url + path.pathname + path.search)
  return Buffer.from(await response.arrayBuffer())
}

test('what is restored answers like the service that was backed up, at all its versions', async () => {
  const versions = [
    await insert(
      'experiment',
      experiment,
      Array.from({ length: 1200 }, (_, i) => record(i)),
    ),
    await insert('experiment', experiment, [record(7, { output: 'replaced' })]),
    await insert('experiment', experiment, [
      { id: 'r1', _is_merge: true, metadata: { merged: true } },
      { id: 'r2', _object_delete: true },
    ]),
  ]
  await insert('dataset', dataset, [record(1), record(7, { expected: { text: 'ä'.repeat(400) } })])
  versions.push(await insert('experiment', experiment, [record(2, { output: 'anew' })]))
  const gone = await service.create('experiment', project, 'gone')
  await insert('experiment', gone, [record(1)])
  await service.request(`/v1/experiment/${gone}`, { method: 'DELETE' })
  const expected = await allAnswers(service, versions)

  const taken = await backUp(service, folder)
  const again = await restoreFrom(folder)
  expect(again.restored.missing).toEqual([])
  expect(again.restored.transaction).toBe(taken.manifest.transaction)
  expect(differences(await allAnswers(again.service, versions), expected)).toEqual([])
  await again.service.request(`/v1/experiment/${experiment}/insert`, {
    body: { events: [record(1, { output: 'later' })] },
  })
  const { json } = await again.service.query(
    `select: output | from: experiment('${experiment}') | filter: id = 'r1'`,
  )
  expect(json.data).toEqual([{ output: 'later' }])
  await again.stop()
}, 60_000)

test('attachments, small and large, and secrets come back', async () => {
  const large = randomBytes(9_000_000)
  await upload('large', large)
  await upload('small', Buffer.from('text'))
  await insert('experiment', experiment, [
    record(100, { input: { type: 'braintrust_attachment', key: 'large' } }),
    record(101, { input: { type: 'braintrust_attachment', key: 'small' } }),
  ])
  const secret = await service.request('/v1/env_var', {
    body: { object_type: 'project', object_id: project, name: 'TOKEN', value: 'very secret 12345' },
  })
  expect(secret.status, secret.text).toBe(200)
  await backUp(service, folder)
  const { service: restored, stop } = await restoreFrom(folder)
  expect((await download(restored, 'large')).equals(large)).toBe(true)
  expect((await download(restored, 'small')).toString()).toBe('text')
  const { text } = await restored.request(`/v1/env_var/${secret.json.id}`)
  expect(text).toBe((await service.request(`/v1/env_var/${secret.json.id}`)).text)
  await stop()
}, 60_000)

test('a backup without secrets has no key of anybody, and everything else', async () => {
  const apart = join(folder, 'without')
  const { json: made } = await service.request('/v1/api_key', { body: { name: 'other' } })
  await backUp(service, apart, { hasSecrets: false })
  const { service: restored, stop } = await restoreFrom(apart)
  const asked = { key: String(made.key) }
  expect((await service.request('/v1/project', asked)).status).toBe(200)
  expect((await restored.request('/v1/project', asked)).status).toBe(401)
  // The operator's key is made anew by the start.
  const names = await restored.request('/v1/env_var')
  expect(names.text).toContain('TOKEN')
  const query = `measures: count(1) as n | from: experiment('${experiment}')`
  expect((await restored.query(query)).text).toBe((await service.query(query)).text)
  expect((await restored.request('/v1/project', { key: testKey })).status).toBe(200)
  await stop()
}, 60_000)
