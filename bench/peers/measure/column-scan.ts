/**
 * Assay's sum of one double over HTTP, where the same double is more than about its median, against what the memory
 * gives: no granule has only rows that pass or only others, so that all are read.
 */
import type { Assay } from '../systems/assay.ts'
import { memoryBandwidth } from './bandwidth.ts'
import { median } from './percentile.ts'

export interface ColumnScan {
  readonly memoryGbPerSecond: number
  readonly scanMs: number
  readonly scanGbPerSecond: number
  /** How many times as long as reading the column's bytes takes at the memory's speed. */
  readonly timesMemory: number
}

/** As many as let the loops be compiled, and those that count. */
const [warmUps, runs] = [50, 9]

export async function columnScan(assay: Assay, rows: number, workers: number): Promise<ColumnScan> {
  const query = JSON.stringify({
    query:
      'measures: sum(metrics.time_to_first_token) as total\n' +
      `from: project_logs('${assay.projectId}')\nfilter: metrics.time_to_first_token > 0.3`,
    use_columnstore: true,
  })
  const times: number[] = []
  for (let run = 0; run < warmUps + runs; run++) times.push((await assay.run(query)).ms)
  const scanMs = median(times.slice(warmUps))
  const memory = await memoryBandwidth(Math.max(1, workers))
  const scan = (rows * 8 * 1000) / scanMs
  return {
    memoryGbPerSecond: memory / 1e9,
    scanMs,
    scanGbPerSecond: scan / 1e9,
    timesMemory: memory / scan,
  }
}
