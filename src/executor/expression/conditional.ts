/** `if`, `case`, `? :` and `coalesce` over whole columns. */
import type { BoundExpression } from '../../binder/bound.ts'
import { newCodes, newNumbers } from '../../kernel/arena.ts'
import { chooseNumbers } from '../../kernel/arithmetic.ts'
import { chooseCode } from '../../kernel/choose.ts'
import { isTimeOfNumber, Timestamp, type Value } from '../../type/value.ts'
import {
  type DictionaryEntries,
  type Selection,
  type Vector,
  valueEntries,
} from '../../vector/vector.ts'
import { type Batch, nullBytes } from './batch.ts'
import { truthOf } from './evaluator.ts'

type Conditional = Extract<BoundExpression, { kind: 'conditional' }>

/** Takes conditions and results in turn, and what is otherwise; undefined if it must go row by row. */
type Choice = (
  operands: readonly Vector[],
  batch: Batch,
  selection: Selection,
) => Vector | undefined

export function compileConditional(node: Conditional): Choice {
  const results: readonly BoundExpression[] = [
    ...node.branches.map(({ result }) => result),
    node.otherwise,
  ]
  let named: DictionaryEntries | undefined
  return (operands, batch, selection) => {
    const conditions = node.branches.map((_, i) => operands[2 * i]!)
    const chosen = results.map((_, i) => operands[Math.min(2 * i + 1, operands.length - 1)]!)
    const kind = numericKind(chosen)
    if (kind) {
      const numbers = chosen.map((vector) => numbersOf(vector, batch.rowCount))
      return { kind, values: chooseAmong(numbers, conditions, batch, selection) }
    }
    const values: Value[] = []
    for (const vector of chosen) {
      if (vector.kind !== 'constant') return undefined
      values.push(vector.value)
    }
    // The results of constants are the same in all batches.
    named ??= valueEntries(values.filter((value) => value !== null))
    return {
      kind: 'dictionary',
      codes: codesOf(values, conditions, batch, selection),
      entries: named,
    }
  }
}

/** The first value of each row that is not null; undefined if it must go row by row. */
export function firstPresent(
  operands: readonly Vector[],
  rowCount: number,
  selection: Selection,
): Vector | undefined {
  const given: Vector[] = []
  for (const vector of operands) {
    if (vector.kind !== 'constant') given.push(vector)
    else if (vector.value !== null) {
      given.push(vector)
      break
    }
  }
  const [first] = given
  if (!first) return { kind: 'constant', value: null }
  if (given.length === 1) return first
  const kind = numericKind(given)
  if (!kind) return undefined
  let values = numbersOf(given.at(-1)!, rowCount)
  for (const vector of given.slice(0, -1).reverse()) {
    const out = newNumbers(rowCount)
    const isNull = nullBytes(vector, rowCount, selection)
    chooseNumbers(isNull, values, numbersOf(vector, rowCount), rowCount, out)
    values = out
  }
  return { kind, values }
}

/** What all results are that are not null; undefined if they differ or are no numbers. */
function numericKind(results: readonly Vector[]): 'number' | 'timestamp' | undefined {
  let kind: 'number' | 'timestamp' | undefined
  for (const vector of results) {
    const found = vector.kind === 'constant' ? kindOfConstant(vector.value) : vector.kind
    if (found === 'null') continue
    if (found !== 'number' && found !== 'timestamp') return undefined
    if (kind !== undefined && kind !== found) return undefined
    kind = found
  }
  return kind
}

function kindOfConstant(value: Value): 'number' | 'timestamp' | 'null' | 'other' {
  if (value === null) return 'null'
  if (isTimeOfNumber(value)) return 'timestamp'
  return typeof value === 'number' ? 'number' : 'other'
}

function numbersOf(vector: Vector, rowCount: number): Float64Array {
  if (vector.kind === 'number' || vector.kind === 'timestamp') return vector.values
  const value = vector.kind === 'constant' ? vector.value : null
  const number = value instanceof Timestamp ? value.ms : typeof value === 'number' ? value : NaN
  return newNumbers(rowCount).fill(number)
}

function chooseAmong(
  results: readonly Float64Array[],
  conditions: readonly Vector[],
  batch: Batch,
  selection: Selection,
): Float64Array {
  let chosen = results.at(-1)!
  // From the last on, so that the first that is true has the last word.
  for (let i = conditions.length - 1; i >= 0; i--) {
    const out = newNumbers(batch.rowCount)
    const truth = truthOf(conditions[i]!, batch, selection)
    chooseNumbers(truth, results[i]!, chosen, batch.rowCount, out)
    chosen = out
  }
  return chosen
}

function codesOf(
  results: readonly Value[],
  conditions: readonly Vector[],
  batch: Batch,
  selection: Selection,
): Int32Array {
  let next = 0
  const codes = results.map((value) => (value === null ? -1 : next++))
  const out = newCodes(batch.rowCount).fill(codes.at(-1)!)
  for (let i = conditions.length - 1; i >= 0; i--) {
    chooseCode(truthOf(conditions[i]!, batch, selection), codes[i]!, batch.rowCount, out)
  }
  return out
}
