/**
 * What has to hold of a cluster, in short: two shards of two replicas, one service that reads older records there. The long
 * tests are in `test/clickhouse`.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClickHouseCluster } from '../../src/clickhouse/cluster.ts'
import { committedVersions, differences, exportedVersions } from '../support/exported-records.ts'
import { type Answer, type AnyJson, RunningService, testKey } from '../support/running-service.ts'
import { Cluster, clusterName, clusterOfOneInsert, hasCluster } from './cluster.ts'

const clusterNumber = 94
const database = 'assay'
const rowCount = 2000

describe.runIf(hasCluster())('a cluster', () => {
  let cluster: Cluster
  let service: RunningService
  let project: string
  let dataset: string
  /** The sum of the tokens of all records. */
  let tokens = (rowCount * (rowCount - 1)) / 2

  beforeAll(async () => {
    cluster = await Cluster.up({
      shards: 2,
      replicas: 2,
      number: clusterNumber,
      diskMegabytes: 512,
    })
    service = await RunningService.start({
      ASSAY_CLICKHOUSE: cluster.nodes.map((node) => cluster.urlOf(node)).join(','),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
      ASSAY_HOT_DAYS: '0',
      ASSAY_MAX_RUNNING_QUERIES: '1',
      ASSAY_MAX_QUEUED_QUERIES: '0',
    })
    project = await service.project()
    const events = Array.from({ length: rowCount }, (_, i) => ({
      id: `r${i}`,
      root_span_id: `t${i % 50}`,
      input: `question ${i}`,
      metrics: { tokens: i },
    }))
    await service.insert('project_logs', project, events)
    dataset = await service.create('dataset', project)
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

  const logs = () => `project_logs('${project}')`
  const hostOf = (node: number) => new URL(cluster.urlOf(node)).hostname
  let asked = 0

  /** Another query each time, as answers are kept. */
  const sum = () =>
    `measures: count(1) as n, sum(metrics.tokens) as tokens | from: ${logs()} | filter: id != '${asked++}'`
  const sums = () => [{ n: rowCount, tokens }]

  /** Records that were not exported yet, or are in no segment, are here. */
  async function askHot(): Promise<void> {
    await service.insert('dataset', dataset, [{ id: `d${asked}`, input: asked++ }])
    const { json } = await ask(`select: id, input | from: dataset('${dataset}') | limit: 1`)
    expect(json.data).toEqual([{ id: `d${asked - 1}`, input: asked - 1 }])
  }

  test('has every row once, and gives groups and rows of all shards', async () => {
    await service.insert('project_logs', project, [
      { id: 'r7', _is_merge: true, metrics: { tokens: 1007 } },
    ])
    tokens += 1000
    await arrived()
    const { json } = await ask(sum(), { audit_log: true })
    expect(json.data).toEqual(sums())
    expect(json.audit_log).toContainEqual(
      expect.objectContaining({ event: 'cluster groups', level: 'exact' }),
    )
    const found = await ask(`select: id, input | from: ${logs()} | sort: metrics.tokens | limit: 2`)
    expect(found.json.data).toEqual([
      { id: 'r0', input: 'question 0' },
      { id: 'r1', input: 'question 1' },
    ])
    const committed = await committedVersions(service.directory)
    for (const node of cluster.nodes) {
      expect(differences(committed, await exportedVersions(cluster, database, node))).toEqual([])
    }
  })

  /** The records as the node gives them that is asked. */
  function recordsHave(more: string): void {
    beforeAll(async () => {
      await cluster.ask(1, `RENAME TABLE ${database}.records TO ${database}.all_records`)
      const view = `SELECT * FROM ${database}.all_records ${more}`
      await cluster.ask(1, `CREATE VIEW ${database}.records AS ${view}`)
    })

    afterAll(async () => {
      await cluster.ask(1, `DROP VIEW ${database}.records`)
      await cluster.ask(1, `RENAME TABLE ${database}.all_records TO ${database}.records`)
    })
  }

  describe('with a limit', () => {
    recordsHave('SETTINGS max_rows_to_read = 100')

    test('says which limit a query is beyond', async () => {
      const { status, text } = await ask(sum())
      expect([status, text]).toEqual([502, expect.stringContaining('BACKEND_FAILED')])
      expect(text).toMatch(/Limit for rows .* exceeded.*max rows: 100\.00/)
      expect(text).toContain('narrow the query, or raise this limit of the user')
    })
  })

  describe('of which a query takes long', () => {
    // Its rows take so long each, on the nodes that have them.
    recordsHave(
      'WHERE sleepEachRow(0.02) = 0 SETTINGS function_sleep_max_microseconds_per_block = 100000000',
    )

    /** Nodes that are at it. */
    async function atWork(): Promise<number[]> {
      const sql = `SELECT 1 FROM system.processes WHERE initial_query_id LIKE 'assay-read-%'`
      const rows = await Promise.all(cluster.nodes.map((node) => cluster.ask(node, sql)))
      return cluster.nodes.filter((_, i) => rows[i]!.length > 0)
    }

    const shardsAtWork = async () => new Set((await atWork()).map((node) => Math.ceil(node / 2)))
    const begun = () => expect.poll(shardsAtWork).toEqual(new Set([1, 2]))
    const ended = () => expect.poll(atWork, { timeout: 5000 }).toEqual([])

    test('it is ended on the nodes, too, by whoever cancels it, and counts as a query at work', async () => {
      const answer = ask(sum())
      await begun()
      const { text: metrics } = await service.request('/metrics')
      expect(metrics).toMatch(/^assay_queries_running 1$/m)
      // Another one would have to wait.
      const refused = await ask(sum())
      expect([refused.status, refused.text]).toEqual([
        429,
        expect.stringContaining('LIMIT_OVERLOADED'),
      ])
      const { json } = await service.request('/admin/queries')
      const [query] = json.queries as unknown as readonly AnyJson[]
      await service.request(`/admin/queries/${String(query!.id)}`, { method: 'DELETE' })
      expect((await answer).text).toContain('QUERY_CANCELLED')
      await ended()
    })

    test('it is ended on the nodes, too, at its deadline', async () => {
      const answer = ask(sum(), { query_timeout_seconds: 1 })
      await begun()
      expect((await answer).text).toContain('QUERY_TIMEOUT')
      await ended()
    })

    test('it is ended on the nodes, too, when its reader leaves', async () => {
      const leaving = new AbortController()
      const answer = fetch(`${service.url}/btql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}` },
        body: JSON.stringify({ query: sum() }),
        signal: leaving.signal,
      })
      await begun()
      leaving.abort()
      await expect(answer).rejects.toThrow()
      await ended()
    })
  })

  test('is not taken if replicas would stay empty', async () => {
    const settings = {
      urls: [cluster.urlOf(1)],
      user: 'default',
      password: '',
      database,
      cluster: clusterOfOneInsert,
      authority: undefined,
    }
    const opened = ClickHouseCluster.open(settings, new AbortController().signal)
    await expect(opened).rejects.toThrow('set internal_replication to false in remote_servers')
  })

  test('a shard that is gone is named, and what is not there is answered', async () => {
    await cluster.kill(3)
    expect((await ask(sum())).json.data).toEqual(sums())
    await cluster.kill(4)
    try {
      const started = performance.now()
      const { status, text } = await ask(sum())
      expect(performance.now() - started).toBeLessThan(2000)
      expect([status, text]).toEqual([503, expect.stringContaining('BACKEND_UNAVAILABLE')])
      expect(text).toMatch(new RegExp([3, 4].map(hostOf).join('|')))
      await askHot()
    } finally {
      await Promise.all([cluster.start(3), cluster.start(4)])
    }
    await expect.poll(async () => (await ask(sum())).json.data).toEqual(sums())
    await arrived()
  })

  test('gives nothing of a replica that is behind, and all is exported to it again', async () => {
    await arrived()
    await cluster.kill(2)
    cluster.keepDisk(2)
    await cluster.start(2)
    await service.insert('project_logs', project, [
      { id: 'r8', _is_merge: true, metrics: { tokens: 1008 } },
      { id: 'r9', _is_merge: true, metrics: { tokens: 1009 } },
    ])
    tokens += 2000
    await arrived()
    await Promise.all([cluster.kill(1), cluster.kill(2)])
    cluster.putBackDisk(2)
    await cluster.start(2)
    // Without the other replica the export does not go on, so that nothing is mended yet.
    const { status, text } = await ask(sum())
    expect([status, text]).toEqual([503, expect.stringContaining('is behind')])
    expect(text).toContain(hostOf(2))
    await cluster.start(1)
    for (let i = 0; i < 10; i++) {
      const { status, text, json } = await ask(sum())
      // That the export begins anew ends what is read meanwhile.
      if (status === 503) expect(text).toContain('is behind')
      else expect(json.data, text).toEqual(sums())
    }
    const exported = async () => {
      const versions = await exportedVersions(cluster, database, 2, 'records_local')
      return differences(await exportedVersions(cluster, database, 1, 'records_local'), versions)
    }
    await expect.poll(exported).toEqual([])
    // It has all rows before the export has found that out, and noted it there.
    const summed = async () => (await ask(sum())).json.data
    await expect.poll(summed, { timeout: 20_000 }).toEqual(sums())
  })

  test('is ended by another process with its disks', () => {
    const mounts = () => readFileSync('/proc/mounts', 'utf8')
    for (const disk of cluster.disks) expect(mounts()).toContain(disk)
    Cluster.find(clusterNumber)!.down()
    for (const disk of cluster.disks) expect(mounts()).not.toContain(disk)
  })
})
