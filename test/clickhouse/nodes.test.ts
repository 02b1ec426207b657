/** Query nodes that read the cluster of their home node: they keep what it keeps, and answer as it does. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { directorySizes } from '../../bench/peers/measure/directory-size.ts'
import { type Cluster, clusterName } from '../cluster/cluster.ts'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { PlainProxy } from '../support/plain-proxy.ts'
import { testKey } from '../support/running-service.ts'

const clusterNumber = 84
const rowCount = 60_000
const rowsPerInsert = 2000
/** None that the system gives to connections. */
const homePort = 20_000 + (process.pid % 10_000)

describe.runIf(isClusterAsked)('a query node beside a cluster', { timeout: 240_000 }, () => {
  const cluster = useCluster(clusterNumber, 1)
  const folder = mkdtempSync(join(tmpdir(), 'assay-cold-nodes-'))
  let home: ServeProcess
  let node: ServeProcess
  /** Between both. */
  let proxy: PlainProxy
  let project: string

  beforeAll(async () => {
    const { nodes } = cluster()
    for (const each of nodes) {
      await cluster().ask(each, 'DROP DATABASE IF EXISTS followed SYNC')
    }
    home = await startHome()
    proxy = await PlainProxy.start([home.url])
    project = await newProject('followed')
    for (let from = 0; from < rowCount; from += rowsPerInsert) {
      await insert(Array.from({ length: rowsPerInsert }, (_, i) => recordOf(from + i)))
    }
    await insert([{ id: 'r12', _is_merge: true, metrics: { tokens: 12_345 } }])
    await insert([{ id: 'r13', _object_delete: true }, recordOf(14)])
    await hasEvicted(home)
    node = await startNodeWithoutBodies()
  }, 240_000)

  afterAll(async () => {
    for (const running of [node, home] as (ServeProcess | undefined)[]) {
      running?.child.kill('SIGKILL')
      await running?.exit
    }
    await proxy.close()
    rmSync(folder, { recursive: true })
  })

  const clickhouse = (of: Cluster) => ({
    ASSAY_CLICKHOUSE: of.urlOf(1),
    ASSAY_CLICKHOUSE_CLUSTER: clusterName,
    ASSAY_CLICKHOUSE_DATABASE: 'followed',
  })
  const startHome = () =>
    serveAssay(
      join(folder, 'home'),
      { ...clickhouse(cluster()), ASSAY_BOOTSTRAP_KEY: testKey, ASSAY_HOT_DAYS: '0' },
      homePort,
    )
  const startNode = () =>
    serveAssay(join(folder, 'node'), {
      ...clickhouse(cluster()),
      ASSAY_HOME: proxy.url,
      ASSAY_HOME_KEY: testKey,
    })

  /** Nobody can read of the cluster meanwhile. */
  const startNodeWithoutBodies = async () => {
    cluster().pause(1)
    try {
      return await startNode()
    } finally {
      cluster().resume(1)
    }
  }

  async function ask(of: ServeProcess, path: string, body?: object) {
    const response = await fetch(of.url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${testKey}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return { json: JSON.parse(text), headers: response.headers }
  }

  const newProject = async (name: string) =>
    (await ask(home, '/v1/project', { name })).json.id as string

  const insert = (events: readonly object[], of = home) =>
    ask(of, `/v1/project_logs/${project}/insert`, { events })

  /** Half a megabyte in a few hundred, so that the bodies are worth while to be taken away. */
  function recordOf(i: number) {
    let state = i + 1
    const word = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state.toString(36)
    }
    const input = Array.from({ length: 200 }, word).join(' ')
    return { id: `r${i}`, root_span_id: `t${i % 5000}`, input, metrics: { tokens: i } }
  }

  const coldRows = async (of: ServeProcess): Promise<number> =>
    (await ask(of, '/admin/status')).json.storage.cold.rows

  const hasEvicted = (of: ServeProcess, rows = rowCount / 2) =>
    vi.waitFor(async () => expect(await coldRows(of)).toBeGreaterThan(rows), {
      timeout: 120_000,
      interval: 100,
    })

  const queries = [
    'measures: count(1) as n, sum(metrics.tokens) as tokens, max(len(input)) as longest',
    'select: id, input | filter: metrics.tokens > 12340 and metrics.tokens < 12350 | sort: id',
    "select: * | filter: id = 'r4321'",
    "select: id, metrics.tokens | filter: id in ['r12', 'r13', 'r14']",
    "select: id | filter: root_span_id = 't77' | sort: id",
    'dimensions: metrics.tokens % 7 as seventh | measures: count(1) as n | sort: seventh',
  ]

  async function answers(of: ServeProcess, version?: string) {
    const given: unknown[] = []
    for (const query of queries) {
      const whole = `${query} | from: project_logs('${project}')`
      given.push((await ask(of, '/btql', { query: whole, ...(version && { version }) })).json.data)
    }
    return given
  }

  test('is told keys and ids of what has left its home, and reads no body for that', async () => {
    const { storage } = (await ask(home, '/admin/status')).json
    const hotBytes = (rowCount - storage.cold.rows) * JSON.stringify(recordOf(0)).length
    expect(proxy.bytes - hotBytes).toBeLessThan(50 * rowCount)
  })

  test('has no more bodies than its home, and answers the same', async () => {
    await hasEvicted(node)
    expect(await answers(node)).toEqual(await answers(home))
    const [ofHome, ofNode] = ['home', 'node'].map((name) =>
      Object.values(directorySizes(join(folder, name))).reduce((sum, bytes) => sum + bytes, 0),
    )
    expect(ofNode! / ofHome!).toBeLessThan(1.5)
  })

  test('answers with what is newer, merged and removed at its home', async () => {
    const version = (await insert([{ id: 'new', input: 'new', metrics: { tokens: 1 } }])).headers
    await insert([{ id: 'r4321', _is_merge: true, output: 'merged' }], node)
    await insert([{ id: 'r12341', _object_delete: true }], node)
    expect(await answers(node)).toEqual(await answers(home))
    const before = version.get('x-bt-xact-id')!
    expect(await answers(node, before)).toEqual(await answers(home, before))
  })

  test('goes on without its home, also after a start of its own', async () => {
    const before = await answers(home)
    home.child.kill('SIGKILL')
    await home.exit
    expect(await answers(node)).toEqual(before)
    node.child.kill('SIGKILL')
    await node.exit
    node = await startNode()
    expect(await answers(node)).toEqual(before)
    home = await startHome()
    await insert([{ id: 'later', input: 'later', metrics: { tokens: 2 } }], home)
    await expect.poll(() => answers(node)).toEqual(await answers(home))
  })

  test('takes over anew what has left its home since it was there last', async () => {
    node.child.kill('SIGKILL')
    await node.exit
    const cold = await coldRows(home)
    for (let from = rowCount - 4000; from < 2 * rowCount; from += rowsPerInsert) {
      await insert(Array.from({ length: rowsPerInsert }, (_, i) => recordOf(from + i)))
    }
    await hasEvicted(home, cold + rowCount / 2)
    node = await startNodeWithoutBodies()
    expect(await answers(node)).toEqual(await answers(home))
  })
})
