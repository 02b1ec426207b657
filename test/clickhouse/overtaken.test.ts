/** Queries that have begun before bodies leave the data directory, and go on when they have. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Gate } from '../../src/access/gate.ts'
import { Engine } from '../../src/engine.ts'
import { parseTransaction } from '../../src/type/transaction.ts'
import { type Cluster, clusterName } from '../cluster/cluster.ts'
import { isClusterAsked, useCluster } from '../support/given-cluster.ts'
import { ownerGate } from '../support/owner-gate.ts'
import { readAnswer } from '../support/slt-answer.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const rowCount = 6000
const database = 'overtaken'

describe.runIf(isClusterAsked)('a query that bodies leave under', () => {
  const given = useCluster(90, 1)
  let cluster: Cluster
  let engine: Engine
  let gate: Gate
  let project: string
  /** Rows of later transactions are hot. */
  let hotAfter = 0

  beforeAll(async () => {
    cluster = given()
    await cluster.ask(1, `DROP DATABASE IF EXISTS ${database} SYNC`)
    engine = await Engine.open({
      dataDirectory: await makeTemporaryDirectory('overtaken'),
      workers: 2,
      maintenance: { automatic: false },
      hot: { after: () => hotAfter },
      clickhouse: {
        urls: [cluster.urlOf(1)],
        user: 'default',
        password: '',
        database,
        cluster: clusterName,
        authority: undefined,
      },
    })
    gate = await ownerGate(engine.catalog, database)
  }, 120_000)

  afterAll(() => engine.close())

  /** A project of its own, all of whose rows have arrived and none of which is cold. */
  async function filled(name: string): Promise<void> {
    project = (await gate.findOrCreate('project', { name })).entry.id
    for (let from = 0; from < rowCount; from += 2000) {
      await insert(Array.from({ length: 2000 }, (_, i) => recordOf(from + i)))
    }
    await settled()
  }

  async function settled(): Promise<void> {
    await engine.flush()
    await engine.compact()
    const last = parseTransaction(engine.lastTransactionId())
    await expect.poll(() => engine.export!.through, { timeout: 20_000 }).toBe(last)
  }

  function recordOf(i: number) {
    const input = `question ${i} ${'words '.repeat(40)}${(i * 7919) % 1009}`
    return { id: `r${i}`, root_span_id: `t${i % 500}`, input, metrics: { tokens: i } }
  }

  function insert(events: readonly object[]) {
    const body = Buffer.from(JSON.stringify({ events }))
    const object = { type: 'project_logs', id: project } as const
    return engine.insert({ body, form: 'events', object, view: gate })
  }

  /** All that is there now. */
  async function evict(): Promise<void> {
    hotAfter = parseTransaction(engine.lastTransactionId())
    const evicted = async () => {
      await engine.evict()
      return engine.cold!.through
    }
    await expect.poll(evicted, { timeout: 60_000 }).toBe(hotAfter)
  }

  const logs = () => `project_logs('${project}')`
  const run = (query: string, more: object = {}) =>
    engine.query({ query, view: gate, separator: '\n', ...more })
  const ask = async (query: string, more: object = {}): Promise<unknown[]> =>
    (await readAnswer(run(query, more))).rows.map((row) => JSON.parse(row))

  const queries = [
    ['gives rows by age', () => `select: id, input | from: ${logs()}`],
    ['sorts rows', () => `select: id, input | from: ${logs()} | sort: metrics.tokens desc`],
    ['reads all versions', () => `select: id, input | from: ${logs()} history`],
    ['asks for many ids', () => `select: id, input | from: ${logs()} | filter: id IN [${ids()}]`],
  ] as const
  const ids = () => Array.from({ length: 3000 }, (_, i) => `'r${i * 2}'`).join()

  test.each(queries)('%s, and goes on with what it sees', async (name, query) => {
    await filled(name)
    const before = await ask(query()).catch((error: unknown) => error)
    if (before instanceof Error) throw before
    const rows = run(query()).rows[Symbol.asyncIterator]()
    const chunks = [(await rows.next()).value!.bytes]
    let isEvicted = false
    const evicting = evict().then(() => {
      isEvicted = true
    })
    for (let next = await rows.next(); !next.done; next = await rows.next()) {
      chunks.push(next.value.bytes)
      if (!isEvicted) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await evicting
    const text = chunks.map((chunk) => Buffer.from(chunk).toString()).join('\n')
    const found = text.split('\n').filter((line) => line !== '')
    expect(found.map((line) => JSON.parse(line) as unknown)).toEqual(before)
    expect(await ask(query())).toEqual(before)
  })

  test('is told which records were changed since', async () => {
    await filled('changes')
    const since = engine.lastTransactionId()
    await insert([{ id: 'r1', _is_merge: true, output: 'changed' }, { id: 'fresh' }])
    await insert([{ id: 'r2', _object_delete: true }])
    await settled()
    await evict()
    const through = engine.lastTransactionId()
    const { number } = gate.writable('project_logs', project)!
    const changed = await engine.changedIds(number, since, through, 100)
    expect([...changed!].sort()).toEqual(['r1', 'r2'])
    const later = await ask(`select: id | from: ${logs()}`, { since, version: through })
    expect(later).toEqual([{ id: 'fresh' }, { id: 'r1' }])
  })
})
