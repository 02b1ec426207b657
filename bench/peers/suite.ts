/** Asks the queries in all systems, each time with other constants, and compares the answers. */
import type { DataFile } from './generator/data-file.ts'
import { budgetMs, type Timed, Times, type Turns, warmTimes } from './measure/alternate.ts'
import { differenceOf } from './measure/same-rows.ts'
import { selectQueries, textsOf } from './queries/all-queries.ts'
import { ConstantSource } from './queries/constants.ts'
import type { PeerQuery } from './queries/peer-query.ts'
import { note, showProgress } from './report/progress.ts'
import type { Phase, QueryResult } from './report/query-result.ts'
import { resultLine } from './report/table.ts'
import type { Layout, Row, System } from './systems/system.ts'

export interface SuiteOptions {
  readonly data: DataFile
  readonly turns: Turns
  /** Names of queries, or parts of them; all if not given. */
  readonly filter: readonly string[] | undefined
}

/** The systems as they run now. */
export interface Running {
  readonly systems: readonly System[]
  readonly projectId: string
}

interface Asked {
  readonly query: PeerQuery
  /** How often it was asked; each time has constants of its own. */
  asks: number
  /** The same of the processes that run now. */
  asksOfProcess: number
  readonly phases: Partial<Record<Phase, readonly Timed[]>>
  readonly differences: Partial<Record<Layout, string>>
}

/** Of the asks that warm up, one in so many is compared. */
const comparedEvery = 10

export class Suite {
  readonly #constants: ConstantSource
  readonly #turns: Turns
  readonly #queries: readonly Asked[]

  constructor({ data, turns, filter }: SuiteOptions) {
    this.#constants = new ConstantSource(data)
    this.#turns = turns
    this.#queries = selectQueries(filter).map((query) => {
      return { query, asks: 0, asksOfProcess: 0, phases: {}, differences: {} }
    })
  }

  get results(): QueryResult[] {
    return this.#queries.map(({ query, phases, differences }) => {
      return { name: query.name, phases, differences }
    })
  }

  /** Asks each query once, of processes that nobody has asked before. */
  async first(phase: 'afterLoad' | 'afterRestart', running: Running): Promise<void> {
    for (const asked of this.#queries) {
      asked.asksOfProcess = 0
      const times = new Times(running.systems)
      await this.#round(phase, asked, times, running)
      asked.phases[phase] = times.medians
    }
    this.#tell(phase)
  }

  /** Asks all queries a few times more, one after the other, as people do: a query, another, and the first again. */
  async early(running: Running): Promise<void> {
    const times = this.#queries.map(() => new Times(running.systems))
    for (let round = 0; round < this.#turns.runs; round++) {
      for (const [i, asked] of this.#queries.entries()) {
        await this.#round('early', asked, times[i]!, running)
      }
    }
    for (const [i, asked] of this.#queries.entries()) asked.phases.early = times[i]!.medians
    this.#tell('early')
  }

  /** Asks each query until it was asked often, and then a few times more. */
  async warm(running: Running): Promise<void> {
    for (const asked of this.#queries) {
      showProgress(`warm: ${asked.query.name}`)
      const warmUps = Math.max(0, this.#turns.warmUps - asked.asksOfProcess)
      const turn = (systems: readonly System[]) => {
        return this.#ask(asked, { ...running, systems }, asked.asks % comparedEvery === 0)
      }
      asked.phases.warm = await warmTimes(running.systems, turn, { ...this.#turns, warmUps })
    }
    this.#tell('warm')
  }

  async #round(phase: Phase, asked: Asked, times: Times, running: Running): Promise<void> {
    showProgress(`${phase}: ${asked.query.name}`)
    await times.add(budgetMs.runs, (systems) => this.#ask(asked, { ...running, systems }, true))
  }

  async #ask(
    asked: Asked,
    { systems, projectId }: Running,
    isCompared: boolean,
  ): Promise<number[]> {
    const { query } = asked
    const textOf = textsOf(query, { constants: this.#constants, number: asked.asks, projectId })
    const answers = new Map<Layout, () => Row[]>()
    const times: number[] = []
    for (const system of systems) {
      const text = textOf(system.layout)
      try {
        const { ms, rows } = await system.run(text)
        times.push(ms)
        if (isCompared) answers.set(system.layout, rows)
      } catch (error) {
        throw new Error(`${query.name}: ${system.layout}: ${String(error)}\n${text}`)
      }
    }
    asked.asks++
    asked.asksOfProcess++
    for (const [layout, difference] of differencesOf(query, answers)) {
      if (asked.differences[layout] === undefined) {
        note(`${query.name}: ${layout}: ${difference}\n${textOf(layout)}`)
        asked.differences[layout] = difference
      }
    }
    return times
  }

  #tell(phase: Phase): void {
    note(`\n${phase}`)
    for (const result of this.results) note(resultLine(result, phase))
  }
}

/** In this order the first system that is there gives the expected answer. */
const references: readonly Layout[] = [
  'duckdb',
  'clickhouse',
  'duckdb-json',
  'clickhouse-json',
  'assay',
]

function differencesOf(
  query: PeerQuery,
  answers: ReadonlyMap<Layout, () => Row[]>,
): [Layout, string][] {
  const reference = references.find((layout) => answers.has(layout))
  if (reference === undefined || answers.size === 1) return []
  const expected = answers.get(reference)!()
  const differences: [Layout, string][] = []
  for (const [layout, answer] of answers) {
    if (layout === reference) continue
    const difference = differenceOf(query, answer(), expected)
    if (difference !== undefined) differences.push([layout, difference])
  }
  return differences
}
