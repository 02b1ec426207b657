/** Retention, the deletion of a person and masking of what is stored, over records whose bodies a cluster alone has. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Engine } from '../../src/engine.ts'
import { parseTransaction } from '../../src/type/transaction.ts'
import { type Cluster, clusterName } from '../cluster/cluster.ts'
import { carryOut } from '../support/carry-out.ts'
import { filesWith } from '../support/files-with.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { RunningService } from '../support/running-service.ts'

const database = 'cold_removal'
const waits = { timeout: 30_000, interval: 100 }

describe.runIf(isClusterAsked)('records whose bodies have left', () => {
  const given = useCluster(91, 1)
  let cluster: Cluster
  let service: RunningService
  let rules = 0

  beforeAll(async () => {
    cluster = given()
    await cluster.ask(1, `DROP DATABASE IF EXISTS ${database} SYNC`)
    service = await RunningService.start({
      ASSAY_CLICKHOUSE: cluster.urlOf(1),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
      ASSAY_CLICKHOUSE_DATABASE: database,
      ASSAY_HOT_DAYS: '0',
      ASSAY_WORKERS: '1',
    })
  }, 120_000)

  afterAll(() => service.stop())

  /** Has all bodies leave while the service is stopped. */
  async function evicted(): Promise<void> {
    const state = async () => (await service.request('/admin/status')).json.export
    await expect.poll(state, waits).toMatchObject({ state: 'current', fault: null })
    service = await service.restart({}, evictAll)
  }

  async function evictAll(): Promise<void> {
    const engine = await Engine.open({
      dataDirectory: service.directory,
      workers: 0,
      maintenance: { automatic: false },
      hot: { days: 0 },
      clickhouse: {
        urls: [cluster.urlOf(1)],
        user: 'default',
        password: '',
        database,
        cluster: clusterName,
        authority: undefined,
      },
    })
    await engine.flush()
    const through = async () => {
      await engine.evict()
      return engine.cold!.through
    }
    await expect.poll(through, waits).toBe(parseTransaction(engine.lastTransactionId()))
    await engine.close()
  }

  function daysAgo(days: number): string {
    return new Date(Date.now() - days * 24 * 3600 * 1000).toISOString()
  }

  function span(root: string, id: string, days: number, more: object = {}): object {
    const place = { span_id: id, root_span_id: root, ...(id !== root && { span_parents: [root] }) }
    return { id, ...place, created: daysAgo(days), input: `words of ${id}`, ...more }
  }

  async function makeRule(project_id: string, more: object): Promise<string> {
    const config = { event_type: 'retention', object_type: 'project_logs', ...more }
    const body = { project_id, name: `rule ${rules++}`, config }
    const made = await service.request('/v1/project_automation', { body })
    expect(made.status, made.text).toBe(200)
    return String(made.json.id)
  }

  /** Once the nodes have removed what was removed here. */
  async function rowsOf(query: string): Promise<unknown> {
    let rows: unknown
    await expect
      .poll(async () => {
        const { status, json } = await service.query(query)
        rows = json.data
        return status
      }, waits)
      .toBe(200)
    return rows
  }

  async function idsIn(project: string): Promise<string[]> {
    const rows = await rowsOf(`select: id | from: project_logs('${project}') | sort: id`)
    return (rows as { id: string }[]).map(({ id }) => id)
  }

  /** How many versions the nodes have of which that is true. */
  async function onNodes(condition: string): Promise<number> {
    const count = `SELECT count() AS n FROM ${database}.records_local WHERE ${condition}`
    return Number((await cluster.ask(1, count))[0]!.n)
  }

  test('leave by age as whole traces, but for those that are kept', async () => {
    const project = await service.project('by age')
    await service.insert('project_logs', project, [
      span('old', 'old', 40),
      span('old', 'old-child', 39),
      span('mixed', 'mixed', 40),
      span('mixed', 'mixed-child', 1),
      span('error', 'error', 40),
      span('error', 'error-child', 40, { error: 'it broke' }),
      span('held', 'held', 40, { tags: ['legal-hold'] }),
      span('new', 'new', 2),
    ])
    await evicted()
    const config = { retention_days: 30, keep_filter: 'error is not null' }
    const preview = await service.request('/v1/retention/preview', {
      body: {
        project_id: project,
        config: { event_type: 'retention', object_type: 'project_logs', ...config },
      },
    })
    expect(preview.json, preview.text).toMatchObject({ traces: 1, records: 2 })
    const rule = await makeRule(project, config)
    expect(await carryOut(service, rule)).toMatchObject({ traces: 1, records: 2, held: 1, kept: 1 })
    await expect.poll(() => onNodes(`id IN ('old', 'old-child')`), waits).toBe(0)
    const left = ['error', 'error-child', 'held', 'mixed', 'mixed-child', 'new']
    expect(await idsIn(project)).toEqual(left)
    expect(filesWith(service.directory, 'old-child')).toEqual([])
    const query = `select: id, input | from: project_logs('${project}') | filter: id = 'held'`
    expect(await rowsOf(query)).toEqual([{ id: 'held', input: 'words of held' }])
  })

  test('leave by count and by bytes', async () => {
    const project = await service.project('by count')
    const spans = [5, 4, 3, 2, 1].map((day) =>
      span(`t${day}`, `t${day}`, day, { output: 'x'.repeat(1000) }),
    )
    await service.insert('project_logs', project, spans)
    await evicted()
    await carryOut(service, await makeRule(project, { retention_days: 36_500, retention_count: 3 }))
    expect(await idsIn(project)).toEqual(['t1', 't2', 't3'])
    const byBytes = { retention_days: 36_500, retention_bytes: 2500 }
    await carryOut(service, await makeRule(project, byBytes))
    expect(await idsIn(project)).toEqual(['t1', 't2'])
    await expect.poll(() => onNodes(`id LIKE 't_' AND id > 't2'`), waits).toBe(0)
  })

  test('leave in several steps, and old versions after them', async () => {
    const project = await service.project('in steps')
    const many = (days: number) =>
      Array.from({ length: 450 }, (_, i) => span(`${days}-${i}`, `${days}-${i}`, days))
    await service.insert('project_logs', project, [...many(40), ...many(1)])
    await service.insert('project_logs', project, [
      { id: '1-0', _is_merge: true, output: 'anew' },
      { id: '1-1', _object_delete: true },
    ])
    await evicted()
    const second = Math.floor(Date.now() / 1000)
    await expect.poll(() => Math.floor(Date.now() / 1000), waits).toBeGreaterThan(second)
    const rule = await makeRule(project, { retention_days: 30, old_versions_days: 0 })
    expect(await carryOut(service, rule)).toMatchObject({ traces: 450, records: 450 })
    await expect.poll(() => onNodes(`id LIKE '40-%'`), waits).toBe(0)
    await expect.poll(() => onNodes(`id = '1-0'`), waits).toBe(1)
    await expect.poll(() => onNodes(`id = '1-1'`), waits).toBe(0)
    const query = `measures: count(1) as n, count(output) as anew | from: project_logs('${project}')`
    expect(await rowsOf(query)).toEqual([{ n: 449, anew: 1 }])
  })

  test('lose their old versions, unless a tag holds them', async () => {
    const project = await service.project('old versions')
    await service.insert('project_logs', project, [
      { id: 'a', input: 'first a' },
      { id: 'b', input: 'first b', tags: ['legal-hold'] },
      { id: 'c', input: 'first c' },
    ])
    await service.insert('project_logs', project, [
      { id: 'a', input: 'last a' },
      { id: 'b', input: 'last b', tags: ['legal-hold'] },
      { id: 'c', _object_delete: true },
    ])
    await evicted()
    const second = Math.floor(Date.now() / 1000)
    await expect.poll(() => Math.floor(Date.now() / 1000), waits).toBeGreaterThan(second)
    const rule = await makeRule(project, { retention_days: 36_500, old_versions_days: 0 })
    expect(await carryOut(service, rule)).toMatchObject({ records: 0 })
    await expect.poll(() => onNodes(`input IN ('first a', 'first c')`), waits).toBe(0)
    expect(await onNodes(`input = 'first b'`)).toBe(1)
    expect(await idsIn(project)).toEqual(['a', 'b'])
    const history = `select: input | from: project_logs('${project}') history | filter: id = 'b'`
    expect(await rowsOf(history)).toEqual([{ input: 'last b' }, { input: 'first b' }])
  })

  test('of a person are deleted, in all their versions, and the certificate counts them', async () => {
    const project = await service.project('person')
    const user = 'a1b2c3d4-0000-4000-8000-9f8e7d6c5b4a'
    const email = 'erika.mustermann@example.com'
    await service.insert('project_logs', project, [
      { id: 'by-id', metadata: { user_id: user }, input: 'I am Erika Mustermann' },
      { id: 'by-mail', input: { from: email } },
      { id: 'once', metadata: { user_id: user }, input: 'said something' },
      { id: 'gone', metadata: { user_id: user } },
      { id: 'other', metadata: { user_id: 'somebody' }, input: 'something else' },
      { id: 'held', metadata: { user_id: user }, tags: ['legal-hold'] },
    ])
    await service.insert('project_logs', project, [
      { id: 'once', metadata: { user_id: 'anonymous' } },
      { id: 'gone', _object_delete: true },
    ])
    await evicted()
    const asked = { project_id: project, user_ids: [user, email] }
    const dry = await service.request('/v1/delete_person', { body: { ...asked, dry_run: true } })
    expect(dry.json, dry.text).toMatchObject({ records: 4, held: 1, proof: null })
    expect(await idsIn(project)).toEqual(['by-id', 'by-mail', 'held', 'once', 'other'])
    const done = await service.request('/v1/delete_person', { body: asked })
    expect(done.json, done.text).toMatchObject({ records: 4, held: 1, proof: { versions: 1 } })
    const { hash, ...rest } = done.json
    expect(hash).toBe(createHash('sha256').update(JSON.stringify(rest)).digest('hex'))
    const gone = `id IN ('by-id', 'by-mail', 'once', 'gone')`
    await expect.poll(() => onNodes(gone), waits).toBe(0)
    expect(await idsIn(project)).toEqual(['held', 'other'])
    for (const text of [email, 'Erika', 'said something']) {
      expect(filesWith(service.directory, text), text).toEqual([])
    }
  })

  test('are masked: tried first, then here and there', async () => {
    const project = await service.project('masked')
    await service.insert('project_logs', project, [
      { id: 'a', input: [{ content: 'of anna@example.com' }], metadata: { n: 1 } },
      { id: 'b', input: 'nothing', tags: ['t'] },
      { id: 'd', input: 'dora@example.com' },
    ])
    await service.insert('project_logs', project, [{ id: 'd', _object_delete: true }])
    const before = await service.query(
      `select: _xact_id | from: project_logs('${project}') | filter: id = 'a'`,
    )
    const version = String((before.json.data as unknown as { _xact_id: string }[])[0]!._xact_id)
    await evicted()
    const email = { pattern: { type: 'email' }, action: { type: 'replace' } }
    const dry = await service.request('/v1/masking_rule/dry_run', {
      body: { project_id: project, rules: [email] },
    })
    expect(dry.json, dry.text).toMatchObject({ rows: 2, changed_rows: 1, changed_values: 1 })
    await service.request('/v1/masking_rule', {
      body: { name: 'e', project_id: project, ...email },
    })
    const rewrite = (more: object) =>
      service.request('/v1/masking_rule/rewrite', { body: { project_id: project, ...more } })
    expect((await rewrite({})).json).toMatchObject({ rows: 2, rewritten_rows: 1 })
    const rows = `select: id, input, metadata | from: project_logs('${project}') | sort: id`
    const masked = [
      { id: 'a', input: [{ content: 'of [email]' }], metadata: { n: 1 } },
      { id: 'b', input: 'nothing', metadata: null },
    ]
    expect(await rowsOf(rows)).toEqual(masked)
    await expect.poll(() => onNodes(`position(body, 'of [email]') > 0`), waits).toBe(1)
    await evicted()
    expect(await rowsOf(rows)).toEqual(masked)
    const older = await service.query(rows, { version })
    expect(older.json.data, older.text).toMatchObject([
      { id: 'a', input: [{ content: 'of anna@example.com' }] },
      { id: 'b' },
      { id: 'd' },
    ])
    const cleared = await rewrite({ remove_old_versions: true })
    expect(cleared.json, cleared.text).toMatchObject({ rewritten_rows: 0, cleared_records: 2 })
    await expect.poll(() => onNodes(`position(body, '@example.com') > 0`), waits).toBe(0)
    expect(await rowsOf(rows)).toEqual(masked)
    for (const text of ['anna@example.com', 'dora@example.com']) {
      expect(filesWith(service.directory, text), text).toEqual([])
    }
  })
})
