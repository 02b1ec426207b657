/** Logs: queries, views of traces and spans, and copies in files. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { AnyJson } from '../../support/running-service.ts'
import { costQueries } from './cost.ts'
import type { Session, Suite } from './session.ts'

const here = ['-p', 'app', '--non-interactive']

export function logTests({ isNew, session }: Suite): void {
  beforeAll(async () => {
    const { service, project } = session()
    await service.insert('project_logs', project, [1, 2, 3].flatMap(trace))
  })

  test('queries are answered as tables and as JSON', async () => {
    const { bt } = session()
    const query =
      'SELECT span_attributes.type AS type, count(*) AS n, sum(estimated_cost()) AS cost ' +
      "FROM project_logs('app') WHERE created > now() - interval 1 day GROUP BY 1 ORDER BY type"
    const { data } = await bt.json(['sql', query, '--non-interactive'])
    expect(data).toEqual([
      { type: 'llm', n: 3, cost: expect.closeTo(3 * 0.0035) },
      { type: 'task', n: 3, cost: null },
    ])
    const table = await bt.ok(['sql', '--non-interactive'], {
      input: "select id from project_logs('app') where id = 'call-1'",
    })
    expect(table).toMatch(/\| id +\|\n\+-+\+\n\| call-1 \|/)
    const wrong = await bt.run(['sql', 'SELEC', '--non-interactive'])
    expect(wrong.code).not.toBe(0)
    expect(wrong.told).toContain('PARSE_UNEXPECTED_TOKEN')
  })

  test('queries that look at everything are refused, unless they are to be run', async () => {
    const { bt } = session()
    const query = ['sql', "SELECT count(*) AS n FROM project_logs('app')", '--non-interactive']
    const refused = await bt.run(query)
    expect(refused.code).not.toBe(0)
    expect(refused.told).toContain('has no range of time')
    const { data } = await bt.json([...query, '--force-ignore-linter'])
    expect(data).toEqual([{ n: 6 }])
  })

  test.runIf(isNew)('queries are run in the background', async () => {
    const { bt, service } = session()
    const query = 'SELECT id FROM logs WHERE created > now() - interval 1 day ORDER BY id'
    const sql = ['sql', query, '--async', '--async-result-limit', '4', '--poll-interval', '1']
    const rows = await bt.json([...sql, ...here])
    expect(JSON.stringify(rows)).toMatch(/call-1.*call-2.*call-3.*turn-1.*turn-2.*turn-3/)
    const { id } = await bt.json(['sql', query, '--async', '--no-wait', ...here])
    expect((await service.request(`/btql/async/${id}`)).status).toBe(200)
  })

  test('the cost of all sources is asked for as later versions do', async () => {
    const { service, project } = session()
    for (const { query, answer } of costQueries(project)) {
      const { json, text } = await service.query(query, { fmt: 'json', tz_offset: 0 })
      expect(json.data, text).toMatchObject(answer)
    }
  })

  test('logs are listed page by page, searched and filtered', async () => {
    const { bt } = session()
    const traces = (page: AnyJson) =>
      (page.items as unknown as { root_span_id: string }[]).map((item) => item.root_span_id)
    const list = ['view', 'logs', '--limit', '2', ...here]
    const first = await bt.json(list)
    expect(traces(first)).toEqual(['trace-3', 'trace-2'])
    const [newest] = first.items as unknown as [{ row: AnyJson }]
    expect(newest.row).toMatchObject({ input: { question: 'what is 3?' } })
    expect(newest.row.metrics).toMatchObject({ total_tokens: 1100, llm_calls: 1, duration: 2 })
    const cursor = String(first.paging?.next_cursor)
    expect(traces(await bt.json([...list, '--cursor', cursor]))).toEqual(['trace-1'])

    const logs = (...more: string[]) => bt.json(['view', 'logs', ...more, ...here])
    expect(traces(await logs('--search', 'what is 2?'))).toEqual(['trace-2'])
    expect(traces(await logs('--search', `it's "not" here`))).toEqual([])
    expect(traces(await logs('--filter', "input.question LIKE '%1%'"))).toEqual(['trace-1'])
    expect(traces(await logs('--since', '2000-01-01'))).toHaveLength(3)
    const spans = await logs('--list-mode', 'spans', '--window', '1d')
    expect(spans.items).toHaveLength(6)
    const text = await bt.ok(['view', 'logs', ...here])
    expect(text).toMatch(/root_span_id=trace-3 .*input=\{"question":"what is 3\?"\}/)
  })

  test('a trace and a span are seen by id and by link', async () => {
    const { bt, service, project } = session()
    const link = `${service.url}/app/default/p/app/logs?r=trace-1&s=call-1`
    for (const target of [
      ['--trace-id', 'trace-1'],
      ['--url', link],
    ]) {
      const { items } = await bt.json(['view', 'trace', ...target, ...here])
      expect(items).toMatchObject([{ id: 'turn-1' }, { id: 'call-1' }])
    }
    for (const target of [
      ['--id', 'call-1'],
      ['--url', link],
    ]) {
      const { item } = await bt.json(['view', 'span', ...target, ...here])
      expect(item).toMatchObject({ id: 'call-1', input: question(1), project_id: project })
    }
    const none = await bt.json(['view', 'span', '--id', 'nothing', ...here])
    expect(none.item).toBeNull()
  })

  test.runIf(isNew)('a trace is drawn, and read as a thread', async () => {
    const { bt } = session()
    const drawn = await bt.ok(['view', 'waterfall', '--trace-id', 'trace-1', ...here])
    expect(drawn).toContain('duration=2.00s tokens=1,100 input=1,000 output=100')
    const { messages } = await bt.json(['view', 'thread', '--trace-id', 'trace-1', ...here])
    expect(messages).toEqual([...question(1), { role: 'assistant', content: 'it is 1' }])
  })

  test('logs are pulled into files and pushed into another project and an experiment', async () => {
    const { bt, service, project } = session()
    const pull = ['sync', 'pull', 'project_logs:app', '-p', 'app']
    const pulled = await bt.ok(pull)
    expect(pulled).toMatch(/Traces: 3\s+Spans: 6/)
    const paged = ['--spans', '5', '--page-size', '2', '--root', 'few']
    expect(await bt.ok([...pull, ...paged])).toMatch(/Spans: 5\s+Pages: 3/)

    const folder = `bt-sync/project_logs_${project}`
    const [spec] = readdirSync(join(bt.home, folder))
    const source = ['--in', `${folder}/${spec}/data`]
    const copy = await service.project('copy')
    const pushed = await bt.ok(['sync', 'push', 'project_logs:copy', '-p', 'copy', ...source])
    expect(pushed).toMatch(/Traces: 3\s+Spans: 6/)
    const original = await spansOf(session(), `project_logs('${project}')`)
    expect(await spansOf(session(), `project_logs('${copy}')`)).toEqual(original)

    await bt.ok(['sync', 'push', 'experiment:copied', '-p', 'app', ...source])
    const { json } = await service.request(
      `/v1/experiment?project_id=${project}&experiment_name=copied`,
    )
    const experiment = `experiment('${json.objects?.[0]?.id}')`
    expect(await spansOf(session(), experiment)).toEqual(original)
    const back = ['sync', 'pull', 'experiment:copied', '-p', 'app', '--traces', '1']
    expect(await bt.ok(back)).toMatch(/Traces: 1\s+Spans: 2/)
  })

  test('a dataset is pulled, changed and pushed back', async () => {
    const { bt, service, project } = session()
    const dataset = await service.create('dataset', project, 'synced')
    await service.insert('dataset', dataset, [{ id: 'a', input: 'old', metadata: { kept: 1 } }])
    await bt.ok(['sync', 'pull', 'dataset:synced', '-p', 'app'])
    const [spec] = readdirSync(join(bt.home, `bt-sync/dataset_${dataset}`))
    const file = `bt-sync/dataset_${dataset}/${spec}/data/part-000001.jsonl`
    bt.write(file, bt.read(file).replace('"old"', '"new"'))
    await bt.ok(['sync', 'push', 'dataset:synced', '-p', 'app', '--in', file])
    const { json } = await service.query(
      `select: id, input, metadata | from: dataset('${dataset}')`,
    )
    expect(json.data).toEqual([{ id: 'a', input: 'new', metadata: { kept: 1 } }])
  })
}

function question(n: number): object[] {
  return [{ role: 'user', content: `what is ${n}?` }]
}

/** A span of the application and the call that it made. */
function trace(n: number): object[] {
  const start = Date.now() / 1000 - 60 + n
  const common = { root_span_id: `trace-${n}`, created: new Date(start * 1000).toISOString() }
  return [
    {
      ...common,
      id: `turn-${n}`,
      span_id: `trace-${n}`,
      span_attributes: { name: 'turn', type: 'task' },
      input: { question: `what is ${n}?` },
      metrics: { start, end: start + 2 },
      tags: ['t'],
    },
    {
      ...common,
      id: `call-${n}`,
      span_id: `call-${n}`,
      span_parents: [`trace-${n}`],
      span_attributes: { name: 'call', type: 'llm' },
      input: question(n),
      output: [{ role: 'assistant', content: `it is ${n}` }],
      metadata: { model: 'gpt-4o' },
      metrics: {
        start: start + 0.5,
        end: start + 1.5,
        prompt_tokens: 1000,
        completion_tokens: 100,
        tokens: 1100,
      },
    },
  ]
}

async function spansOf({ service }: Session, source: string): Promise<AnyJson> {
  const select =
    'id, span_id, root_span_id, span_parents, span_attributes, input, output, metadata, metrics, tags'
  const { json } = await service.query(`select: ${select} | from: ${source} spans | sort: id`)
  return json.data!
}
