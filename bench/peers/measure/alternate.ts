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

/** A system that takes long gets fewer turns: none begins once it has spent so much time. */
const budgetMs = { warmUps: 2000, runs: 8000 }

/**
 * `texts` are the query for each of the systems, `first` what it took there when it was first asked: that says nothing
 * of how long it takes once it is warm.
 */
export async function alternate(
  systems: readonly System[],
  texts: readonly string[],
  first: readonly number[],
  turns: Turns,
): Promise<Timed[]> {
  await takeTurns(systems, texts, turns.warmUps, budgetMs.warmUps)
  const times = await takeTurns(systems, texts, turns.runs, budgetMs.runs)
  return systems.map(({ layout }, i) => ({
    layout,
    firstMs: first[i]!,
    ms: median(times[i]!),
    runs: times[i]!.length,
  }))
}

/** What each turn took, by system: one at least, unless `most` is none. */
async function takeTurns(
  systems: readonly System[],
  texts: readonly string[],
  most: number,
  budgetMs: number,
): Promise<number[][]> {
  const times: number[][] = systems.map(() => [])
  const spent = systems.map(() => 0)
  for (let turn = 0; turn < most; turn++) {
    for (const [i, system] of systems.entries()) {
      if (spent[i]! >= budgetMs) continue
      const { ms } = await system.run(texts[i]!)
      times[i]!.push(ms)
      spent[i]! += ms
    }
  }
  return times
}
