/** Picks the kernels of comparisons and arithmetic; undefined where none fits the operands. */

import { newBytes, newNumbers } from '../../kernel/arena.ts'
import { calculate, numbersOfTruths, roundNumbers } from '../../kernel/arithmetic.ts'
import { compareNumbers, compareWithConstant, swapped } from '../../kernel/compare.ts'
import type { ArithmeticOperator, ComparisonOperator } from '../../parser/ast.ts'
import { isTimeOfNumber } from '../../type/value.ts'
import type { NumberVector, Vector } from '../../vector/vector.ts'

export function compareVectors(
  operator: ComparisonOperator,
  left: Vector,
  right: Vector,
  rowCount: number,
): Vector | undefined {
  if (operator === 'is_same' || operator === 'is_different') return undefined
  if (isNumbers(left)) {
    if (right.kind === left.kind) {
      const values = newBytes(rowCount)
      compareNumbers(operator, left.values, (right as NumberVector).values, rowCount, values)
      return { kind: 'boolean', values }
    }
    const constant = numberConstant(right, left.kind)
    if (constant === undefined) return undefined
    const values = newBytes(rowCount)
    compareWithConstant(operator, left.values, constant, rowCount, values)
    return { kind: 'boolean', values }
  }
  if (isNumbers(right) && left.kind === 'constant') {
    return compareVectors(swapped[operator], right, left, rowCount)
  }
  return undefined
}

export function calculateVectors(
  operator: ArithmeticOperator,
  left: Vector,
  right: Vector,
  rowCount: number,
): Vector | undefined {
  if (left.kind === 'constant' && right.kind === 'constant') return undefined
  const a = numbersOf(left, rowCount)
  const b = a && numbersOf(right, rowCount)
  if (!a || !b) return undefined
  const values = newNumbers(rowCount)
  calculate(operator, a, b, rowCount, values)
  return { kind: 'number', values }
}

/** `floor` and `ceil` of numbers; undefined for other functions and values. */
export function roundVector(name: string, vector: Vector, rowCount: number): Vector | undefined {
  if ((name !== 'floor' && name !== 'ceil') || vector.kind !== 'number') return undefined
  const values = newNumbers(rowCount)
  roundNumbers(name, vector.values, rowCount, values)
  return { kind: 'number', values }
}

function isNumbers(vector: Vector): vector is NumberVector {
  return vector.kind === 'number' || vector.kind === 'timestamp'
}

function numberConstant(vector: Vector, kind: 'number' | 'timestamp'): number | undefined {
  if (vector.kind !== 'constant') return undefined
  const { value } = vector
  if (kind === 'number') return typeof value === 'number' ? value : undefined
  return isTimeOfNumber(value) ? value.ms : undefined
}

/** Numbers, and booleans as 0 and 1. */
export function numbersOf(vector: Vector, rowCount: number): Float64Array | undefined {
  switch (vector.kind) {
    case 'number':
      return vector.values
    case 'boolean': {
      const numbers = newNumbers(rowCount)
      numbersOfTruths(vector.values, rowCount, numbers)
      return numbers
    }
    case 'constant': {
      const { value } = vector
      if (typeof value !== 'number' && typeof value !== 'boolean') return undefined
      return newNumbers(rowCount).fill(Number(value))
    }
    default:
      return undefined
  }
}
