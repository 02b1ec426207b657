/** The golden files over a data directory that was made out of a cluster, which has all of another one. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster, clusterName, hasCluster } from '../cluster/cluster.ts'
import { runAssay } from '../support/assay-process.ts'
import { prefixLength, readGoldenFiles } from '../support/golden-file.ts'
import { isSlow } from '../support/random-seed.ts'
import { RunningService, testKey } from '../support/running-service.ts'
import { type GoldenRun, GoldenStore, runBlocks, startRun } from '../support/slt-runner.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const clusterNumber = 95
const files = readGoldenFiles()

describe.runIf(isSlow && hasCluster())('golden files over a restored directory', () => {
  let cluster: Cluster
  let store: GoldenStore
  const runs = new Map<string, GoldenRun>()

  beforeAll(async () => {
    cluster = await Cluster.up({ shards: 2, replicas: 1, number: clusterNumber })
    store = await GoldenStore.open({ state: 'delta', workers: 0 })
    for (const file of files) {
      const run = startRun(store, file)
      runs.set(file.name, run)
      await runBlocks(run, file.blocks.slice(0, prefixLength(file)))
    }
    await store.engine.close()
  })

  afterAll(async () => {
    await store.close()
    cluster.down()
  })

  test('are exported, verify, and are restored', async () => {
    const environment = {
      ASSAY_BOOTSTRAP_KEY: testKey,
      ASSAY_CLICKHOUSE: cluster.urlOf(1),
      ASSAY_CLICKHOUSE_CLUSTER: clusterName,
    }
    const service = await RunningService.over(store.directory, environment)
    try {
      const status = async () => (await service.request('/admin/status')).json.export
      await expect.poll(status, { timeout: 200_000 }).toMatchObject({ state: 'current' })
    } finally {
      await service.halt()
    }
    const clickhouse = (command: string, directory: string) =>
      runAssay(['clickhouse', command, '--data-dir', directory], { environment })
    const verified = await clickhouse('verify', store.directory)
    expect(verified.stdout).toContain('ClickHouse has just these')
    expect(verified.code).toBe(0)
    const restored = join(await makeTemporaryDirectory('restored'), 'data')
    const { code, stderr } = await clickhouse('restore', restored)
    expect(code, stderr).toBe(0)
    rmSync(store.directory, { recursive: true })
    await store.reopenOver(restored)
  })

  test.each(files)('$name', async (file) => {
    const run = runs.get(file.name)!
    for (const { block, form, actual, passed } of await runBlocks(
      run,
      file.blocks.slice(prefixLength(file)),
    )) {
      if (!passed) {
        const place = `${file.name}.slt:${block.line} ${form?.text ?? block.body.join(' ')}`
        expect(actual.join('\n'), place).toBe(block.expected?.join('\n'))
      }
    }
  })
})
