/** Queries over records that are read of a cluster: two shards of one node each. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, clusterName, hasCluster } from '../cluster/cluster.ts'
import { isSlow } from '../support/random-seed.ts'
import { type Answer, RunningService } from '../support/running-service.ts'

const clusterNumber = 88
const rowCount = 5000

describe.runIf(isSlow && hasCluster())('records that are older than hot', () => {
  let cluster: Cluster
  let service: RunningService
  let project: string

  beforeAll(async () => {
    cluster = await Cluster.up({ shards: 2, replicas: 1, number: clusterNumber })
    service = await RunningService.start({
      ASSAY_CLICKHOUSE: cluster.urlOf(1),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
      ASSAY_HOT_DAYS: '0',
    })
    project = await service.project()
    const events = Array.from({ length: rowCount }, (_, i) => ({
      id: `r${i}`,
      root_span_id: `t${i % 50}`,
      input: `question ${i}`,
      metrics: { tokens: i },
    }))
    await service.insert('project_logs', project, events)
  })

  afterAll(async () => {
    await service.stop()
    cluster.down()
  })

  async function arrived(): Promise<void> {
    const status = async () => (await service.request('/admin/status')).json.export
    await expect.poll(status).toMatchObject({ state: 'current', fault: null })
  }

  function ask(query: string, more: object = {}): Promise<Answer> {
    return service.request('/btql', { body: { query, ...more } })
  }

  function statementsOf({ audit_log }: Answer['json']): readonly object[] {
    const events = audit_log as unknown as readonly { readonly event: string }[]
    return events.filter(({ event }) => event.startsWith('cluster'))
  }

  const logs = () => `project_logs('${project}')`
  const sum = () => `measures: count(1) as n, sum(metrics.tokens) as tokens | from: ${logs()}`
  const sums = (rows: number) => [{ n: rows, tokens: (rows * (rows - 1)) / 2 }]

  test('are read of all shards, and the audit log says so', async () => {
    await arrived()
    const { json } = await ask(sum(), { audit_log: true })
    expect(json.data).toEqual(sums(rowCount))
    expect(statementsOf(json)).toEqual([
      expect.objectContaining({ event: 'cluster groups', plan: 'query', level: 'exact', rows: 1 }),
    ])
    const found = await ask(`select: id | from: ${logs()} | sort: metrics.tokens | limit: 3`, {
      audit_log: true,
    })
    expect(found.json.data).toEqual([{ id: 'r0' }, { id: 'r1' }, { id: 'r2' }])
    expect(found.text).toContain('"event":"cluster"')
  })

  test('are read again only where columns do not have some just as they are', async () => {
    const other = await service.project('numbers')
    const values = [1, 2, '9007199254740993', 4, 5]
    const rows = values.map((tokens, i) => `{"id":"n${i}","metrics":{"tokens":${tokens}}}`)
    await service.request(`/v1/project_logs/${other}/insert`, {
      body: `{"events":[${rows.join(',')}]}`,
    })
    await arrived()
    const query = `measures: max(metrics.tokens) as most, count(1) as n | from: project_logs('${other}')`
    const { json, text } = await ask(query, { audit_log: true })
    expect(text).toContain('"most":9007199254740993')
    expect(statementsOf(json)).toEqual([
      expect.objectContaining({ event: 'cluster groups', rows: 1 }),
      expect.objectContaining({ event: 'cluster', rows: 1 }),
    ])
  })

  test('come in their order, with their bodies', async () => {
    const { json } = await ask(`select: id, input | from: ${logs()} | limit: 2`)
    expect(json.data).toEqual([
      { id: `r${rowCount - 1}`, input: `question ${rowCount - 1}` },
      { id: `r${rowCount - 2}`, input: `question ${rowCount - 2}` },
    ])
  })

  test('come slice by slice, the newest first', async () => {
    await arrived()
    const cluster = async (query: string) => {
      const { json } = await ask(query, { audit_log: true })
      const events = json.audit_log as unknown as readonly Record<string, unknown>[]
      const read = events.filter(({ event }) => event === 'cluster').map(({ rows }) => Number(rows))
      return { ids: (json.data as unknown as { id: string }[]).map(({ id }) => id), read }
    }
    const all = await cluster(`select: id | from: ${logs()} | limit: ${2 * rowCount}`)
    const newest = Array.from({ length: rowCount }, (_, i) => `r${rowCount - 1 - i}`)
    expect(all.ids).toEqual(newest)
    const unlimited = await cluster(`select: id | from: ${logs()} | filter: output is null`)
    expect(unlimited.ids).toEqual(newest)
    expect(unlimited.read.length).toBeGreaterThan(2)
    expect(unlimited.read[0]).toBeLessThan(rowCount / 2)
    expect(unlimited.read.reduce((sum, rows) => sum + rows, 0)).toBe(rowCount)
    // Which rows pass, only their bodies tell.
    const few = await cluster(
      `select: id | from: ${logs()} | filter: regexp_match(input, '9$') | limit: 5`,
    )
    expect(few.ids).toEqual(newest.filter((id) => id.endsWith('9')).slice(0, 5))
    expect(few.read).toHaveLength(1)
  })

  test('are left on the nodes if their traces do not pass', async () => {
    await arrived()
    const { json } = await ask(
      `measures: count(1) as n | from: ${logs()} | filter: any_span(input = 'question 3')`,
      { audit_log: true },
    )
    expect(json.data).toEqual([{ n: rowCount / 50 }])
    const events = json.audit_log as unknown as readonly Record<string, unknown>[]
    const last = events.filter(({ event, plan }) => event === 'cluster groups' && plan === 'query')
    expect(last).toEqual([
      expect.objectContaining({
        level: 'exact',
        rows: 1,
        sql: expect.stringContaining("IN ((1, 't3'))"),
      }),
    ])
  })

  test('are seen as they are before and after the cluster knows of an update', async () => {
    await service.insert('project_logs', project, [
      { id: 'r7', _is_merge: true, metrics: { tokens: 1007 } },
    ])
    const expected = [{ n: rowCount, tokens: (rowCount * (rowCount - 1)) / 2 + 1000 }]
    expect((await ask(sum())).json.data).toEqual(expected)
    await arrived()
    expect((await ask(sum())).json.data).toEqual(expected)
    await service.insert('project_logs', project, [
      { id: 'r7', _is_merge: true, metrics: { tokens: 7 } },
    ])
    expect((await ask(sum())).json.data).toEqual(sums(rowCount))
    await arrived()
  })

  const ends = [
    ['is killed', () => cluster.kill(2), () => cluster.start(2)],
    ['is cut off', async () => cluster.cut(2), async () => cluster.join(2)],
  ] as const

  test.each(ends)('fail within two seconds while a shard %s', async (_, end, mend) => {
    await ask(sum())
    await end()
    try {
      const started = performance.now()
      // Another one than before, whose answer is kept.
      const { status, text } = await ask(`${sum()} | filter: id != '${_}'`)
      const took = performance.now() - started
      expect(status).toBe(503)
      expect(text).toContain('BACKEND_UNAVAILABLE')
      expect(text).toContain(new URL(cluster.urlOf(2)).hostname)
      expect(took).toBeLessThan(2000)
      const dataset = await service.create('dataset', project, `hot ${_}`)
      await service.insert('dataset', dataset, [{ id: 'd', input: 1 }])
      const hot = await ask(`select: id, input | from: dataset('${dataset}')`)
      expect(hot.json.data).toEqual([{ id: 'd', input: 1 }])
    } finally {
      await mend()
    }
    await expect
      .poll(async () => (await ask(sum())).json.data, { timeout: 20_000 })
      .toEqual(sums(rowCount))
    await arrived()
  })
})
