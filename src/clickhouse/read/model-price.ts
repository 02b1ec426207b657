/** The price of a model by its name, as `function/find-price.ts` finds it. */
import { pricesByName, providerWords, variantWords } from '../../function/find-price.ts'
import type { ModelPrice, PriceTable } from '../../function/prices.ts'
import { nameLiteral, numberList } from './sql-text.ts'
import type { StatementConstants } from './statement-names.ts'

/** All others are NaN where a model has no price. */
export type PriceList =
  | 'input_prices'
  | 'output_prices'
  | 'read_prices'
  | 'write_prices'
  | 'write_5m_prices'
  | 'write_1h_prices'

interface ToldTable {
  /** Of both names of a model, the whole one and that without its provider, one a line. */
  readonly pattern: string
  /** By list, its SQL. */
  readonly lists: Readonly<Record<PriceList | 'priced_models', string>>
}

/** Nodes read the pattern for each block of rows anew: of a longer one rows are asked for sooner than prices. */
const longestPattern = 128 * 1024

/** Far more than any, and so little that no sum of costs is beyond all doubles. */
export const greatestTold = 1e100

/** Undefined of a table that is not told. */
const tables = new WeakMap<PriceTable, ToldTable | undefined>()

export interface PlacedPrice {
  /** SQL of where the lists have the price of the model; 1 where there is none. */
  readonly place: string
  /** Names that the cluster does not read as Assay does. */
  readonly doubt: string
}

/**
 * Undefined of prices that the cluster is not told.
 *
 * @param model SQL of a text or null
 */
export function placeOfPrice(
  model: string,
  table: PriceTable,
  constants: StatementConstants,
): PlacedPrice | undefined {
  if (!tables.has(table)) tables.set(table, toldTable(table))
  const told = tables.get(table)
  if (!told) return undefined
  const { pattern, lists } = told
  for (const [name, sql] of Object.entries(lists)) constants.list(name, sql)
  // Models are few: each function that takes no other column runs once for each of them in a block.
  const text = `toLowCardinality(ifNull(${model}, ''))`
  const apart = nameLiteral('(\\d)\\.(\\d)')
  const joined = nameLiteral('\\1-\\2')
  const replaceAll = (sql: string) => `replaceRegexpAll(${sql}, ${apart}, ${joined})`
  // Twice, as a digit between two points is read with the first of them only.
  const normalized = replaceAll(replaceAll(`lower(trimBoth(${text}))`))
  const both = `replaceRegexpOne(${normalized}, ${nameLiteral(namePattern)}, ${nameLiteral('\\0\n\\1\\2')})`
  const name = `replaceRegexpOne(${both}, ${nameLiteral(pattern)}, ${nameLiteral('\\1')})`
  const places = constants.list('price_places', 'arrayEnumerate(priced_models)')
  return {
    place: `CAST(transform(${name}, priced_models, ${places}, 1), 'UInt32')`,
    doubt: `match(${text}, '[^ -~]')`,
  }
}

/** Of a name without what stands before its last slash and without the words of a provider, in one of two groups. */
const namePattern = `^(?:.*/)?(?:${providerWords}([a-z].*)|(.*))$`

function toldTable(table: PriceTable): ToldTable | undefined {
  // Models with other names are in doubt.
  const prices = [...pricesByName(table)].filter(([name]) => /^[ -~]+$/.test(name))
  // The first alternative that fits is the longest: what a name begins with comes behind it.
  const longestFirst = prices.map(([name]) => name).sort((a, b) => (a < b ? 1 : -1))
  const names = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  // Where there are none, what no name is.
  const any = names.join('|') || '\\n'
  const pattern = `^(?:[^\\n]*\\n)??(${any})${variantWords}(?:\\n[^\\n]*)?$`
  const isWithin = prices.every(([, price]) => {
    return Object.values(price).every((dollars: number) => dollars <= greatestTold)
  })
  if (pattern.length > longestPattern || !isWithin) return undefined
  const list = (priceOf: (price: ModelPrice) => number | undefined): string => {
    return numberList([Number.NaN, ...prices.map(([, price]) => priceOf(price) ?? Number.NaN)])
  }
  const isSplit = (price: ModelPrice): boolean => {
    return price.cacheWrite5m !== undefined && price.cacheWrite1h !== undefined
  }
  return {
    pattern,
    lists: {
      priced_models: `[${['', ...prices.map(([name]) => name)].map(nameLiteral).join(', ')}]`,
      input_prices: list(({ input }) => input),
      output_prices: list(({ output }) => output),
      read_prices: list(({ input, cacheRead = input }) => cacheRead),
      write_prices: list(({ input, cacheWrite = input }) => cacheWrite),
      write_5m_prices: list((price) => (isSplit(price) ? price.cacheWrite5m : undefined)),
      write_1h_prices: list((price) => (isSplit(price) ? price.cacheWrite1h : undefined)),
    },
  }
}
