/** Everything that is committed is in a ClickHouse cluster, once: over two shards of two replicas. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, clusterName, hasCluster } from '../cluster/cluster.ts'
import {
  committedVersions,
  differences,
  exportedVersions,
  replicaVersions,
} from '../support/exported-records.ts'
import { isSlow } from '../support/random-seed.ts'
import { type AnyJson, RunningService } from '../support/running-service.ts'

const clusterNumber = 91
const database = 'assay'

describe.runIf(isSlow && hasCluster())('a cluster', () => {
  let cluster: Cluster
  let service: RunningService

  beforeAll(async () => {
    cluster = await Cluster.up({ shards: 2, replicas: 2, number: clusterNumber })
    service = await startService()
  })

  afterAll(async () => {
    await service.stop()
    cluster.down()
  })

  function exportEnvironment(): Record<string, string> {
    return { ASSAY_CLICKHOUSE: cluster.urlOf(1), ASSAY_CLICKHOUSE_CLUSTER: clusterName }
  }

  function startService(environment: Record<string, string> = {}): Promise<RunningService> {
    return RunningService.start({ ...exportEnvironment(), ...environment })
  }

  async function status(of = service): Promise<AnyJson> {
    const { json } = await of.request('/admin/status')
    return json.export!
  }

  /** Resolves when all that was committed has arrived. */
  async function arrived(of = service): Promise<void> {
    await expect.poll(() => status(of)).toMatchObject({ state: 'current', fault: null })
  }

  /** All nodes have just what the service has committed. */
  async function expectSame(of = service, named = database): Promise<void> {
    await arrived(of)
    const committed = await committedVersions(of.directory)
    for (const node of cluster.nodes) {
      const exported = await exportedVersions(cluster, named, node)
      expect(differences(committed, exported)).toEqual([])
    }
    for (let shard = 0; shard < cluster.shards; shard++) {
      const [first, ...others] = await replicaVersions(cluster, named, shard)
      for (const other of others) expect(differences(first!, other)).toEqual([])
    }
  }

  test('has every version of every record, with what ended it', async () => {
    const project = await service.project('b')
    const dataset = await service.create('dataset', project)
    const events = Array.from({ length: 500 }, (_, i) => ({
      id: `r${i}`,
      input: `question ${i}`,
      metadata: { model: i % 2 ? 'a' : 7 },
      root_span_id: `t${i % 50}`,
      span_id: `s${i}`,
    }))
    await service.insert('project_logs', project, events)
    await service.insert('dataset', dataset, [{ id: 'd', input: 1, expected: 2 }])
    await arrived()
    await service.insert('project_logs', project, [
      { id: 'r1', _is_merge: true, scores: { good: 1 } },
      { id: 'r2', _object_delete: true },
      { id: 'r3', output: 'replaced' },
    ])
    await service.insert('project_logs', project, [{ id: 'r2', input: 'again' }])
    await service.insert('project_logs', project, [{ id: 'r1', _is_merge: true, output: 'x' }])
    await expectSame()
    const [current] = await cluster.ask(
      3,
      `SELECT count() AS n FROM ${database}.records WHERE NOT deleted AND by = 18446744073709551615`,
    )
    expect(Number(current!.n)).toBe(501)
    const read = (sql: string) => cluster.ask(4, sql)
    await expect
      .poll(() => read(`SELECT count() AS n FROM ${database}.current_records`))
      .toEqual([{ n: '501' }])
    const traces = await read(
      `SELECT trace, spans FROM ${database}.trace_summaries WHERE trace = 't7'`,
    )
    expect(traces).toEqual([{ trace: 't7', spans: '10' }])
  })

  test('keeps a trace on one shard, also when a record comes into another', async () => {
    const project = await service.project('c')
    const spans = (trace: string) =>
      Array.from({ length: 8 }, (_, i) => ({
        id: `${trace}${i}`,
        root_span_id: trace,
        span_id: `${trace}${i}`,
      }))
    for (const trace of ['t1', 't2', 't3', 't4', 't5', 't6']) {
      await service.insert('project_logs', project, spans(trace))
    }
    await arrived()
    for (const trace of ['t2', 't3', 't4', 't5', 't6']) {
      await service.insert('project_logs', project, [
        { id: `${trace}1`, root_span_id: 't1', span_id: 'x' },
      ])
      await service.insert('project_logs', project, [{ id: `${trace}2`, _object_delete: true }])
    }
    await expectSame()
    const split = await cluster.ask(
      1,
      `SELECT trace, uniqExact(_shard_num) AS shards FROM ${database}.records GROUP BY object, trace HAVING shards > 1`,
    )
    expect(split).toEqual([])
  })

  test('has values that its JSON cannot hold by their paths, and all of them in the body', async () => {
    const project = await service.project('d')
    const row = `{"id":"odd","metadata":{"big":123456789012345678901234567890,"far":1e400,"twice":1,"twice":2,
      "a.b":1,"a":{"b":"text"},"none":{},"list":[{"b":1,"a":2}],"half":"\\ud800","truth":true}}`
    const answer = await service.request(`/v1/project_logs/${project}/insert`, {
      body: `{"events":[${row}]}`,
      headers: { 'content-type': 'application/json' },
    })
    expect(answer.status).toBe(200)
    await expectSame()
    const [odd] = await cluster.ask(
      2,
      `SELECT doc.metadata.big.:Float64 AS big, doc.metadata.\`a%2Eb\`.:Float64 AS dotted,
        doc.metadata.a.b.:String AS nested, doc.metadata.list.\`%a\`.:String AS list,
        doc.metadata.truth.:Bool AS truth, doc.metadata.none.\`%o\`.:Bool AS none, arraySort(residual) AS residual
        FROM ${database}.records WHERE id = 'odd'`,
    )
    expect(odd).toEqual({
      big: 1.2345678901234568e29,
      dotted: 1,
      nested: 'text',
      list: '[{"a":2,"b":1}]',
      truth: true,
      none: true,
      residual: ['metadata.big', 'metadata.far', 'metadata.half', 'metadata.twice'],
    })
  })

  test('gives tables of an earlier version the columns that they lack', async () => {
    const project = await service.project('older')
    await service.insert('project_logs', project, [{ id: 'before', input: 'text' }])
    await arrived()
    await service.halt()
    for (const node of cluster.nodes) {
      for (const table of ['records', 'records_local']) {
        const drops = ['input', 'output', 'expected', 'tags'].map(
          (name) => `DROP COLUMN ${name}_kind`,
        )
        await cluster.ask(node, `ALTER TABLE ${database}.${table} ${drops.join(', ')}`)
      }
      await cluster.ask(node, `TRUNCATE TABLE ${database}.service`)
      const noted = `INSERT INTO ${database}.service VALUES ('schema', '', '1', now64(6))`
      await cluster.ask(node, noted)
    }
    service = await RunningService.over(service.directory, exportEnvironment())
    await service.insert('project_logs', project, [{ id: 'after', input: 'text' }])
    await expectSame()
    const kinds = await cluster.ask(
      1,
      `SELECT id, input_kind FROM ${database}.current_records WHERE id IN ('before', 'after') ORDER BY id`,
    )
    expect(kinds).toEqual([
      { id: 'after', input_kind: 'string' },
      { id: 'before', input_kind: 'unknown' },
    ])
  })

  test('has no records of an object that was removed', async () => {
    const project = await service.project('e')
    const dataset = await service.create('dataset', project)
    await service.insert('dataset', dataset, [{ id: 'gone' }])
    await service.insert('project_logs', project, [{ id: 'stays' }])
    await arrived()
    await service.request(`/v1/dataset/${dataset}`, { method: 'DELETE' })
    const ids = () =>
      cluster.ask(1, `SELECT id FROM ${database}.records WHERE id IN ('gone', 'stays')`)
    await expect.poll(ids).toEqual([{ id: 'stays' }])
  })

  test('gets everything again when tables were dropped', async () => {
    const project = await service.project('f')
    await service.insert('project_logs', project, [{ id: 'a' }, { id: 'b' }])
    await service.insert('project_logs', project, [{ id: 'a', _is_merge: true, output: 1 }])
    await arrived()
    await cluster.ask(3, `DROP TABLE ${database}.records_local SYNC`)
    // Some of them go to its shard.
    for (const id of ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']) {
      await service.insert('project_logs', project, [{ id, root_span_id: id, span_id: id }])
    }
    await expectSame()
    for (const node of cluster.nodes) await cluster.ask(node, `DROP DATABASE ${database} SYNC`)
    await service.insert('project_logs', project, [{ id: 'last' }])
    await expectSame()
  })

  test('gets everything again when nothing is written after tables were dropped, made anew or emptied', async () => {
    await expectSame()
    const read = (sql: string) => cluster.ask(1, sql).catch((thrown: unknown) => thrown)
    const current = `SELECT count() AS n FROM ${database}.current_records`
    const objects = `SELECT count() AS n FROM ${database}.objects FINAL WHERE NOT removed`
    const before = [await read(current), await read(objects)]
    const isSame = () =>
      expectSame().then(
        () => true,
        () => false,
      )
    const all = (sql: string) => Promise.all(cluster.nodes.map((node) => cluster.ask(node, sql)))
    for (const loss of [
      () => all(`DROP DATABASE ${database} SYNC`),
      () =>
        cluster.ask(
          2,
          `CREATE OR REPLACE TABLE ${database}.records_local AS ${database}.records_local`,
        ),
      () => all(`TRUNCATE TABLE ${database}.records_local`),
    ]) {
      await loss()
      // It is looked every ten seconds whether the tables are there.
      await expect
        .poll(async () => [await read(current), await read(objects), await isSame()])
        .toEqual([...before, true])
    }
  })

  test('gets what was committed while nodes were down, and says so meanwhile', async () => {
    const project = await service.project('g')
    await service.insert('project_logs', project, [{ id: 'before' }])
    await arrived()
    await cluster.kill(2)
    cluster.cut(3)
    for (let i = 0; i < 20; i++) {
      await service.insert('project_logs', project, [{ id: `during${i}` }])
    }
    await expect
      .poll(() => status())
      .toMatchObject({
        state: 'waiting',
        fault: { kind: 'unreachable' },
      })
    const metrics = await service.request('/metrics')
    expect(metrics.text).toContain('assay_export_fault{kind="unreachable"} 1')
    expect(metrics.text).toMatch(/assay_export_lag_rows [1-9]/)
    await cluster.start(2)
    cluster.join(3)
    await expectSame()
  })

  test('is refused to a second service', async () => {
    await arrived()
    const second = await startService()
    await expect
      .poll(() => status(second))
      .toMatchObject({
        state: 'waiting',
        fault: { kind: 'owned', message: expect.stringContaining('belongs to another service') },
      })
    await second.stop()
    await arrived()
  })

  test('with a wrong password is told of once in clear words', async () => {
    const refused = await startService({ ASSAY_CLICKHOUSE_PASSWORD: 'wrong' })
    const project = await refused.project()
    await refused.insert('project_logs', project, [{ id: 'kept' }])
    await expect
      .poll(() => status(refused))
      .toMatchObject({
        state: 'waiting',
        fault: { kind: 'refused', message: expect.stringContaining('ASSAY_CLICKHOUSE_PASSWORD') },
        lag: { transactions: 1, rows: 1 },
      })
    await refused.stop()
  })

  test('whose table somebody altered is told of by the column, until that is taken back', async () => {
    const project = await service.project('h')
    await arrived()
    await cluster.ask(2, `ALTER TABLE ${database}.records_local RENAME COLUMN span_id TO other`)
    const traces = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
    const spans = traces.map((id) => ({ id, root_span_id: id, span_id: id }))
    await service.insert('project_logs', project, spans)
    await expect
      .poll(() => status())
      .toMatchObject({
        fault: { kind: 'altered', message: expect.stringContaining('has no column span_id') },
      })
    await cluster.ask(2, `ALTER TABLE ${database}.records_local RENAME COLUMN other TO span_id`)
    await expectSame()
  })

  test('has what ended each version, while parts are written anew beside it', async () => {
    const project = await service.project('i')
    const ids = Array.from({ length: 40 }, (_, i) => `anew${i}`)
    await service.insert(
      'project_logs',
      project,
      ids.map((id) => ({ id })),
    )
    await arrived()
    let isOver = false
    const rewrite = async () => {
      while (!isOver) {
        await cluster.ask(
          2,
          `ALTER TABLE ${database}.records_local UPDATE span_id = concat(span_id, '') WHERE 1 SETTINGS mutations_sync = 1`,
        )
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const rewriting = rewrite()
    for (const id of ids) {
      await service.insert('project_logs', project, [{ id, _is_merge: true, output: id }])
    }
    isOver = true
    await rewriting
    await expectSame()
  })

  test('gets what a data directory had before', async () => {
    const before = await RunningService.start()
    const project = await before.project()
    for (let round = 0; round < 5; round++) {
      const events = Array.from({ length: 1000 }, (_, i) => ({
        id: `r${(i * 7 + round * 400) % 3000}`,
        metadata: { round },
      }))
      await before.insert('project_logs', project, events)
    }
    const environment = { ...exportEnvironment(), ASSAY_CLICKHOUSE_DATABASE: 'other' }
    const after = await before.restart(environment)
    await expectSame(after, 'other')
    await after.stop()
  })
})
