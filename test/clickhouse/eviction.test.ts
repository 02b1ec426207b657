/** Records whose bodies a cluster alone has: what leaves the disk, and that nothing else is missing. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Gate } from '../../src/access/gate.ts'
import { readExportState, targetOf } from '../../src/clickhouse/export-state.ts'
import { ColdReader } from '../../src/clickhouse/read/cold-reader.ts'
import type { ClickHouseSettings } from '../../src/clickhouse/settings.ts'
import { Engine } from '../../src/engine.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { parseTransaction } from '../../src/type/transaction.ts'
import { type Cluster, clusterName } from '../cluster/cluster.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { check } from '../support/run-check.ts'
import { readAnswer } from '../support/slt-answer.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const clusterNumber = 89
const rowCount = 4000

describe.runIf(isClusterAsked)('bodies', () => {
  const given = useCluster(clusterNumber, 1)
  let cluster: Cluster
  let directory: string
  let engine: Engine
  let gate: Gate
  let project: string

  beforeAll(async () => {
    cluster = given()
    await cluster.ask(1, 'DROP DATABASE IF EXISTS evicted SYNC')
    directory = await makeTemporaryDirectory('evicted')
    await open()
    project = (await gate.findOrCreate('project', { name: 'p' })).entry.id
    for (let from = 0; from < rowCount; from += 2000) {
      const events = Array.from({ length: 2000 }, (_, i) => recordOf(from + i))
      await insert(events)
    }
    await engine.flush()
    await engine.compact()
  })

  afterAll(async () => {
    await engine.close()
  })

  function settings(): ClickHouseSettings {
    return {
      urls: [cluster.urlOf(1)],
      user: 'default',
      password: '',
      database: 'evicted',
      cluster: clusterName,
      authority: undefined,
    }
  }

  async function open(): Promise<void> {
    engine = await Engine.open({
      dataDirectory: directory,
      workers: 2,
      maintenance: { automatic: false },
      hot: { days: 0 },
      clickhouse: settings(),
    })
    gate = await ownerGate(engine.catalog, 'evicted')
  }

  function recordOf(i: number) {
    let state = i + 1
    const word = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state.toString(36)
    }
    const input = Array.from({ length: 100 }, word).join(' ')
    return { id: `r${i}`, root_span_id: `t${i % 500}`, input, metrics: { tokens: i } }
  }

  function insert(events: readonly object[]) {
    const body = Buffer.from(JSON.stringify({ events }))
    const object = { type: 'project_logs', id: project } as const
    return engine.insert({ body, form: 'events', object, view: gate })
  }

  async function ask(query: string, version?: string): Promise<unknown[]> {
    const more = version === undefined ? {} : { version }
    const answer = engine.query({ query, view: gate, separator: '\n', ...more })
    return (await readAnswer(answer)).rows.map((row) => JSON.parse(row))
  }

  async function exported(): Promise<void> {
    const last = parseTransaction(engine.lastTransactionId())
    await expect.poll(() => engine.export!.through, { timeout: 20_000 }).toBe(last)
  }

  const logs = () => `project_logs('${project}')`
  const byId = (...ids: string[]) =>
    `select: id, input, output | from: ${logs()} | filter: id IN [${ids.map((id) => `'${id}'`)}] | sort: id`
  const sums = () =>
    `measures: count(1) as n, sum(metrics.tokens) as tokens, max(len(input)) as longest | from: ${logs()}`

  test('stay while the cluster has not just the same', async () => {
    await exported()
    const row = `FROM evicted.records_local WHERE id = 'r77'`
    await cluster.ask(
      1,
      `CREATE TABLE evicted.aside ENGINE = MergeTree ORDER BY id AS SELECT * ${row}`,
    )
    await cluster.ask(
      1,
      `ALTER TABLE evicted.records_local DELETE WHERE id = 'r77' SETTINGS mutations_sync = 1`,
    )
    await expect(engine.evict()).rejects.toThrow('has not just the records')
    expect(engine.cold).toMatchObject({ through: 0, rows: 0 })
    await cluster.ask(1, 'INSERT INTO evicted.records_local SELECT * FROM evicted.aside')
    await cluster.ask(1, 'DROP TABLE evicted.aside')
  })

  test('leave the disk, and answers are the same', async () => {
    const [before, bytesBefore] = [await ask(sums()), bytesOf(directory)]
    await engine.evict()
    expect(engine.cold!.rows).toBe(rowCount)
    const bytesAfter = bytesOf(directory)
    console.log(`${bytesBefore} bytes before, ${bytesAfter} after, of ${rowCount} records`)
    expect(bytesAfter).toBeLessThan(bytesBefore / 3)
    expect(await ask(sums())).toEqual(before)
    const ids = ['r3', 'r3999', 'r7']
    const expected = ids.map((id) => ({
      id,
      input: recordOf(Number(id.slice(1))).input,
      output: null,
    }))
    expect(await ask(byId(...ids))).toEqual(expected)
    expect(await ask(`select: id | from: ${logs()} | filter: id = 'none'`)).toEqual([])
    const [whole] = await ask(`select: * | from: ${logs()} | filter: id = 'r5'`)
    expect(whole).toMatchObject({ id: 'r5', input: recordOf(5).input })
  })

  test('are asked for once, where they are printed as soon as they are found', async () => {
    const byKeys = vi.spyOn(ColdReader.prototype, 'byKeys')
    try {
      const found = await ask(
        `select: id, input | from: ${logs()} | sort: metrics.tokens | limit: 9`,
      )
      expect(found).toEqual(
        Array.from({ length: 9 }, (_, i) => ({ id: `r${i}`, input: recordOf(i).input })),
      )
      const all = await ask(`select: id, input | from: ${logs()}`)
      expect(all).toHaveLength(rowCount)
      expect(all[7]).toEqual({ id: 'r3992', input: recordOf(3992).input })
      const filter = `regexp_match(input, '[a-z]')`
      const few = await ask(`select: id, input | from: ${logs()} | filter: ${filter} | limit: 4`)
      expect(few).toHaveLength(4)
      expect(byKeys).not.toHaveBeenCalled()
    } finally {
      byKeys.mockRestore()
    }
  })

  test('are merged with, and older versions are read', async () => {
    const version = engine.lastTransactionId()
    await insert([
      { id: 'r7', _is_merge: true, output: 'merged' },
      { id: 'r8', _is_merge: true, metrics: { tokens: 8 } },
      { id: 'new', input: 'fresh' },
      { id: 'r9', _object_delete: true },
    ])
    expect(await ask(byId('r7'))).toEqual([
      { id: 'r7', input: recordOf(7).input, output: 'merged' },
    ])
    expect(await ask(byId('r7'), version)).toEqual([
      { id: 'r7', input: recordOf(7).input, output: null },
    ])
    expect(await ask(byId('r9'))).toEqual([])
    await engine.flush()
    await exported()
    await engine.evict()
    expect(engine.cold!.rows).toBe(rowCount + 3)
    expect(await ask(byId('r7', 'new'))).toEqual([
      { id: 'new', input: 'fresh', output: null },
      { id: 'r7', input: recordOf(7).input, output: 'merged' },
    ])
  })

  test('are backed up whole', async () => {
    const range = { after: 0, through: parseTransaction(engine.lastTransactionId()) }
    let rows = 0
    let from: Parameters<typeof engine.backup.rows>[1]
    do {
      const piece = await engine.backup.rows(range, from, 2 ** 20)
      for (const [, count] of piece.rows) rows += count
      from = piece.next
    } while (from)
    expect(rows).toBe(rowCount + 4)
  })

  test('are searched for what a person has, and removed for good', async () => {
    const object = gate.writable('project_logs', project)!.number
    const found = await engine.findVersions(object, { by: 'texts', texts: [recordOf(11).input] })
    expect([...found.ids]).toEqual(['r11'])
    await engine.purge([{ kind: 'deleted', object, ids: ['r11'] }], async () => {
      await insert([{ id: 'r11', _object_delete: true }])
    })
    const onNodes = async () => {
      const count = `SELECT count() AS n FROM evicted.records_local WHERE id = 'r11'`
      return Number((await cluster.ask(1, count))[0]!.n)
    }
    await expect.poll(onNodes, { timeout: 20_000 }).toBe(0)
    await expect.poll(() => ask(sums()).then(([row]) => row)).toMatchObject({ n: rowCount - 1 })
    expect(await ask(byId('r11'))).toEqual([])
  })

  test('tell where in traces they are', async () => {
    const object = gate.writable('project_logs', project)!.number
    const places = await engine.placesOf(object, ['r5', 'r6', 'none'])
    expect([...places].map(([id, { rootSpanId }]) => [id, rootSpanId])).toEqual([
      ['r5', 't5'],
      ['r6', 't6'],
    ])
  })

  test('are asked for in vain while a node is gone, and nothing is changed', async () => {
    await insert([{ id: 'hot', input: 'here' }])
    for (const node of cluster.nodes) await cluster.kill(node)
    const gone = expect.objectContaining({ code: 'BACKEND_UNAVAILABLE' })
    await expect(ask(byId('r5'))).rejects.toEqual(gone)
    await expect(insert([{ id: 'r5', _is_merge: true, output: 'no' }])).rejects.toEqual(gone)
    expect(await ask(`select: input | from: ${logs()} | filter: id = 'hot'`)).toEqual([
      { input: 'here' },
    ])
    for (const node of cluster.nodes) await cluster.start(node)
    await expect
      .poll(() => ask(byId('r5')).catch(() => undefined), { timeout: 20_000 })
      .toEqual([{ id: 'r5', input: recordOf(5).input, output: null }])
  })

  test('are asked for after a start, which takes the cluster', async () => {
    // What was superseded since they left, the nodes know from before the start.
    await insert([{ id: 'r12', _is_merge: true, output: 'later' }])
    const last = parseTransaction(engine.lastTransactionId())
    const noted = () => readExportState(directory, targetOf(settings()))?.noted
    await expect.poll(noted, { timeout: 20_000 }).toBe(last)
    await engine.close()
    const other = Engine.open({ dataDirectory: directory, workers: 0 })
    await expect(other).rejects.toThrow('are in ClickHouse alone, in')
    const rows = vi.spyOn(ColdReader.prototype, 'rows')
    try {
      await open()
      const [{ n }] = (await ask(`measures: count(1) as n | from: ${logs()}`)) as [{ n: number }]
      expect(n).toBe(rowCount)
      expect(rows).not.toHaveBeenCalled()
    } finally {
      rows.mockRestore()
    }
    expect(await ask(byId('r5'))).toEqual([{ id: 'r5', input: recordOf(5).input, output: null }])
  })

  test('tell ids again that are damaged here', async () => {
    await engine.close()
    const records = openRecords(directory, { readOnly: false })
    for (const key of [...records.idRuns.getKeys()]) {
      const stored = Buffer.from(records.idRuns.stored.get(key)!)
      stored[stored.length >> 1]! ^= 1
      records.idRuns.stored.putSync(key, stored)
    }
    await records.root.close()
    await expect(check(directory, true)).rejects.toThrow('in ClickHouse alone, in')
    const { urls, cluster: named, database } = settings()
    const flags = {
      clickhouse: urls[0]!,
      clickhouseCluster: named!,
      clickhouseDatabase: database,
    }
    const { code, said } = await check(directory, true, flags)
    expect([code, said]).toEqual([0, expect.stringContaining('ids of older records')])
    await open()
    expect(await ask(byId('r5', 'r7', 'r9', 'r11'))).toMatchObject([
      { id: 'r5', input: recordOf(5).input },
      { id: 'r7', output: 'merged' },
    ])
    await insert([{ id: 'r5', _is_merge: true, output: 'more' }])
    expect(await ask(byId('r5'))).toEqual([{ id: 'r5', input: recordOf(5).input, output: 'more' }])
  })

  test('are not sent anew where a table was emptied', async () => {
    for (const node of cluster.nodes)
      await cluster.ask(node, 'TRUNCATE TABLE evicted.records_local')
    await expect
      .poll(() => engine.export!.fault?.kind, { timeout: 60_000, interval: 200 })
      .toBe('lost')
  })
})

/** What its files take on disk. */
function bytesOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'data.mdb')
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0)
}
