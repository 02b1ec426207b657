/** `/v1/{type}/{id}/fetch`, `feedback`, `summarize`, and `/v1/insert`. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AnyJson, RunningService } from '../support/running-service.ts'

let service: RunningService
let project: string
let experiment: string
let count = 0

beforeAll(async () => {
  service = await RunningService.start()
  project = await service.project('records')
})
afterAll(() => service.stop())

beforeEach(async () => {
  experiment = await service.create('experiment', project, `e${++count}`)
})

function post(path: string, body: object) {
  return service.request(`/v1/${path}`, { body })
}

async function rows(select = '*', id = experiment) {
  const { json } = await service.query(`select: ${select} | from: experiment('${id}') | sort: id`)
  return json.data
}

function idsOf({ events }: AnyJson): string[] {
  return (events as unknown as { id: string }[]).map(({ id }) => id)
}

describe('fetch', () => {
  /** Traces of two spans each, in transactions of their own: t0, t0c, t1, t1c, … */
  async function traces(count: number) {
    for (let i = 0; i < count; i++) {
      await service.insert('experiment', experiment, [
        { id: `t${i}`, span_id: `t${i}`, root_span_id: `t${i}`, metadata: { even: i % 2 === 0 } },
        { id: `t${i}c`, span_id: `t${i}c`, root_span_id: `t${i}`, span_parents: [`t${i}`] },
      ])
    }
  }

  test('a limit counts traces, and a cursor goes on', async () => {
    await traces(5)
    const seen: string[][] = []
    let cursor: string | null = null
    do {
      const { json, headers } = await post(`experiment/${experiment}/fetch`, { limit: 2, cursor })
      seen.push(idsOf(json))
      cursor = typeof json.cursor === 'string' ? json.cursor : null
      expect(headers.get('x-bt-cursor')).toBe(cursor)
    } while (cursor !== null && seen.at(-1)!.length > 0)
    expect(seen).toEqual([
      ['t4c', 't4', 't3c', 't3'],
      ['t2c', 't2', 't1c', 't1'],
      ['t0c', 't0'],
      [],
    ])
  })

  test('without a limit everything comes, by both methods', async () => {
    await traces(3)
    const path = `/v1/experiment/${experiment}/fetch`
    const byGet = await service.request(path)
    const byPost = await service.request(path, { method: 'POST' })
    expect(idsOf(byGet.json)).toHaveLength(6)
    expect(idsOf(byPost.json)).toEqual(idsOf(byGet.json))
  })

  test('the older paging goes on below the least transaction and trace of a page', async () => {
    // Traces of one transaction, and spans that came long after the rest of their trace.
    await service.insert(
      'experiment',
      experiment,
      ['f', 'a', 'd'].map((id) => ({ id, span_id: id, root_span_id: id })),
    )
    await traces(3)
    await service.insert('experiment', experiment, [
      { id: 'late', span_id: 'late', root_span_id: 'a', span_parents: ['a'] },
    ])
    const path = `/v1/experiment/${experiment}/fetch?limit=2`
    const pages: string[][] = []
    let next = ''
    for (let page = 0; page < 5; page++) {
      const { json } = await service.request(path + next)
      pages.push(idsOf(json).sort())
      const events = json.events as unknown as { _xact_id: string; root_span_id: string }[]
      const [least] = events.sort((a, b) =>
        a._xact_id + a.root_span_id < b._xact_id + b.root_span_id ? -1 : 1,
      )
      if (!least) break
      next = `&max_xact_id=${least._xact_id}&max_root_span_id=${least.root_span_id}`
    }
    expect(pages).toEqual([['t1', 't1c', 't2', 't2c'], ['f', 't0', 't0c'], ['a', 'd', 'late'], []])
  })

  test('an earlier version, and filters of old clients', async () => {
    await traces(2)
    const version = (await service.request('/xact-id')).text
    await traces(3)
    const whole = await post(`experiment/${experiment}/fetch`, { version })
    expect(idsOf(whole.json)).toHaveLength(4)
    const filters = [{ type: 'path_lookup', path: ['metadata', 'even'], value: false }]
    const filtered = await post(`experiment/${experiment}/fetch`, { filters })
    expect(idsOf(filtered.json).sort()).toEqual(['t1', 't1c'])
  })

  test.each([
    [{ limit: -1 }, 'limit'],
    [{ limit: 'x' }, 'limit'],
    [{ cursor: 'nonsense' }, undefined],
    [{ max_root_span_id: 'x' }, 'max_xact_id'],
    [{ filters: [{ type: 'other' }] }, 'filters[0]'],
    [{ version: 'x' }, undefined],
  ])('%j is refused', async (body, path) => {
    const { status, json } = await post(`experiment/${experiment}/fetch`, body)
    expect(status).toBe(400)
    if (path !== undefined) expect(json.error?.path).toBe(path)
  })

  test('datasets have the expected value', async () => {
    const dataset = await service.create('dataset', project, `d${count}`)
    await service.insert('dataset', dataset, [{ id: 'a', input: 1, expected: 2 }])
    const { json } = await post(`dataset/${dataset}/fetch`, {})
    expect(json.events).toMatchObject([{ id: 'a', expected: 2, dataset_id: dataset }])
    expect(Object.keys(json.events?.[0] ?? {})).not.toContain('output')
  })
})

describe('feedback', () => {
  test('is merged; comments are added, and what is said about it is kept apart', async () => {
    await service.insert('experiment', experiment, [
      { id: 'a', output: 'o', scores: { exact: 1 }, tags: ['x'], metadata: { k: 1 } },
    ])
    const answer = await post(`experiment/${experiment}/feedback`, {
      feedback: [
        { id: 'a', scores: { user: 0.5 }, expected: 'e', tags: ['y'], source: null },
        { id: 'a', comment: 'well done', metadata: { user_id: 'u1' }, source: 'app' },
        { id: 'a', comment: null },
      ],
    })
    expect(answer.json).toEqual({ status: 'success' })
    expect(await rows()).toMatchObject([
      {
        id: 'a',
        output: 'o',
        expected: 'e',
        scores: { exact: 1, user: 0.5 },
        tags: ['x', 'y'],
        metadata: { k: 1 },
        comments: [{ comment: { text: 'well done' }, source: 'app', metadata: { user_id: 'u1' } }],
        audit_data: [{ audit_data: { action: 'merge' }, source: 'external' }],
      },
    ])
  })

  test('of a reviewer is by whoever writes it, whatever the metadata says', async () => {
    const review = { queue_id: 'q', answers: { tone: 1 } }
    await service.insert('experiment', experiment, [
      { id: 'a', _audit_source: 'app', _audit_metadata: { user_id: 'another', n: 1, review } },
      { id: 'b', _audit_source: 'app', _audit_metadata: { user_id: 'another' } },
    ])
    const written = (await rows('audit_data')) as unknown as readonly AnyJson[]
    const [own, other] = written.map(({ audit_data }) => audit_data![0]!.metadata)
    const { json: users } = await service.request('/v1/user')
    const [{ id }] = users.objects as unknown as [{ id: string }]
    expect(own).toEqual({ user_id: id, n: 1, review })
    expect(other).toEqual({ user_id: 'another' })
  })

  test.each([
    [[{ comment: 'x' }], 'feedback[0].id'],
    [[{ id: 'a', comment: 1 }], 'feedback[0].comment'],
    [[{ id: 'a', comment: 'x', source: 'me' }], 'feedback[0].source'],
    ['x', 'feedback'],
  ])('%j is refused', async (feedback, path) => {
    const { status, json } = await post(`experiment/${experiment}/feedback`, { feedback })
    expect([status, json.error?.path]).toEqual([400, path])
  })
})

test('events and feedback of several objects are one transaction', async () => {
  const dataset = await service.create('dataset', project, `d${count}`)
  const body =
    `{"experiment":{"${experiment}":{"events":[{"id":"a","input":12345678901234567890},{}],` +
    `"feedback":[{"id":"a","scores":{"s":1}}]}},` +
    `"dataset":{"${dataset}":{"events":[{"id":"d","input":1}]}},"project_logs":null}`
  const { json } = await service.request('/v1/insert', { body })
  expect(json).toEqual({
    experiment: { [experiment]: { row_ids: ['a', expect.any(String)] } },
    dataset: { [dataset]: { row_ids: ['d'] } },
  })
  const { text } = await service.query(
    `select: input, scores from: experiment('${experiment}')`.replace(' from', ' | from'),
  )
  expect(text).toContain('12345678901234567890')
  const both = await service.query(
    `measures: count_distinct(_xact_id) as n | from: experiment('${experiment}')`,
  )
  expect(both.json.data).toEqual([{ n: 1 }])
  const missing = '00000000-0000-4000-8000-000000000000'
  const refused = await post('insert', {
    dataset: { [dataset]: { events: [{ id: 'never' }] }, [missing]: { events: [{}] } },
  })
  expect(refused.status).toBe(403)
  const { json: left } = await service.query(`select: id | from: dataset('${dataset}')`)
  expect(left.data).toEqual([{ id: 'd' }])
})

test('summaries have names and links, and numbers when they are asked for', async () => {
  await service.insert('experiment', experiment, [{ id: 'a', input: 1, scores: { s: 0.5 } }])
  const path = `/v1/experiment/${experiment}/summarize`
  const names = {
    project_name: 'records',
    experiment_name: `e${count}`,
    project_url: `${service.url}/app/default/p/records`,
    experiment_url: `${service.url}/app/default/p/records/experiments/e${count}`,
  }
  expect((await service.request(path)).json).toEqual(names)
  const next = await service.create('experiment', project, `e${++count}`)
  await service.insert('experiment', next, [{ id: 'a', input: 1, scores: { s: 1 } }])
  const { json } = await service.request(
    `/v1/experiment/${next}/summarize?summarize_scores=true&comparison_experiment_id=${experiment}`,
  )
  expect(json).toMatchObject({
    comparison_experiment_name: names.experiment_name,
    scores: { s: { name: 's', score: 1, diff: 0.5, improvements: 1, regressions: 0 } },
  })
  // How clients ask for a base in the form of the others.
  const itself = await service.request(
    `${path}?summarize_scores=true&comparison_experiment_id=${experiment}`,
  )
  expect(itself.json).toMatchObject({
    scores: { s: { score: 0.5, diff: 0, improvements: 0, regressions: 0 } },
    metrics: { errors: { metric: 0, diff: 0, improvements: 0, regressions: 0 } },
  })
  const dataset = await service.create('dataset', project, 'cases & more')
  const data = await service.request(`/v1/dataset/${dataset}/summarize?summarize_data=true`)
  expect(data.json).toMatchObject({
    dataset_name: 'cases & more',
    dataset_url: `${service.url}/app/default/p/records/datasets/cases%20%26%20more`,
    data_summary: { total_records: 0 },
  })
})
