import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster, hasCluster } from './cluster/cluster.ts'
import { prefixLength, readGoldenFiles } from './support/golden-file.ts'
import { isSlow } from './support/random-seed.ts'
import { printSlt } from './support/slt.ts'
import {
  clusterStates,
  type GoldenRun,
  GoldenStore,
  runBlocks,
  startRun,
  storageStates,
} from './support/slt-runner.ts'

const files = readGoldenFiles()
// Minutes: each insert is waited for until the cluster has it.
const states = isSlow && hasCluster() ? [...storageStates, ...clusterStates] : storageStates
const setups = states.flatMap((state) => [0, 2].map((workers) => ({ state, workers })))
const clusterNumber = 89

describe.each(setups)('golden files, $state, $workers workers', (setup) => {
  let store: GoldenStore
  let cluster: Cluster | undefined
  const runs = new Map<string, GoldenRun>()

  beforeAll(async () => {
    const needsCluster = clusterStates.some((each) => each === setup.state)
    if (needsCluster) cluster = await Cluster.up({ shards: 2, replicas: 1, number: clusterNumber })
    store = await GoldenStore.open({ ...setup, cluster })
    if (setup.state !== 'compacted') return
    // One restart for all files: what they write first is written before it.
    for (const file of files) {
      const run = startRun(store, file)
      runs.set(file.name, run)
      await runBlocks(run, file.blocks.slice(0, prefixLength(file)))
    }
    await store.engine.flush()
    await store.engine.compact()
    await store.reopen()
  })

  afterAll(async () => {
    await store.close()
    cluster?.down()
  })

  it.each(files)('$name', async (file) => {
    const begun = runs.get(file.name)
    const run = begun ?? startRun(store, file)
    const outcomes = await runBlocks(run, file.blocks.slice(begun ? prefixLength(file) : 0))
    for (const { block, form, actual, passed } of outcomes) {
      if (!passed) {
        const place = `${file.name}.slt:${block.line} ${form?.text ?? block.body.join(' ')}`
        expect(actual.join('\n'), place).toBe(block.expected?.join('\n'))
      }
    }
  })
})

describe('golden files', () => {
  it.each(files)('$name has a header with its name and a description', ({ name, blocks }) => {
    const [head] = blocks
    expect(head!.comments[0]).toBe(`# name: ${name}`)
    expect(head!.comments[1]).toMatch(/^# description: \S.*[^.]$/)
  })

  it.each(files)('$name is printed as it was read', ({ blocks, text }) => {
    expect(printSlt(blocks)).toBe(text)
  })
})
