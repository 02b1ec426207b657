import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let project: string

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project()
})
afterAll(() => service.stop())

async function announce(key: string, content_type = 'image/png') {
  const body = { key, filename: 'grüße (1).png', content_type, org_id: null }
  return (await service.request('/attachment', { body })).json
}

/** To a signed URL, without a key. */
function send(url: unknown, body: Uint8Array | string): Promise<Response> {
  return fetch(String(url), { method: 'PUT', body })
}

async function stored(bytes: Uint8Array, contentType?: string): Promise<string> {
  const key = randomUUID()
  const { signedUrl } = await announce(key, contentType)
  expect((await send(signedUrl, bytes)).status).toBe(200)
  return key
}

async function download(key: string, headers: Record<string, string> = {}): Promise<Response> {
  const { json } = await service.request(`/attachment?key=${key}`)
  return fetch(String(json.downloadUrl), { headers })
}

describe('attachments', () => {
  test('announced, uploaded, and read again', async () => {
    const key = randomUUID()
    const { signedUrl, headers } = await announce(key)
    expect(headers).toEqual({ 'content-type': 'image/png' })
    const before = await service.request(`/attachment?key=${key}`)
    expect(before.json.status).toEqual({ upload_status: 'uploading' })
    expect((await fetch(String(before.json.downloadUrl))).status).toBe(404)

    const bytes = randomBytes(3_000_000)
    expect((await send(signedUrl, bytes)).status).toBe(200)
    const status = { upload_status: 'done' }
    await service.request('/attachment/status', { body: { key, org_id: null, status } })
    const after = await service.request(`/attachment?key=${key}&filename=ignored`)
    expect(after.json.status).toEqual(status)
    const response = await download(key)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('content-disposition')).toBe(
      `inline; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%281%29.png`,
    )
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  })

  test('are for those who may read what names them, and until then for who announced them', async () => {
    const member = async (email: string) => {
      const { organizationId: org_id } = service.access.authenticate({ token: testKey })
      const invite_users = { emails: [email] }
      await service.request('/v1/organization/members', { method: 'PATCH', body: { invite_users } })
      const user_id = service.access.catalog.named('user', '', email)!.id
      const { text: key } = await service.access.issueKey({ org_id, user_id }, 'key')
      return { user_id, key }
    }
    const [reader, outsider] = [await member('r@example.com'), await member('o@example.com')]
    const { json: experiment } = await service.request('/v1/experiment', {
      body: { project_id: project, name: 'with a file' },
    })
    const give = (user_id: string, object_id: unknown, permission: string) =>
      service.request('/v1/acl', {
        body: { object_type: 'experiment', object_id, user_id, permission },
      })
    await give(reader.user_id, experiment.id, 'read')
    const file = await stored(Buffer.from('private'))
    const as = async (key: string) =>
      (await service.request(`/attachment?key=${file}`, { key })).status
    expect([await as(testKey), await as(reader.key), await as(outsider.key)]).toEqual([
      200, 403, 403,
    ])

    // To write the key of a file that is not for one gives nobody a right to it.
    const reference = { type: 'braintrust_attachment', key: file, filename: 'f', content_type: 'x' }
    const { json: own } = await service.request('/v1/experiment', {
      body: { project_id: project, name: 'of the outsider' },
    })
    for (const permission of ['read', 'update']) await give(outsider.user_id, own.id, permission)
    const events = { events: [{ id: 'stolen', input: { nested: [reference] } }] }
    const taken = await service.request(`/v1/experiment/${String(own.id)}/insert`, {
      body: events,
      key: outsider.key,
    })
    expect(taken.status).toBe(200)
    expect(await as(outsider.key)).toBe(403)

    const rows = [{ id: 'row', experiment_id: experiment.id, output: reference }]
    expect((await service.request('/logs3', { body: { rows } })).status).toBe(200)
    expect([await as(testKey), await as(reader.key), await as(outsider.key)]).toEqual([
      200, 200, 403,
    ])
    const absent = await service.request(`/attachment?key=never`, { key: outsider.key })
    const hidden = await service.request(`/attachment?key=${file}`, { key: outsider.key })
    expect(hidden.json.Message).toBe(String(absent.json.Message).replace('never', file))
    await service.request(`/v1/experiment/${String(experiment.id)}`, { method: 'DELETE' })
    expect(await as(reader.key)).toBe(403)
  })

  test('a file that came is not replaced', async () => {
    const key = await stored(Buffer.from('first'))
    const body = { key, filename: 'x', content_type: 'text/plain' }
    expect((await service.request('/attachment', { body })).status).toBe(400)
    expect(await (await download(key)).text()).toBe('first')
  })

  test.each([
    ['bytes=0-0', 206, 'a', 'bytes 0-0/26'],
    ['bytes=20-', 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-3', 206, 'xyz', 'bytes 23-25/26'],
    ['bytes=24-99', 206, 'yz', 'bytes 24-25/26'],
    ['bytes=26-', 416, '', 'bytes */26'],
    ['bytes=1-2,4-5', 200, 'abcdefghijklmnopqrstuvwxyz', null],
  ])('the range %s', async (range, status, text, contentRange) => {
    const key = await stored(Buffer.from('abcdefghijklmnopqrstuvwxyz'))
    const response = await download(key, { range })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-range')).toBe(contentRange)
    expect(await response.text()).toBe(text)
  })

  test('what a browser could run is saved instead', async () => {
    const { headers } = await download(await stored(Buffer.from('<script>'), 'text/html'))
    expect(headers.get('content-disposition')).toMatch(/^attachment/)
    expect(headers.get('content-security-policy')).toBe('sandbox')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('a failed upload is told', async () => {
    const key = randomUUID()
    await announce(key)
    const status = { upload_status: 'error', error_message: 'no network' }
    await service.request('/attachment/status', { body: { key, status } })
    const { json } = await service.request(`/attachment?key=${key}`)
    expect(json.status).toEqual(status)
  })

  test('without a key or with another link there is nothing', async () => {
    const key = await stored(Buffer.from('secret'))
    expect((await service.request(`/attachment?key=${key}`, { key: null })).status).toBe(401)
    expect((await service.request(`/attachment?key=${randomUUID()}`)).status).toBe(403)
    const { json } = await service.request(`/attachment?key=${key}`)
    const changed = String(json.downloadUrl).replace(/signature=../, 'signature=AA')
    expect((await fetch(changed)).status).toBe(403)
    expect((await send(json.downloadUrl, 'overwritten')).status).toBe(403)
  })

  test('what lies elsewhere is read from there', async () => {
    const url = 'https://files.example.com/a.png'
    const { json } = await service.request(`/attachment?url=${encodeURIComponent(url)}`)
    expect(json).toEqual({ downloadUrl: url, status: { upload_status: 'done' } })
    expect((await service.request('/attachment?url=s3%3A%2F%2Fb%2Fk')).status).toBe(400)
  })
})

describe('rows that are uploaded first', () => {
  async function overflow(size_bytes: number) {
    const body = { content_type: 'application/json', size_bytes, rows: [] }
    return service.request('/logs3/overflow', { body })
  }

  function reference(key: unknown) {
    return service.request('/logs3', {
      body: { rows: { type: 'logs3_overflow', key }, api_version: 2 },
    })
  }

  test('are written when they are named, once', async () => {
    const { json } = await overflow(100)
    expect(json).toMatchObject({ method: 'PUT', headers: { 'content-type': 'application/json' } })
    const rows = [{ id: 'big', project_id: project, log_id: 'g', input: 'x'.repeat(2_000_000) }]
    expect((await reference(json.key)).status).toBe(400)
    await send(json.signedUrl, JSON.stringify({ rows, api_version: 2 }))
    expect((await reference(json.key)).json).toMatchObject({ ids: ['big'] })
    const answer = await service.query(
      `select: len(input) as size | from: project_logs('${project}') | filter: id = 'big'`,
    )
    expect(answer.json.data).toEqual([{ size: 2_000_000 }])
    expect((await reference(json.key)).status).toBe(400)
  })

  test('are refused before they are sent when they are too large', async () => {
    expect((await overflow(2 ** 40)).status).toBe(413)
  })

  test('a row that only speaks of it is a row', async () => {
    const rows = [{ id: 'word', project_id: project, log_id: 'g', input: 'logs3_overflow' }]
    expect((await service.request('/logs3', { body: { rows } })).json).toMatchObject({
      ids: ['word'],
    })
  })
})
