/** What more threads give: Assay alone, started anew with each number of them. */
import { settle } from './ingest.ts'
import type { Turns } from './measure/alternate.ts'
import { threadSpeedup } from './measure/bandwidth.ts'
import { geometricMean, median } from './measure/percentile.ts'
import { type PrepareOptions, prepare } from './prepare.ts'
import { markdownTable } from './report/table.ts'
import { Suite } from './suite.ts'

export interface WorkerTimes {
  readonly name: string
  /** In the order of the numbers of workers. */
  readonly ms: readonly number[]
  /** The time with the first number by that with the last. */
  readonly speedup: number
}

export interface WorkersComparison {
  readonly times: readonly WorkerTimes[]
  /** What the machine itself gives with the last number of threads by one, before and after all runs. */
  readonly machine: readonly [number, number]
}

export interface WorkersOptions extends Omit<PrepareOptions, 'workers' | 'layouts'> {
  readonly workers: readonly number[]
  readonly turns: Turns
  readonly filter: readonly string[] | undefined
}

/** How often the service is started with each number of workers, in between those of the others. */
const starts = 2

export async function compareWorkers(options: WorkersOptions): Promise<WorkersComparison> {
  const { workers, turns, filter } = options
  const before = await threadSpeedup(workers.at(-1)!)
  const times = new Map<string, number[][]>()
  for (let start = 0; start < starts; start++) {
    for (const [i, count] of workers.entries()) {
      const asked = { ...options, workers: count, layouts: ['assay'] } as const
      const prepared = await prepare({ ...asked, loads: 'once' })
      try {
        await settle(prepared.assay!)
        const suite = new Suite({ data: prepared.data, turns, filter })
        await suite.warm(prepared)
        for (const { name, phases } of suite.results) {
          const lists = times.get(name) ?? workers.map(() => [])
          lists[i]!.push(phases.warm![0]!.ms)
          times.set(name, lists)
        }
      } finally {
        await prepared.close()
      }
    }
  }
  const machine = [before, await threadSpeedup(workers.at(-1)!)] as const
  return {
    machine,
    times: [...times].map(([name, lists]) => {
      const ms = lists.map(median)
      return { name, ms, speedup: ms[0]! / ms.at(-1)! }
    }),
  }
}

export function workersTable(workers: readonly number[], comparison: WorkersComparison): string {
  const { times, machine } = comparison
  const head = [
    'query',
    ...workers.map((count) => `${count === 1 ? '1 worker' : `${count} workers`} ms`),
    'times faster',
  ]
  const rows = times.map(({ name, ms, speedup }) => [
    name,
    ...ms.map((value) => value.toFixed(1)),
    speedup.toFixed(2),
  ])
  const idle = machine.map((speedup) => speedup.toFixed(2)).join(' and ')
  const mean = geometricMean(times.map(({ speedup }) => speedup)).toFixed(2)
  return (
    `${markdownTable([head, ...rows])}\n\nAll queries ${mean} times faster (geometric mean). ` +
    `A loop within the cores' caches, before and after: ${idle}`
  )
}
