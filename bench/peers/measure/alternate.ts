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

/** How often each system is asked. */
export interface Turns {
  /** Runs that do not count, of what is fast enough for so many. */
  readonly warmUps: number
  readonly runs: number
}

/** A system that takes long gets fewer runs, about so much time; beyond it, its first one counts. */
const budgetMs = { warmUps: 2000, runs: 8000 }

/** `texts` are the query for each of the systems, `first` what it took there, not yet warm. */
export async function alternate(
  systems: readonly System[],
  texts: readonly string[],
  first: readonly number[],
  turns: Turns,
): Promise<Timed[]> {
  const turnsWithin = (kind: keyof Turns) =>
    first.map((ms) => Math.min(turns[kind], Math.floor(budgetMs[kind] / ms)))
  const warmUps = turnsWithin('warmUps')
  const runs = turnsWithin('runs')
  const times: number[][] = runs.map((count, i) => (count === 0 ? [first[i]!] : []))
  for (let run = -turns.warmUps; run < turns.runs; run++) {
    for (const [i, system] of systems.entries()) {
      const takesPart = run < 0 ? -run <= warmUps[i]! : run < runs[i]!
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
