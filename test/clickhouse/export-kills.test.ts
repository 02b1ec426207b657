/** The service is killed at any moment of an export, and nodes with it now and then: the same rows arrive. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Cluster, clusterName, hasCluster } from '../cluster/cluster.ts'
import { type ServeProcess, serveAssay } from '../support/assay-process.ts'
import { committedVersions, differences, exportedVersions } from '../support/exported-records.ts'
import { RandomChoice } from '../support/random-choice.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'
import type { AnyJson } from '../support/running-service.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const clusterNumber = 92
const testKey = 'sk-test-0123456789'
const kills = 50
const rowsOfRequest = 300
const database = 'assay'
/** `npm test` builds it before. */
const builtMain = new URL('../../dist/src/main.js', import.meta.url).pathname

describe.runIf(isSlow && hasCluster())('an export that is killed again and again', () => {
  let cluster: Cluster
  const choice = new RandomChoice(randomSeed)

  beforeAll(async () => {
    cluster = await Cluster.up({ shards: 2, replicas: 2, number: clusterNumber })
  })

  afterAll(() => cluster.down())

  function start(directory: string): Promise<ServeProcess> {
    const environment = {
      ASSAY_BOOTSTRAP_KEY: testKey,
      ASSAY_WARM_UP: '0',
      ASSAY_CLICKHOUSE: cluster.nodes.map((node) => cluster.urlOf(node)).join(','),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
    }
    return serveAssay(directory, environment, 0, [process.execPath, builtMain])
  }

  async function ask(url: string, path: string, body?: object): Promise<AnyJson> {
    const answer = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as AnyJson
  }

  /** New records, records that are written again, merged and deleted, of traces that change. */
  function events(): object[] {
    return Array.from({ length: rowsOfRequest }, () => {
      const id = `r${choice.below(3000)}`
      const trace = `t${choice.below(500)}`
      const kind = choice.below(10)
      if (kind === 0) return { id, _object_delete: true }
      if (kind === 1) return { id, _is_merge: true, scores: { s: choice.below(100) / 100 } }
      const text = 'words that are long enough to be rows '.repeat(1 + choice.below(20))
      return { id, span_id: id, root_span_id: trace, input: text, metadata: { n: choice.below(9) } }
    })
  }

  /**
   * Kills it soon after its export has begun to send, or while it cannot, as a node is down. Returns whether rows were
   * still to be sent then.
   */
  async function insertUntilKilled(
    { child, url, exit }: ServeProcess,
    project: string,
    isNodeDown: boolean,
  ) {
    let isKilled = false
    let isBehind = false
    const kill = async () => {
      const sent = async () => Number((await ask(url, '/admin/status')).export?.sent?.rows)
      if (!isNodeDown) await expect.poll(sent, { interval: 10 }).toBeGreaterThan(0)
      await wait(choice.below(1000))
      isBehind = Number((await ask(url, '/admin/status')).export?.lag?.rows) > 0
      isKilled = true
      child.kill('SIGKILL')
    }
    const killed = kill()
    while (!isKilled) {
      const body = { events: events() }
      await ask(url, `/v1/project_logs/${project}/insert`, body).catch(() => undefined)
      await wait(choice.below(20))
    }
    await Promise.all([killed, exit])
    return isBehind
  }

  test(`has every row once after ${kills} kills (seed ${randomSeed})`, async () => {
    const directory = temporaryDirectory()
    let service = await start(directory)
    onTestFinished(() => void service.child.kill('SIGKILL'))
    const project = String((await ask(service.url, '/v1/project', { name: 'p' })).id)
    let behind = 0
    for (let round = 0; round < kills; round++) {
      const down = round % 3 === 1 ? 1 + choice.below(cluster.nodes.length) : undefined
      if (down !== undefined) await cluster.kill(down)
      if (await insertUntilKilled(service, project, down !== undefined)) behind++
      if (down !== undefined) await cluster.start(down)
      service = await start(directory)
    }
    const status = async () => (await ask(service.url, '/admin/status')).export
    await expect.poll(status).toMatchObject({ state: 'current', fault: null })
    service.child.kill('SIGTERM')
    await service.exit
    const committed = await committedVersions(directory)
    for (const node of cluster.nodes) {
      expect(differences(committed, await exportedVersions(cluster, database, node))).toEqual([])
    }
    // Of the others the last rows had just arrived.
    expect(behind).toBeGreaterThan(kills / 2)
    console.log(
      `${kills} kills, ${behind} with rows to send, ${committed.size} row versions, seed ${randomSeed}`,
    )
  })
})
