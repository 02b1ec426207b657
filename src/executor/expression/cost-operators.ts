/** `estimated_cost()` over whole columns: a price is looked up once for each model of a dictionary. */
import type { BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { CallCost, scorer } from '../../function/cost.ts'
import { findPrice } from '../../function/find-price.ts'
import { defaultPrices, type ModelPrice, type PriceTable } from '../../function/prices.ts'
import { newNumbers } from '../../kernel/arena.ts'
import { asNumber } from '../../type/arithmetic.ts'
import type { Value } from '../../type/value.ts'
import { rowsOf, type Selection, type Vector, valueReader } from '../../vector/vector.ts'

type Call = Extract<BoundExpression, { kind: 'call' }>

/** Takes the fields of `costFields`, in their order. */
type CostOf = (fields: readonly Vector[], rowCount: number, selection: Selection) => Vector

const callCost = new CallCost()

/** Undefined when the call asks for something else. */
export function compileCost(
  { name }: Call,
  { prices = defaultPrices }: EvaluationContext,
): CostOf | undefined {
  if (name !== 'estimated_cost') return undefined
  return ([purpose, recorded, model, ...counts], rowCount, selection) => {
    const rows = rowsOf(selection, rowCount)
    const isScorer = scorerTest(purpose!)
    const priceOf = priceReader(model!, prices)
    const costs = numbersOf(recorded!, rowCount, rows)
    const [prompt, completion, cached, written, written5m, written1h] = counts.map((count) =>
      numbersOf(count, rowCount, rows),
    )
    const values = newNumbers(rowCount)
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!
      let cost = numberAt(costs, row)
      const price = Number.isNaN(cost) ? priceOf(row) : undefined
      if (price) {
        cost = callCost.set(
          numberAt(prompt, row),
          numberAt(completion, row),
          numberAt(cached, row),
          numberAt(written, row),
          numberAt(written5m, row),
          numberAt(written1h, row),
          price,
        )
      }
      values[row] = isScorer?.(row) ? Number.NaN : cost
    }
    return { kind: 'number', values }
  }
}

/** NaN where there is none. */
function numberAt(numbers: Float64Array | undefined, row: number): number {
  return numbers ? numbers[row]! : Number.NaN
}

/** NaN where there is no number; undefined when there are none, as of most fields. */
function numbersOf(vector: Vector, rowCount: number, rows: Int32Array): Float64Array | undefined {
  if (vector.kind === 'number') return vector.values
  if (vector.kind === 'constant' && vector.value === null) return undefined
  const numbers = newNumbers(rowCount)
  const read = valueReader(vector)
  for (const row of rows) numbers[row] = asNumber(read(row)) ?? Number.NaN
  return numbers
}

/** Undefined where none is a scorer. */
function scorerTest(purpose: Vector): ((row: number) => boolean) | undefined {
  if (purpose.kind === 'constant' && purpose.value !== scorer) return undefined
  const read = valueReader(purpose)
  return (row) => read(row) === scorer
}

function priceReader(model: Vector, table: PriceTable): (row: number) => ModelPrice | undefined {
  const find = (value: Value) => (typeof value === 'string' ? findPrice(value, table) : undefined)
  if (model.kind === 'constant') {
    const price = find(model.value)
    return () => price
  }
  if (model.kind !== 'dictionary') {
    const read = valueReader(model)
    return (row) => find(read(row))
  }
  const { codes, entries } = model
  let prices = entries.memo.get(table) as Map<number, ModelPrice | undefined> | undefined
  if (!prices) {
    prices = new Map()
    entries.memo.set(table, prices)
  }
  const known = prices
  return (row) => {
    const code = codes[row]!
    if (code < 0) return undefined
    if (!known.has(code)) known.set(code, find(entries.valueAt(code)))
    return known.get(code)
  }
}
