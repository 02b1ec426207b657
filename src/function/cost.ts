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

/** The purpose of spans whose calls the application does not make. */
export const scorer = 'scorer'

export const costComponents = [
  'promptUncachedTokensCost',
  'promptCachedTokensCost',
  'promptCacheCreationTokensCost',
  'promptCacheCreation5mTokensCost',
  'promptCacheCreation1hTokensCost',
  'completionTokensCost',
  'totalCost',
] as const
export type CostComponent = (typeof costComponents)[number]

export function isCostComponent(name: Value | undefined): name is CostComponent {
  return (costComponents as readonly (Value | undefined)[]).includes(name)
}

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
  if (purpose === scorer) return null
  const recorded = asNumber(recordedCost!)
  const price = typeof model === 'string' ? findPrice(model, prices) : undefined
  const parts = price ? costParts(fields.slice(3).map(asNumber), price) : null
  if (recorded !== null) return { ...(parts ?? unknownParts), totalCost: recorded }
  return parts
}

export function totalCost(fields: readonly Value[], prices?: PriceTable): Value {
  return costBreakdown(fields, prices)?.totalCost ?? null
}

const unknownParts: JsonObject = Object.fromEntries(costComponents.map((name) => [name, null]))

/** Tokens of a call by what they cost, and that in US dollars. Is set anew for each call, so that rows make no objects. */
export class CallCost {
  uncached = 0
  cached = 0
  created = 0
  in5m = 0
  in1h = 0
  completion = 0
  uncachedCost = 0
  cachedCost = 0
  creationCost = 0
  in5mCost = 0
  in1hCost = 0
  completionCost = 0

  /** Takes what was counted, NaN for what was not; returns the total, NaN if nothing was. */
  set(
    prompt: number,
    completion: number,
    cached: number,
    written: number,
    written5m: number,
    written1h: number,
    price: ModelPrice,
  ): number {
    const { input, output, cacheRead = input, cacheWrite = input } = price
    const { cacheWrite5m, cacheWrite1h } = price
    this.completion = countOf(completion)
    this.cached = countOf(cached)
    this.in5m = countOf(written5m)
    this.in1h = countOf(written1h)
    const split = this.in5m + this.in1h
    this.created = Math.max(countOf(written), split)
    this.uncached = Math.max(0, countOf(prompt) - this.cached - this.created)
    this.uncachedCost = dollars(this.uncached, input)
    this.cachedCost = dollars(this.cached, cacheRead)
    this.completionCost = dollars(this.completion, output)
    // By how long they are kept, only if all of them are told apart so.
    const isSplit = split > 0 && split === this.created
    if (isSplit && cacheWrite5m !== undefined && cacheWrite1h !== undefined) {
      this.in5mCost = dollars(this.in5m, cacheWrite5m)
      this.in1hCost = dollars(this.in1h, cacheWrite1h)
      this.creationCost = this.in5mCost + this.in1hCost
    } else {
      this.in5m = 0
      this.in1h = 0
      this.in5mCost = 0
      this.in1hCost = 0
      this.creationCost = dollars(this.created, cacheWrite)
    }
    const isCounted =
      isNumber(prompt) ||
      isNumber(completion) ||
      isNumber(cached) ||
      isNumber(written) ||
      isNumber(written5m) ||
      isNumber(written1h)
    if (!isCounted) return Number.NaN
    return this.uncachedCost + this.cachedCost + this.creationCost + this.completionCost
  }
}

function isNumber(count: number): boolean {
  return !Number.isNaN(count)
}

function countOf(count: number): number {
  return isNumber(count) ? Math.max(0, count) : 0
}

/** @param price per million tokens */
function dollars(tokens: number, price: number): number {
  return (tokens * price) / 1_000_000
}

const call = new CallCost()

/** Null without tokens. */
function costParts(counts: readonly (number | null)[], price: ModelPrice): JsonObject | null {
  const [prompt, completion, cached, written, written5m, written1h] = counts.map(
    (count) => count ?? Number.NaN,
  ) as [number, number, number, number, number, number]
  const totalCost = call.set(prompt, completion, cached, written, written5m, written1h, price)
  if (Number.isNaN(totalCost)) return null
  return {
    promptUncachedTokens: call.uncached,
    promptCachedTokens: call.cached,
    promptCacheCreationTokens: call.created,
    promptCacheCreation5mTokens: call.in5m,
    promptCacheCreation1hTokens: call.in1h,
    completionTokens: call.completion,
    promptUncachedTokensCost: call.uncachedCost,
    promptCachedTokensCost: call.cachedCost,
    promptCacheCreationTokensCost: call.creationCost,
    promptCacheCreation5mTokensCost: call.in5mCost,
    promptCacheCreation1hTokensCost: call.in1hCost,
    completionTokensCost: call.completionCost,
    totalCost,
  }
}
