/** Measures the loops of src/kernel, in nanoseconds per row of a scan batch. */
import { Bench } from 'tinybench'
import { granuleRows } from '../../src/vector/column.ts'
import { formatTable } from '../table.ts'
import { makeBatch } from './batch.ts'
import { kernelBenchmarks } from './benchmarks.ts'

export interface KernelResult {
  readonly name: string
  readonly nsPerRow: number
  /** Half of the 99 % confidence interval, relative to the mean. */
  readonly margin: number
}

export async function runKernels(): Promise<KernelResult[]> {
  const benchmarks = kernelBenchmarks(makeBatch(1, granuleRows))
  // Alone, each kernel would be compiled for its one caller. In a query all of them take turns, so
  // they do here, until the compiler has settled.
  for (let round = 0; round < 300; round++) for (const { run } of benchmarks) run()

  const bench = new Bench({ time: 150, warmupTime: 20 })
  for (const { name, run } of benchmarks) bench.add(name, run)
  await bench.run()
  const results = bench.tasks.map(({ name, result }): KernelResult => {
    if (result.state !== 'completed') throw new Error(`kernel benchmark "${name}" did not finish`)
    return {
      name,
      nsPerRow: (result.latency.p50 * 1e6) / granuleRows,
      margin: result.latency.rme / 100,
    }
  })
  const rows = results.map((result) => [
    result.name,
    result.nsPerRow.toFixed(2),
    `±${(result.margin * 100).toFixed(1)} %`,
  ])
  console.log(formatTable([['kernel', 'ns/row', 'spread'], ...rows]))
  return results
}
