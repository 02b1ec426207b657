/** The cluster of a test file: one of its own, or one that is up already and that `ASSAY_CLUSTER` gives the number of. */
import { afterAll, beforeAll } from 'vitest'
import { Cluster, hasCluster } from '../cluster/cluster.ts'
import { isSlow } from './random-seed.ts'

const given = process.env.ASSAY_CLUSTER

/** Whether tests of a cluster that take long are to run. */
export const isClusterAsked = Boolean(isSlow || given) && hasCluster()

/**
 * To be called in a block of tests, which have the cluster once they run.
 *
 * @param number of the cluster that is started where none is given
 */
export function useCluster(number: number, shards: number): () => Cluster {
  let cluster: Cluster
  beforeAll(async () => {
    const found =
      given === undefined
        ? await Cluster.up({ shards, replicas: 1, number })
        : Cluster.find(Number(given))
    if (found?.shards !== shards) {
      throw new Error(
        `ASSAY_CLUSTER: there is no cluster ${given} of ${shards} shards: \`npm run cluster -- up --shards ${shards} --number ${given}\``,
      )
    }
    cluster = found
  }, 120_000)
  afterAll(() => {
    if (given === undefined) cluster.down()
  })
  return () => cluster
}
