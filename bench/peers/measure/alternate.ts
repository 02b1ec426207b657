/** Lets systems take turns, so that whatever disturbs the machine hits all. */
import type { Layout, System } from '../systems/system.ts'
import { median } from './percentile.ts'

export interface Timed {
  readonly layout: Layout
  /** The median of the asks that count. */
  readonly ms: number
  readonly asks: number
}

/** How often each system is asked. */
export interface Turns {
  /** Asks of a query in a process before it counts as warm. */
  readonly warmUps: number
  /** Asks that count, where more than one does. */
  readonly runs: number
}

/** A peer that takes long gets fewer turns: none begins once it has spent so much time. Peers compile nothing as they run. */
export const budgetMs = { warmUps: 2000, runs: 8000 }

/** Asks some systems, and gives what each of them took. */
export type Turn = (systems: readonly System[]) => Promise<readonly number[]>

/** The times of one query in each system. */
export class Times {
  readonly #systems: readonly System[]
  readonly #times: readonly number[][]

  constructor(systems: readonly System[]) {
    this.#systems = systems
    this.#times = systems.map(() => [])
  }

  /** Lets those take a turn that have spent less than the budget. */
  async add(budget: number, turn: Turn): Promise<void> {
    const asked = this.#systems.filter(({ layout }, i) => {
      return layout === 'assay' || this.#times[i]!.reduce((sum, ms) => sum + ms, 0) < budget
    })
    const taken = await turn(asked)
    for (const [i, system] of asked.entries()) {
      this.#times[this.#systems.indexOf(system)]!.push(taken[i]!)
    }
  }

  get medians(): Timed[] {
    return this.#systems.map(({ layout }, i) => {
      const times = this.#times[i]!
      return { layout, ms: median(times), asks: times.length }
    })
  }
}

/** What systems take once they are warm. */
export async function warmTimes(
  systems: readonly System[],
  turn: Turn,
  { warmUps, runs }: Turns,
): Promise<Timed[]> {
  const before = new Times(systems)
  for (let ask = 0; ask < warmUps; ask++) await before.add(budgetMs.warmUps, turn)
  const times = new Times(systems)
  for (let run = 0; run < runs; run++) await times.add(budgetMs.runs, turn)
  return times.medians
}
