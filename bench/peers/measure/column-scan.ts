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

/** As many as let the loops be compiled, and those that count. */
const [warmUps, runs] = [300, 25]

const field = 'metrics.time_to_first_token'
const scanned = [
  { name: 'filter and count', measures: 'count(1) as n' },
  { name: 'filter and sum', measures: `sum(${field}) as total` },
]

export async function columnScan(assay: Assay, rows: number, workers: number): Promise<ColumnScan> {
  const memory = await memoryBandwidth(Math.max(1, workers))
  const scans: ScanTime[] = []
  for (const { name, measures } of scanned) {
    const query = JSON.stringify({
      query: `measures: ${measures}\nfrom: project_logs('${assay.projectId}')\nfilter: ${field} > 0.3`,
      use_columnstore: true,
    })
    const times: number[] = []
    for (let run = 0; run < warmUps + runs; run++) times.push((await assay.run(query)).ms)
    const ms = median(times.slice(warmUps))
    const scan = (rows * 8 * 1000) / ms
    scans.push({ name, ms, gbPerSecond: scan / 1e9, timesMemory: memory / scan })
  }
  return { memoryGbPerSecond: memory / 1e9, scans }
}
