/** What more threads give: Assay alone, started anew with each number of them. */
import type { Turns } from './measure/alternate.ts'
import { median } from './measure/percentile.ts'
import { type PrepareOptions, prepare } from './prepare.ts'
import { markdownTable } from './report/table.ts'
import { runSuite } from './suite.ts'

export interface WorkerTimes {
  readonly name: string
  /** In the order of the numbers of workers. */
  readonly ms: readonly number[]
  /** The time with the first number by that with the last. */
  readonly speedup: number
}

export interface WorkersOptions extends Omit<PrepareOptions, 'workers' | 'layouts'> {
  readonly workers: readonly number[]
  readonly turns: Turns
  readonly filter: readonly string[] | undefined
}

/** How often the service is started with each number of workers, in between those of the others. */
const starts = 2

export async function compareWorkers(options: WorkersOptions): Promise<WorkerTimes[]> {
  const { workers, turns, filter } = options
  const times = new Map<string, number[][]>()
  for (let start = 0; start < starts; start++) {
    for (const [i, count] of workers.entries()) {
      const prepared = await prepare({ ...options, workers: count, layouts: ['assay'] })
      try {
        const { data, systems, assay } = prepared
        const results = await runSuite({
          systems,
          projectId: assay!.projectId,
          data,
          turns,
          filter,
        })
        for (const { name, times: timed } of results) {
          const lists = times.get(name) ?? workers.map(() => [])
          lists[i]!.push(timed[0]!.ms)
          times.set(name, lists)
        }
      } finally {
        await prepared.close()
      }
    }
  }
  return [...times].map(([name, lists]) => {
    const ms = lists.map(median)
    return { name, ms, speedup: ms[0]! / ms.at(-1)! }
  })
}

export function workersTable(workers: readonly number[], times: readonly WorkerTimes[]): string {
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
  return markdownTable([head, ...rows])
}
