/** A data directory is compared with what a cluster has of it, the cluster is mended, and a directory is made out of it. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, clusterName, hasCluster } from '../cluster/cluster.ts'
import { runAssay } from '../support/assay-process.ts'
import { carryOut } from '../support/carry-out.ts'
import { committedVersions, differences, exportedVersions } from '../support/exported-records.ts'
import { isSlow } from '../support/random-seed.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const clusterNumber = 93
const database = 'assay'
const table = `${database}.records_local`

describe.runIf(isSlow && hasCluster())('what a cluster has of a data directory', () => {
  let cluster: Cluster
  let service: RunningService
  let project: string

  beforeAll(async () => {
    cluster = await Cluster.up({ shards: 2, replicas: 2, number: clusterNumber })
    service = await RunningService.start(environment())
  })

  afterAll(async () => {
    await service.stop()
    cluster.down()
  })

  function environment(): Record<string, string> {
    return { ASSAY_CLICKHOUSE: cluster.urlOf(1), ASSAY_CLICKHOUSE_CLUSTER: clusterName }
  }

  function spans(name: string, count: number): object[] {
    return Array.from({ length: count }, (_, i) => {
      const id = `${name}${i}`
      return { id, span_id: id, root_span_id: `${name}${i % 7}`, input: `words of ${id}` }
    })
  }

  async function arrived(): Promise<void> {
    const status = async () => (await service.request('/admin/status')).json.export
    await expect.poll(status).toMatchObject({ state: 'current', fault: null })
  }

  function clickhouse(...args: string[]) {
    return runAssay(['clickhouse', ...args], { environment: environment() })
  }

  function verify(...args: string[]) {
    return clickhouse('verify', '--data-dir', service.directory, ...args)
  }

  async function isSameOnAll(): Promise<void> {
    const committed = await committedVersions(service.directory)
    for (const node of cluster.nodes) {
      const exported = await exportedVersions(cluster, database, node)
      expect(differences(committed, exported)).toEqual([])
    }
  }

  test('is told to be the same while the service runs', async () => {
    project = await service.project('p')
    await service.insert('project_logs', project, spans('first', 40))
    await service.insert('project_logs', project, [
      { id: 'first1', _is_merge: true, output: 'é', metadata: { big: 2 ** 70 } },
      { id: 'first2', _object_delete: true },
    ])
    await service.insert('project_logs', project, [{ id: 'first2', input: 'again' }])
    await arrived()
    const { code, stdout } = await verify()
    expect(stdout).toMatch(
      /^43 row versions up to transaction \d+ in 1 range: ClickHouse has just these/,
    )
    expect(code).toBe(0)
  })

  test('answers the queries of the page', async () => {
    const page = readFileSync(new URL('../../src/docs/clickhouse.md', import.meta.url), 'utf8')
    const queries = Array.from(page.matchAll(/```text\n(-- [^`]+)```/g), ([, query]) => query!)
    expect(queries.length).toBe(10)
    for (const query of queries) await cluster.ask(2, query)
    const words = queries.find((query) => query.includes('hasAllTokens'))!
    expect(await cluster.ask(2, words.replace('question', 'first3'))).toHaveLength(1)
  })

  test.runIf(isSlow)(
    'is mended where rows are missing, wrong, doubled, on one replica only or gone altogether',
    async () => {
      await service.halt()
      const damages = [
        [1, `DELETE FROM ${table} WHERE version = (SELECT min(version) FROM ${table})`],
        [4, `INSERT INTO ${table} SELECT * FROM ${table} LIMIT 2`],
        [
          2,
          `ALTER TABLE ${table} UPDATE body = concat(body, ' ') WHERE version = (SELECT max(version) FROM ${table}) SETTINGS mutations_sync = 1`,
        ],
        [
          3,
          `ALTER TABLE ${table} UPDATE body = concat(body, ' ') WHERE version = (SELECT max(version) FROM ${table}) SETTINGS mutations_sync = 1`,
        ],
        [3, `TRUNCATE TABLE ${table}`],
      ] as const
      for (const [node, damage] of damages) {
        await cluster.ask(node, damage)
        const repaired = await verify('--repair')
        expect(repaired.stdout, damage).toContain('replicas differ')
        expect(repaired.stdout, repaired.stderr).toContain('All is repaired.')
        expect(repaired.code).toBe(0)
        await isSameOnAll()
      }
      for (const node of cluster.nodes) await cluster.ask(node, `TRUNCATE TABLE ${table}`)
      expect((await verify()).stdout).toContain('43 row versions here, 0 in ClickHouse')
      expect((await verify('--repair')).code).toBe(0)
      await isSameOnAll()
      rmSync(join(service.directory, 'clickhouse.json'))
      const unknown = await verify('--repair')
      expect(unknown.code).toBe(2)
      expect(unknown.stderr).toContain('--take-over')
      expect((await verify('--repair', '--take-over')).code).toBe(0)
      service = await RunningService.over(service.directory, environment())
      await service.insert('project_logs', project, spans('later', 3))
      await arrived()
      await isSameOnAll()
    },
    120_000,
  )

  // What is asked for with the rows only, once the catalog and the log were written.
  test.each([
    [
      'a node cannot give rows',
      "toUInt8(concat('no flags but ', toString(flags))) AS flags",
      'no flags but ',
    ],
    [
      'a row is gone',
      `if(version = (SELECT max(version) FROM ${table}), toUInt64(18446744073709551615), version) AS version`,
      'changed while it was read',
    ],
  ])('leaves a folder empty where %s in between', async (_, broken, fault) => {
    const directory = join(temporaryDirectory(), 'restored')
    const restore = () => clickhouse('restore', '--data-dir', directory)
    await service.halt()
    const [records, kept] = [`${database}.records`, `${database}.kept`]
    await cluster.ask(1, `RENAME TABLE ${records} TO ${kept}`)
    await cluster.ask(1, `CREATE VIEW ${records} AS SELECT * REPLACE (${broken}) FROM ${kept}`)
    const failed = await restore()
    await cluster.ask(1, `DROP VIEW ${records}`)
    await cluster.ask(1, `RENAME TABLE ${kept} TO ${records}`)
    expect(failed.stderr).toContain(fault)
    expect(failed.code).not.toBe(0)
    expect(readdirSync(directory).filter((name) => !name.startsWith('lock.'))).toEqual([])
    const { code, stderr } = await restore()
    expect(code, stderr).toBe(0)
    service = await RunningService.over(service.directory, environment())
  })

  test('makes a data directory, which answers as the first one', async () => {
    const dataset = await service.create('dataset', project)
    await service.insert('dataset', dataset, [{ id: 'd', input: [0.1, null], expected: {} }])
    await arrived()
    const directory = join(temporaryDirectory(), 'restored')
    const exported = async () => {
      const { json } = await service.request('/admin/status')
      const [row] = await cluster.ask(
        1,
        `SELECT max(toUInt64OrZero(value)) AS t FROM ${database}.service WHERE name = 'exported'`,
      )
      return [json.export?.through, row?.t] as const
    }
    await expect
      .poll(async () => {
        const { stderr, code } = await clickhouse('restore', '--data-dir', directory)
        if (code !== 0) return stderr
        return differences(
          await committedVersions(service.directory),
          await committedVersions(directory),
        )
      })
      .toEqual([])
    expect(await exported()).toBeDefined()
    const restored = await RunningService.over(directory, { ASSAY_BOOTSTRAP_KEY: testKey })
    try {
      for (const query of [
        `select: * | from: project_logs('${project}') | sort: id`,
        `select: * | from: dataset('${dataset}')`,
        `from: project_logs('${project}') | dimensions: input | measures: count(1) as n | sort: input`,
      ]) {
        const [before, after] = [await service.query(query), await restored.query(query)]
        expect(after.json.data).toEqual(before.json.data)
      }
      await restored.insert('project_logs', project, [
        { id: 'first1', _is_merge: true, tags: ['x'] },
      ])
    } finally {
      await restored.stop()
    }
  })

  test('loses what retention removes for good', async () => {
    const old = (id: string) => ({
      id,
      span_id: id,
      root_span_id: id,
      created: new Date(Date.now() - 40 * 24 * 3600 * 1000).toISOString(),
      input: `words of ${id}`,
    })
    await service.insert('project_logs', project, ['x', 'y', 'z'].map(old))
    await service.insert('project_logs', project, [{ id: 'x', _is_merge: true, output: 1 }])
    await arrived()
    const config = { event_type: 'retention', object_type: 'project_logs', retention_days: 30 }
    const rule = await service.request('/v1/project_automation', {
      body: { project_id: project, name: 'rule', config },
    })
    expect(await carryOut(service, String(rule.json.id))).toMatchObject({ traces: 3 })
    const left = async () => {
      const rows = await Promise.all(
        cluster.nodes.map((node) =>
          cluster.ask(node, `SELECT id FROM ${table} WHERE trace IN ('x', 'y', 'z')`),
        ),
      )
      return rows.flat()
    }
    await expect.poll(left).toEqual([])
    await arrived()
    await isSameOnAll()
    const { code, stdout } = await verify()
    expect(stdout).toContain('ClickHouse has just these')
    expect(code).toBe(0)
  })
})
