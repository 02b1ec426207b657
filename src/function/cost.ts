/** What a span has cost: as recorded, or by its tokens and the price of its model. */
import { asNumber } from '../type/arithmetic.ts'
import type { JsonObject, Path, Value } from '../type/value.ts'
import { findPrice } from './find-price.ts'
import type { ModelPrice, PriceTable } from './prices.ts'

/** The fields of a row that its cost depends on, in the order in which `costBreakdown` takes them. */
export const costFields: readonly Path[] = [
  ['span_attributes', 'purpose'],
  ['metrics', 'estimated_cost'],
  ['metadata', 'model'],
  ['metrics', 'prompt_tokens'],
  ['metrics', 'completion_tokens'],
  ['metrics', 'prompt_cached_tokens'],
  ['metrics', 'prompt_cache_creation_tokens'],
  ['metrics', 'prompt_cache_creation_5m_tokens'],
  ['metrics', 'prompt_cache_creation_1h_tokens'],
]

export const costComponents = [
  'promptUncachedTokensCost',
  'promptCachedTokensCost',
  'promptCacheCreationTokensCost',
  'promptCacheCreation5mTokensCost',
  'promptCacheCreation1hTokensCost',
  'completionTokensCost',
  'totalCost',
] as const

/**
 * The parts of a row's cost in US dollars, and the tokens that they are for; null when there is no
 * recorded cost, and no model with a price and tokens, and of scorers, whose calls the application
 * does not make. Prompt tokens include those that were read
 * from and written to a cache.
 *
 * A recorded cost is the total, whatever the parts add up to; they are null when unknown.
 */
export function costBreakdown(fields: readonly Value[], prices?: PriceTable): JsonObject | null {
  const [purpose, recordedCost, model] = fields
  if (purpose === 'scorer') return null
  const recorded = asNumber(recordedCost!)
  const price = typeof model === 'string' ? findPrice(model, prices) : undefined
  const counts = fields.slice(3).map(asNumber)
  const parts = price && counts.some((count) => count !== null) ? costParts(counts, price) : null
  if (recorded !== null) return { ...(parts ?? unknownParts), totalCost: recorded }
  return parts
}

export function totalCost(fields: readonly Value[], prices?: PriceTable): Value {
  return costBreakdown(fields, prices)?.totalCost ?? null
}

const unknownParts: JsonObject = Object.fromEntries(costComponents.map((name) => [name, null]))

function costParts(
  counts: readonly (number | null)[],
  { input, output, cacheRead = input, cacheWrite = input, cacheWrite5m, cacheWrite1h }: ModelPrice,
): JsonObject {
  const [prompt, completion, cached, written, written5m, written1h] = counts.map((count) =>
    Math.max(0, count ?? 0),
  ) as [number, number, number, number, number, number]
  const split = written5m + written1h
  const created = Math.max(written, split)
  const uncached = Math.max(0, prompt - cached - created)
  // By how long they are kept, only if all of them are told apart so.
  const isSplit =
    cacheWrite5m !== undefined && cacheWrite1h !== undefined && split > 0 && split >= written
  const cost = {
    uncached: dollars(uncached, input),
    cached: dollars(cached, cacheRead),
    in5m: isSplit ? dollars(written5m, cacheWrite5m) : 0,
    in1h: isSplit ? dollars(written1h, cacheWrite1h) : 0,
    completion: dollars(completion, output),
  }
  const creation = isSplit ? cost.in5m + cost.in1h : dollars(created, cacheWrite)
  return {
    promptUncachedTokens: uncached,
    promptCachedTokens: cached,
    promptCacheCreationTokens: created,
    promptCacheCreation5mTokens: isSplit ? written5m : 0,
    promptCacheCreation1hTokens: isSplit ? written1h : 0,
    completionTokens: completion,
    promptUncachedTokensCost: cost.uncached,
    promptCachedTokensCost: cost.cached,
    promptCacheCreationTokensCost: creation,
    promptCacheCreation5mTokensCost: cost.in5m,
    promptCacheCreation1hTokensCost: cost.in1h,
    completionTokensCost: cost.completion,
    totalCost: cost.uncached + cost.cached + creation + cost.completion,
  }
}

/** @param price per million tokens */
function dollars(tokens: number, price: number): number {
  return (tokens * price) / 1_000_000
}
