/** Times one query in several systems, in turns, so that whatever disturbs the machine hits all. */
import type { Layout, System } from '../systems/system.ts'
import { median } from './percentile.ts'

export interface Timed {
  readonly layout: Layout
  readonly firstMs: number
  /** The median of the runs that count. */
  readonly ms: number
  readonly runs: number
}

/** A system that takes long gets fewer runs, about so much time; beyond it, its first one counts. */
const budgetMs = 8000

/** `texts` are the query for each of the systems, `first` what it took there, not yet warm. */
export async function alternate(
  systems: readonly System[],
  texts: readonly string[],
  first: readonly number[],
  runs: number,
): Promise<Timed[]> {
  const planned = first.map((ms) => Math.min(runs, Math.floor(budgetMs / ms)))
  const isFast = planned.map((count) => count === runs)
  const times: number[][] = planned.map((count, i) => (count === 0 ? [first[i]!] : []))
  for (let run = -1; run < runs; run++) {
    for (const [i, system] of systems.entries()) {
      // What is fast has a second run to warm up; what is slow is warm after the first.
      const takesPart = run < 0 ? isFast[i] : run < planned[i]!
      if (!takesPart) continue
      const { ms } = await system.run(texts[i]!)
      if (run >= 0) times[i]!.push(ms)
    }
  }
  return systems.map(({ layout }, i) => ({
    layout,
    firstMs: first[i]!,
    ms: median(times[i]!),
    runs: times[i]!.length,
  }))
}
