/** Finds a model's price by the many ways in which providers and gateways write its name. */
import { defaultPrices, type ModelPrice, type PriceTable } from './prices.ts'

/** Names that are remembered for each table. */
const maximumRemembered = 10_000

interface Index {
  /** As `pricesByName` gives them. */
  readonly prices: ReadonlyMap<string, ModelPrice>
  readonly found: Map<string, ModelPrice | undefined>
}

const indexes = new WeakMap<PriceTable, Index>()

/**
 * The price of a model; undefined when the table does not have it. `openai/gpt-4o-2024-08-06`,
 * `us.anthropic.claude-sonnet-4-20250514-v1:0` and `claude-3.5-sonnet:beta` are found under the names
 * without what surrounds them; the longest name that fits counts.
 */
export function findPrice(
  model: string,
  table: PriceTable = defaultPrices,
): ModelPrice | undefined {
  let index = indexes.get(table)
  if (!index) {
    index = { prices: pricesByName(table), found: new Map() }
    indexes.set(table, index)
  }
  if (index.found.has(model)) return index.found.get(model)
  const price = lookUp(normalized(model), index.prices)
  if (index.found.size >= maximumRemembered) index.found.clear()
  index.found.set(model, price)
  return price
}

/** By name as `normalized` gives it; of names that are the same then the last counts. */
export function pricesByName(table: PriceTable): ReadonlyMap<string, ModelPrice> {
  return new Map(Object.entries(table).map(([name, price]) => [normalized(name), price]))
}

function lookUp(model: string, prices: ReadonlyMap<string, ModelPrice>): ModelPrice | undefined {
  for (const name of [model, withoutProvider(model)]) {
    for (let end = name.length; end > 0; end = lastSeparator(name, end)) {
      const price = prices.get(name.slice(0, end))
      if (price && variantPattern.test(name.slice(end))) return price
    }
  }
  return undefined
}

/** Versions, dates and other words that leave a model what it is: any number of them. Nodes of a cluster read it, too. */
export const variantWords =
  '(?:[-@:](?:\\d{2,8}|v\\d+(?::\\d+)?|latest|preview|exp|beta|free|instruct|turbo|versatile|instant|chat|it|hf|fp8))*'

const variantPattern = new RegExp(`^${variantWords}$`)

function lastSeparator(name: string, end: number): number {
  for (let i = end - 1; i > 0; i--) if (/[-@:]/.test(name[i]!)) return i
  return 0
}

/** `openai/…`, `accounts/fireworks/models/…`, and `us.anthropic.…` of Bedrock. */
function withoutProvider(model: string): string {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return name.slice(providerPattern.exec(name)?.[0].length ?? 0)
}

/** Words with a point behind each, as many as there are, before a letter. */
export const providerWords = '(?:[a-z]+\\.)+'

const providerPattern = new RegExp(`^${providerWords}(?=[a-z])`)

/** In lower case, with `4.5` as `4-5`: both are written. */
function normalized(model: string): string {
  return model
    .trim()
    .toLowerCase()
    .replace(/(?<=\d)\.(?=\d)/g, '-')
}
