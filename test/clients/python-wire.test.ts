/**
 * What the SDK for Python sends, as it sends it: nulls where others leave fields out, rows without a
 * content type, and answers that it makes objects of key by key, so that one too many breaks it.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answer, RunningService, testKey } from '../support/running-service.ts'

let service: RunningService
let organizationId: string

beforeAll(async () => {
  service = await RunningService.start()
  // An empty body, and the key in the header.
  const { json } = await service.request('/api/apikey/login', { method: 'POST' })
  const [organization] = json.org_info as unknown as Record<string, unknown>[]
  // All of these are looked up, also when the environment names other URLs.
  expect(Object.keys(organization!)).toEqual(
    expect.arrayContaining(['id', 'name', 'api_url', 'proxy_url']),
  )
  organizationId = String(organization!.id)
})
afterAll(() => service.stop())

/** Bytes have no content type of their own, as the text that Python's client sends has none. */
function sendRows(body: object): Promise<Answer> {
  return service.request('/logs3', { body: Buffer.from(JSON.stringify(body)) })
}

async function experiment(project_name: string, experiment_name: string | null) {
  const { json, status, text } = await service.request('/api/experiment/register', {
    body: {
      project_name,
      project_id: null,
      org_id: organizationId,
      update: null,
      experiment_name,
      description: null,
      repo_info: null,
      base_experiment: null,
      base_exp_id: null,
      ancestor_commits: [],
      dataset_id: null,
      dataset_version: null,
      public: null,
      metadata: null,
    },
  })
  expect(status, text).toBe(200)
  return String(json.experiment?.id)
}

function span(experiment_id: string, fields: object) {
  const id = randomUUID()
  return {
    id,
    experiment_id,
    project_id: null,
    span_id: id,
    root_span_id: id,
    span_parents: null,
    tags: null,
    expected: null,
    error: null,
    created: '2026-01-01T00:00:00.000000+00:00',
    metrics: { start: 1767225600.5, end: 1767225601.25 },
    span_attributes: { name: 'eval', type: 'eval', exec_counter: 1 },
    _is_merge: false,
    ...fields,
  }
}

test('an evaluation is logged without a content type, and summed up by exactly the keys', async () => {
  const project = randomUUID()
  const [base, next] = [await experiment(project, null), await experiment(project, 'second')]
  for (const [id, score] of [
    [base, 0],
    [next, 1],
  ] as const) {
    const rows = [1, 2].map((input) => span(id, { input, scores: { exact: score } }))
    const written = await sendRows({ rows, api_version: 2 })
    expect(written.json.ids).toEqual(rows.map((row) => row.id))
  }
  const { json } = await service.request(
    `/experiment-comparison2?experiment_id=${next}&base_experiment_id=${base}`,
  )
  expect(Object.keys(json).sort()).toEqual(['metrics', 'scores'])
  expect(json.scores).toEqual({
    exact: { name: 'exact', score: 1, diff: 1, improvements: 2, regressions: 0 },
  })
  const allowed = ['name', 'metric', 'unit', 'diff', 'improvements', 'regressions']
  for (const metric of Object.values(json.metrics ?? {})) {
    expect(Object.keys(metric).filter((name) => !allowed.includes(name))).toEqual([])
    expect(metric).toMatchObject({ improvements: expect.any(Number), unit: expect.any(String) })
  }
})

test('merges, comments and deletes of a dataset, and pages whose cursor is null', async () => {
  const registered = await service.request('/api/dataset/register', {
    body: {
      org_id: organizationId,
      project_name: randomUUID(),
      dataset_name: 'cases',
      description: null,
      metadata: null,
    },
  })
  const dataset_id = String(registered.json.dataset?.id)
  const row = (id: string, fields: object) => ({ id, dataset_id, created: null, ...fields })
  await sendRows({
    rows: ['a', 'b', 'c'].map((id) => row(id, { input: id, expected: null, tags: null })),
    api_version: 2,
  })
  await sendRows({
    rows: [
      row('a', { expected: { answer: 1 }, _is_merge: true }),
      row('b', { _object_delete: true }),
    ],
    api_version: 2,
  })
  const found: unknown[] = []
  let cursor: unknown = null
  do {
    const { json } = await service.request('/btql', {
      body: {
        query: {
          select: [{ op: 'star' }],
          from: {
            op: 'function',
            name: { op: 'ident', name: ['dataset'] },
            args: [{ op: 'literal', value: dataset_id }],
          },
          cursor,
          limit: 1,
        },
        use_columnstore: false,
        brainstore_realtime: true,
        query_source: 'py_sdk_object_fetcher_dataset',
        version: null,
      },
    })
    found.push(...(json.data as unknown as unknown[]))
    cursor = json.cursor
  } while (cursor)
  expect(found).toMatchObject([
    { id: 'c', expected: null },
    { id: 'a', input: 'a', expected: { answer: 1 } },
  ])
  const summary = await service.request(`/dataset-summary?dataset_id=${dataset_id}`)
  expect(summary.json).toEqual({ total_records: 2 })
})

test('rows that are too large for one request are uploaded with the headers that it was told', async () => {
  const { json: version } = await service.request('/version')
  expect(Number(version.logs3_payload_max_bytes)).toBeGreaterThan(0)
  const id = await experiment(randomUUID(), null)
  const body = JSON.stringify({ rows: [span(id, { input: 'large' })], api_version: 2 })
  const size = Buffer.byteLength(body)
  const { json: upload } = await service.request('/logs3/overflow', {
    body: {
      content_type: 'application/json',
      size_bytes: size,
      rows: [
        { object_ids: { experiment_id: id }, is_delete: false, input_row: { byte_size: size } },
      ],
    },
  })
  expect(upload).toMatchObject({ method: 'PUT', headers: {} })
  const headers = upload.headers as unknown as Record<string, string>
  expect((await fetch(String(upload.signedUrl), { method: 'PUT', headers, body })).status).toBe(200)
  const rows = { type: 'logs3_overflow', key: upload.key, size_bytes: size }
  expect((await sendRows({ rows, api_version: 2 })).status).toBe(200)
  const { json } = await service.query(`select: input | from: experiment('${id}')`)
  expect(json.data).toEqual([{ input: 'large' }])
})

test('who asks is told by ping, and a wrong key by 401', async () => {
  expect((await service.request('/ping')).json).toMatchObject({ id: expect.any(String) })
  const wrong = await service.request('/api/apikey/login', { method: 'POST', key: `${testKey}x` })
  expect(wrong.status).toBe(401)
})
