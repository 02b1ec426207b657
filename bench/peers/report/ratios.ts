/** How many times faster one system is, query by query and on the whole. */
import { geometricMean } from '../measure/percentile.ts'
import type { QueryResult } from '../suite.ts'
import type { Layout } from '../systems/system.ts'

export const typedPeers: readonly Layout[] = ['duckdb', 'clickhouse']
export const jsonPeers: readonly Layout[] = ['duckdb-json', 'clickhouse-json']

export interface Ratios {
  /** The faster typed peer's time by ours, and the faster JSON peer's; undefined without peers. */
  readonly typed: number | undefined
  readonly json: number | undefined
}

export interface Summary {
  readonly queries: number
  readonly typedGeometricMean: number | undefined
  readonly jsonGeometricMean: number | undefined
  /** Queries in which the faster typed peer is faster than we are. */
  readonly below1: number
  readonly wrong: number
}

export function msOf({ times }: QueryResult, layout: Layout): number | undefined {
  return times.find((timed) => timed.layout === layout)?.ms
}

/** Wrong answers of peers do not count. */
export function ratiosOf(result: QueryResult): Ratios {
  const ours = msOf(result, 'assay')
  const fastest = (layouts: readonly Layout[]) => {
    const times = layouts
      .filter((layout) => result.differences[layout] === undefined)
      .map((layout) => msOf(result, layout))
      .filter((ms) => ms !== undefined)
    return times.length === 0 ? undefined : Math.min(...times)
  }
  const ratio = (ms: number | undefined) =>
    ms === undefined || ours === undefined ? undefined : ms / ours
  return { typed: ratio(fastest(typedPeers)), json: ratio(fastest(jsonPeers)) }
}

export function summarize(results: readonly QueryResult[]): Summary {
  const ratios = results.map(ratiosOf)
  const mean = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined)
    return known.length === 0 ? undefined : geometricMean(known)
  }
  const wrong = results.filter(({ differences }) => differences.assay !== undefined)
  const slower = results.filter(
    (result, i) => (ratios[i]!.typed ?? 1) < 1 && !wrong.includes(result),
  )
  return {
    queries: results.length,
    typedGeometricMean: mean(ratios.map(({ typed }) => typed)),
    jsonGeometricMean: mean(ratios.map(({ json }) => json)),
    below1: slower.length + wrong.length,
    wrong: wrong.length,
  }
}
