/**
 * Assay's count, and its sum, of one double over HTTP, where the same double is more than about its median, against what
 * the memory gives: no granule has only rows that pass or only others, so that all are read.
 */
import type { Assay } from '../systems/assay.ts'
import { memoryBandwidth } from './bandwidth.ts'
import { median } from './percentile.ts'

/** A scan that reads every value of the double. */
export interface ScanTime {
  readonly name: string
  readonly ms: number
  readonly gbPerSecond: number
  /** How many times as long as reading the column's bytes takes at the memory's speed. */
  readonly timesMemory: number
}

export interface ColumnScan {
  readonly memoryGbPerSecond: number
  readonly scans: readonly ScanTime[]
}

/** As many as let the loops be compiled. */
const warmUps = 300
/** What other machines leave of the memory changes within seconds: it is measured anew before each round of runs. */
const [rounds, runs] = [7, 25]

const field = 'metrics.time_to_first_token'
const scanned = [
  { name: 'filter and count', measures: 'count(1) as n' },
  { name: 'filter and sum', measures: `sum(${field}) as total` },
]

/** Of all rounds those in the middle. */
export async function columnScan(assay: Assay, rows: number, workers: number): Promise<ColumnScan> {
  const memories: number[] = []
  const scans = scanned.map(({ name, measures }) => {
    const query = JSON.stringify({
      query: `measures: ${measures}\nfrom: project_logs('${assay.projectId}')\nfilter: ${field} > 0.3`,
      use_columnstore: true,
    })
    return { name, query, times: [] as number[], timesMemory: [] as number[] }
  })
  for (const { query } of scans) for (let run = 0; run < warmUps; run++) await assay.run(query)
  for (let round = 0; round < rounds; round++) {
    const memory = await memoryBandwidth(Math.max(1, workers))
    memories.push(memory)
    for (const { query, times, timesMemory } of scans) {
      const ofRound: number[] = []
      for (let run = 0; run < runs; run++) ofRound.push((await assay.run(query)).ms)
      times.push(...ofRound)
      timesMemory.push((memory * median(ofRound)) / (rows * 8 * 1000))
    }
  }
  return {
    memoryGbPerSecond: median(memories) / 1e9,
    scans: scans.map(({ name, times, timesMemory }) => {
      const ms = median(times)
      return { name, ms, gbPerSecond: (rows * 8) / ms / 1e6, timesMemory: median(timesMemory) }
    }),
  }
}
