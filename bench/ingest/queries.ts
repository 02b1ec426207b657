/** Three queries one after the other, as a page asks them: how long they take at rest, and beside something else. */
import { setTimeout as wait } from 'node:timers/promises'
import { median, percentile } from '../peers/measure/percentile.ts'
import { AssayClient } from '../peers/systems/assay-client.ts'
import type { AssayProcess } from '../peers/systems/assay-process.ts'

export interface QueryTimes {
  readonly name: string
  readonly p50Ms: number
  readonly p99Ms: number
}

const pauseMs = 20
const constants = 50

const kinds = [
  { name: 'the first 20 rows', query: () => 'select: * | limit: 20' },
  {
    name: 'an average',
    query: (least: number) =>
      `measures: avg(metrics.tokens) as mean | filter: metrics.tokens > ${least}`,
  },
  {
    name: 'sums by model',
    query: (least: number) =>
      `dimensions: metadata.model | measures: sum(metrics.tokens) as tokens | filter: metrics.tokens > ${least}`,
  },
] as const

/** Asks for so long, with another constant each time. */
export async function measureQueries(
  { url, key }: AssayProcess,
  project: string,
  ms: number,
): Promise<QueryTimes[]> {
  const client = new AssayClient({ url, key, connections: 1 })
  const times = kinds.map((): number[] => [])
  try {
    const end = performance.now() + ms
    for (let least = 0; performance.now() < end; least = (least + 1) % constants) {
      for (const [i, { query }] of kinds.entries()) {
        const asked = performance.now()
        await client.postJson('/btql', {
          query: `from: project_logs('${project}') | ${query(least)}`,
        })
        times[i]!.push(performance.now() - asked)
        await wait(pauseMs)
      }
    }
  } finally {
    client.close()
  }
  return kinds.map(({ name }, i) => {
    return { name, p50Ms: median(times[i]!), p99Ms: percentile(times[i]!, 0.99) }
  })
}
