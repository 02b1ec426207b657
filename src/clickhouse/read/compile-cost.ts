/** What calls have cost, as `function/cost.ts` computes it: in doubles, and in the same order, so that no bit differs. */
import { type CostComponent, scorer } from '../../function/cost.ts'
import { defaultPrices, type PriceTable } from '../../function/prices.ts'
import { isTrue } from './bounds.ts'
import { numberOf } from './compile-arithmetic.ts'
import { type CompiledValue, doubtsOfScalar, nullValue } from './compiled-value.ts'
import { greatestTold, type PriceList, placeOfPrice } from './model-price.ts'
import { nameLiteral } from './sql-text.ts'
import { named, type StatementConstants } from './statement-names.ts'

/**
 * Undefined of costs that only the body tells.
 *
 * @param fields those of `costFields`, in their order
 */
export function compileCost(
  component: CostComponent,
  fields: readonly (CompiledValue | undefined)[],
  prices: PriceTable = defaultPrices,
  constants: StatementConstants,
): CompiledValue | undefined {
  const [purpose, recorded, model, ...counts] = fields
  const numbers = [recorded, ...counts].map((field) => field && numberOf(field))
  const texts = [purpose, model].map((field) => field && textOf(field))
  if (numbers.includes(undefined) || texts.includes(undefined)) return undefined
  const [cost, ...tokens] = numbers as string[]
  const [purposeText, modelText] = texts as string[]
  const priced = placeOfPrice(modelText!, prices, constants)
  if (!priced) return undefined
  const calculated = costOfTokens(component, priced.place, tokens)
  const isTotal = component === 'totalCost'
  const all = isTotal ? `ifNull(${cost}, ${calculated})` : calculated
  const isScorer = isTrue(`${purposeText} = ${nameLiteral(scorer)}`)
  // One zero has no sign.
  const shown = 'if(isNaN(cost), NULL, cost + 0.)'
  const number = named({ cost: `if(${isScorer}, nan, ${all})` }, shown)
  const isCounted = isTotal ? `isNull(${cost})` : '1'
  const areBeyond = `arrayExists(count -> ${isTrue(`count > ${greatestTold}`)}, [${tokens.join(', ')}])`
  return {
    ...nullValue,
    typed: { number },
    isNull: `isNull(${number})`,
    doubts: [
      ...(fields as readonly CompiledValue[]).flatMap(doubtsOfScalar),
      `(${isCounted} AND (${priced.doubt} OR ${areBeyond}))`,
    ],
  }
}

/** Null for what is no text; undefined where only the body tells. */
function textOf({ typed, hidden }: CompiledValue): string | undefined {
  return hidden.includes('string') ? undefined : (typed.string ?? 'CAST(NULL AS Nullable(String))')
}

type SixTokens = [string, string, string, string, string, string]

/**
 * SQL of a double: NaN without a price, or without tokens.
 *
 * @param place of the price in its lists
 * @param tokens as `CallCost.set` takes them, null for what was not counted
 */
function costOfTokens(component: CostComponent, place: string, tokens: readonly string[]): string {
  const [prompt, completion, cached, written, written5m, written1h] = tokens as SixTokens
  const given = { place, prompt, completion, cached, written, written5m, written1h }
  const counted = {
    prompt: countOf('prompt'),
    completion: countOf('completion'),
    cached: countOf('cached'),
    in5m: countOf('written5m'),
    in1h: countOf('written1h'),
    created: `greatest(${countOf('written')}, ${countOf('written5m')} + ${countOf('written1h')})`,
  }
  const uncachedCost = dollars('greatest(prompt - cached - created, 0.)', 'input_prices')
  const cachedCost = dollars('cached', 'read_prices')
  const completionCost = dollars('completion', 'output_prices')
  const in5mCost = dollars('in5m', 'write_5m_prices')
  const in1hCost = dollars('in1h', 'write_1h_prices')
  // Only if all of them are told apart by how long they are kept.
  const isSplit =
    '(in5m + in1h > 0 AND in5m + in1h = created AND NOT isNaN(write_5m_prices[place]))'
  const creationCost = `if(${isSplit}, ${in5mCost} + ${in1hCost}, ${dollars('created', 'write_prices')})`
  const parts: Record<CostComponent, string> = {
    promptUncachedTokensCost: uncachedCost,
    promptCachedTokensCost: cachedCost,
    promptCacheCreationTokensCost: creationCost,
    promptCacheCreation5mTokensCost: `if(${isSplit}, ${in5mCost}, 0.)`,
    promptCacheCreation1hTokensCost: `if(${isSplit}, ${in1hCost}, 0.)`,
    completionTokensCost: completionCost,
    totalCost: `${uncachedCost} + ${cachedCost} + ${creationCost} + ${completionCost}`,
  }
  const isNone =
    'isNull(coalesce(prompt, completion, cached, written, written5m, written1h)) OR isNaN(input_prices[place])'
  return named(given, `if(${isNone}, nan, ${named(counted, parts[component])})`)
}

function countOf(tokens: string): string {
  return `greatest(ifNull(${tokens}, 0.), 0.)`
}

function dollars(tokens: string, list: PriceList): string {
  return `(${tokens} * ${list}[place] / 1000000)`
}
