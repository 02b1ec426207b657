import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aggregateFunctions, exampleRows } from '../../src/function/aggregate.ts'
import { scalarFunctions } from '../../src/function/scalar.ts'
import { parseExpression } from '../../src/parser/parse.ts'
import { writeJson } from '../../src/type/write-json.ts'
import { ask, type Loaded, load } from '../support/oracle-check.ts'
import { GoldenStore } from '../support/slt-runner.ts'

let store: GoldenStore
let examples: Loaded

beforeAll(async () => {
  store = await GoldenStore.open({ state: 'delta', workers: 0 })
  examples = await load([store], exampleRows)
})

afterAll(() => store.close())

/** The JSON of an expression's value in the first row of its answer. */
async function answerTo(expression: string): Promise<string> {
  const [id] = examples.ids.get(store)!
  const [row] = await ask(
    store,
    `select: (${expression}) as v | from: experiment('${id}') | limit: 1`,
  )
  const [, text] = /^\{"v":(.*)\}$/s.exec(row!)!
  return text!
}

describe('the examples in the documentation', () => {
  it.each(scalarFunctions.map(({ example }) => example))('%s gives %s', async (call, result) => {
    expect(await answerTo(call)).toBe(result)
  })

  it.each(aggregateFunctions.map(({ example }) => example))('%s gives %s', async (call, result) => {
    expect(await answerTo(call)).toBe(result)
  })

  it('call what they are examples of', () => {
    for (const { name, aliases, example } of [...scalarFunctions, ...aggregateFunctions]) {
      const names = [name, ...aliases].map((candidate) => `${candidate}(`)
      expect(names.some((text) => example[0].includes(text))).toBe(true)
    }
  })

  it('have descriptions of one line without a full stop', () => {
    for (const { description } of [...scalarFunctions, ...aggregateFunctions]) {
      expect(description).toMatch(/^[A-Z0-9-][^\n|]*[^.\n]$/)
    }
  })

  it('are over rows that JSON can hold', () => {
    expect(exampleRows.map((row) => JSON.parse(writeJson(row)))).toEqual(exampleRows)
  })
})

describe('the tables of functions', () => {
  it('name each function once', () => {
    const names = [...scalarFunctions, ...aggregateFunctions].flatMap((entry) => [
      entry.name,
      ...entry.aliases,
    ])
    expect(names).toEqual([...new Set(names)])
  })

  it('have names that can be called', () => {
    for (const { name, aliases } of [...scalarFunctions, ...aggregateFunctions]) {
      for (const text of [name, ...aliases]) {
        expect(parseExpression(`${text}(a)`)).toMatchObject({ kind: 'call', name: text })
      }
    }
  })
})
