/** How many times faster one system is, query by query and on the whole, in each phase. */
import { geometricMean } from '../measure/percentile.ts'
import type { Layout } from '../systems/system.ts'
import type { Phase, QueryResult } from './query-result.ts'

export const typedPeers: readonly Layout[] = ['duckdb', 'clickhouse']
export const jsonPeers: readonly Layout[] = ['duckdb-json', 'clickhouse-json']

/** One query in one phase: ours and the faster peer's. */
export interface Duel {
  readonly ms: number
  readonly peerMs: number
  /** The peer's time by ours. */
  readonly ratio: number
}

export interface Summary {
  /** Geometric means of the faster peer's time by ours; undefined without such peers. */
  readonly typedGeometricMean: number | undefined
  readonly jsonGeometricMean: number | undefined
  /** Queries in which the faster typed peer is faster than we are, or our answer wrong; undefined without such peers. */
  readonly behind: number | undefined
  /** The query that is behind by most milliseconds. */
  readonly widestGap: { readonly name: string; readonly ms: number } | undefined
}

export function msOf({ phases }: QueryResult, phase: Phase, layout: Layout): number | undefined {
  return phases[phase]?.find((timed) => timed.layout === layout)?.ms
}

/** Ours against the fastest of some peers; wrong answers of peers do not count. Undefined if either is missing. */
export function duelOf(
  result: QueryResult,
  phase: Phase,
  peers: readonly Layout[] = typedPeers,
): Duel | undefined {
  const ms = msOf(result, phase, 'assay')
  const times = peers
    .filter((layout) => result.differences[layout] === undefined)
    .map((layout) => msOf(result, phase, layout))
    .filter((time) => time !== undefined)
  if (ms === undefined || times.length === 0) return undefined
  const peerMs = Math.min(...times)
  return { ms, peerMs, ratio: peerMs / ms }
}

export function isWrong({ differences }: QueryResult): boolean {
  return differences.assay !== undefined
}

export function summarize(results: readonly QueryResult[], phase: Phase): Summary {
  const duels = results.map((result) => duelOf(result, phase))
  const gaps = duels
    .map((duel, i) => ({ name: results[i]!.name, ms: duel ? duel.ms - duel.peerMs : 0 }))
    .filter(({ ms }) => ms > 0)
    .sort((a, b) => b.ms - a.ms)
  const isBehind = (result: QueryResult, i: number) => isWrong(result) || (duels[i]?.ratio ?? 1) < 1
  return {
    typedGeometricMean: meanOf(duels),
    jsonGeometricMean: meanOf(results.map((result) => duelOf(result, phase, jsonPeers))),
    behind: duels.some((duel) => duel) ? results.filter(isBehind).length : undefined,
    widestGap: gaps[0],
  }
}

function meanOf(duels: readonly (Duel | undefined)[]): number | undefined {
  const ratios = duels.filter((duel) => duel !== undefined).map(({ ratio }) => ratio)
  return ratios.length === 0 ? undefined : geometricMean(ratios)
}
