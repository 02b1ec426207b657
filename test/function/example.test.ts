import { describe, expect, it } from 'vitest'
import { ExpressionBinder } from '../../src/binder/bind-expression.ts'
import { evaluate } from '../../src/binder/evaluate.ts'
import { Scope } from '../../src/binder/scope.ts'
import { aggregateFunction, aggregateFunctions } from '../../src/function/aggregate.ts'
import { scalarFunctions } from '../../src/function/scalar.ts'
import { parseExpression } from '../../src/parser/parse.ts'
import { writeJson } from '../../src/type/write-json.ts'

const context = { now: Date.UTC(2024, 4, 17, 10, 42, 31), tzOffset: 0 }
const binder = new ExpressionBinder(new Scope(new Set(['experiment']), []), context)

describe('the examples in the documentation', () => {
  it.each(scalarFunctions.map(({ example }) => example))('%s gives %s', (call, result) => {
    const bound = binder.bind(parseExpression(call))
    expect(writeJson(evaluate(bound, () => null, context))).toBe(result)
  })

  it.each(aggregateFunctions)(
    '$example calls $name with as many arguments as it takes',
    (entry) => {
      const call = parseExpression(entry.example)
      if (call.kind !== 'call') throw new Error('an example must be a call')
      expect(aggregateFunction(call.name)).toBe(entry)
      expect(call.arguments.length).toBeGreaterThanOrEqual(entry.minArguments)
      expect(call.arguments.length).toBeLessThanOrEqual(entry.maxArguments)
    },
  )

  it('have descriptions of one line without a full stop', () => {
    for (const { description } of [...scalarFunctions, ...aggregateFunctions]) {
      expect(description).toMatch(/^[A-Z][^\n]*[^.\n]$/)
    }
  })
})
