import { describe, expect, it } from 'vitest'
import { costBreakdown, totalCost } from '../../src/function/cost.ts'
import { findPrice } from '../../src/function/find-price.ts'
import { defaultPrices, readPriceTable } from '../../src/function/prices.ts'

describe('findPrice', () => {
  it.each([
    ['gpt-4o', 'gpt-4o'],
    ['GPT-4o', 'gpt-4o'],
    ['openai/gpt-4o', 'gpt-4o'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
    ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
    ['gpt-4-0613', 'gpt-4'],
    ['gpt-4-1106-preview', 'gpt-4-1106-preview'],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['anthropic/claude-sonnet-4.5', 'claude-sonnet-4-5'],
    ['us.anthropic.claude-3-5-sonnet-20241022-v2:0', 'claude-3-5-sonnet'],
    ['claude-3-5-sonnet-v2@20241022', 'claude-3-5-sonnet'],
    ['claude-3.5-sonnet:beta', 'claude-3-5-sonnet'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet'],
    ['models/gemini-2.5-pro-preview-05-06', 'gemini-2.5-pro'],
    ['accounts/fireworks/models/llama-3.3-70b-instruct', 'llama-3.3-70b'],
  ])('takes %s for %s', (model, name) => {
    expect(defaultPrices[name]).toBeDefined()
    expect(findPrice(model)).toBe(defaultPrices[name])
  })

  it.each(['', 'gpt', 'gpt-4o-audio', 'gpt-9', 'claude-sonnet-4-7', 'my-gpt-4o', 'constructor'])(
    'knows no %j',
    (model) => {
      expect(findPrice(model)).toBeUndefined()
    },
  )
})

describe('costBreakdown', () => {
  const price = { m: { input: 1, output: 10, cacheRead: 0.1, cacheWrite5m: 2, cacheWrite1h: 4 } }
  const million = 1_000_000

  it('prices each kind of token once', () => {
    const fields = [null, null, 'm', 10 * million, million, 4 * million, 3 * million, null, null]
    expect(costBreakdown(fields, price)).toMatchObject({
      promptUncachedTokens: 3 * million,
      promptUncachedTokensCost: 3,
      promptCachedTokensCost: 0.4,
      // No price to write to the cache but by how long: as input.
      promptCacheCreationTokensCost: 3,
      completionTokensCost: 10,
      totalCost: 16.4,
    })
  })

  it('prices cache writes by how long they are kept only when that is known of all', () => {
    const fields = [null, null, 'm', 3 * million, null, null, 3 * million, million, 2 * million]
    expect(costBreakdown(fields, price)).toMatchObject({
      promptCacheCreation5mTokensCost: 2,
      promptCacheCreation1hTokensCost: 8,
      totalCost: 10,
    })
    expect(
      totalCost([null, null, 'm', 3 * million, null, null, 3 * million, million, null], price),
    ).toBe(3)
  })

  it('takes the recorded cost for the total', () => {
    expect(totalCost([null, 0.25, 'm', million], price)).toBe(0.25)
    expect(totalCost([null, 0.25, 'other', million], price)).toBe(0.25)
    expect(totalCost([null, 0, 'm', million], price)).toBe(0)
  })

  it('is none of scorers, whatever they have recorded', () => {
    expect(totalCost(['scorer', 0.25, 'm', million], price)).toBe(null)
    expect(totalCost(['other', 0.25, 'm', million], price)).toBe(0.25)
  })

  it('is null without tokens or a price', () => {
    expect(totalCost([null, null, 'm', null, null, null, null, null, null], price)).toBe(null)
    expect(totalCost([null, null, 'other', million], price)).toBe(null)
    expect(totalCost([null, null, null, million], price)).toBe(null)
  })
})

describe('readPriceTable', () => {
  it('takes any name for a model', () => {
    const price = { input: 1, output: 2 }
    const names = ['__proto__', 'constructor', 'toString']
    const table = readPriceTable(
      `{${names.map((name) => `"${name}":${JSON.stringify(price)}`).join()}}`,
      'prices.json',
    )
    expect(names.map((name) => findPrice(name, table))).toEqual(names.map(() => price))
  })

  it('puts entries over the built-in ones, and null takes one away', () => {
    const table = readPriceTable('{"gpt-4o":{"input":1,"output":2},"gpt-4":null}', 'prices.json')
    expect(table['gpt-4o']).toEqual({ input: 1, output: 2 })
    expect(table['gpt-4']).toBeUndefined()
    expect(findPrice('gpt-4', table)).toBeUndefined()
    expect(table['gpt-4o-mini']).toBe(defaultPrices['gpt-4o-mini'])
  })

  it.each([
    ['{', 'prices.json is not JSON: '],
    ['[]', 'prices.json must hold an object of prices by model'],
    ['{"m":1}', 'prices.json: "m" must be an object or null'],
    ['{"m":{"input":1}}', 'prices.json: "m" has no output'],
    ['{"m":{"in":1,"output":1}}', 'prices.json: "m" has the unknown field "in"'],
    [
      '{"m":{"input":"1","output":1}}',
      'prices.json: "m": input must be dollars per million tokens, not 1',
    ],
    [
      '{"m":{"input":-1,"output":1}}',
      'prices.json: "m": input must be dollars per million tokens, not -1',
    ],
  ])('refuses %s', (text, message) => {
    expect(() => readPriceTable(text, 'prices.json')).toThrow(message)
  })
})
