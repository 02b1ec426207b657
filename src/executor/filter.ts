import type { BoundExpression } from '../binder/bound.ts'
import { constantValue, type EvaluationContext } from '../binder/evaluate.ts'
import { type NumberComparison, swapped } from '../kernel/compare.ts'
import {
  selectByCode,
  selectByCodeWithin,
  selectCompared,
  selectComparedWithin,
  selectTrue,
  selectTrueWithin,
} from '../kernel/select.ts'
import { type Path, Timestamp } from '../type/value.ts'
import type { Selection } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { compile, type Evaluator, truthBytes } from './compile.ts'
import { dictionaryField, tableFor } from './over-dictionary.ts'

/** Keeps the rows for which all predicates are true; each sees only what the ones before left. */
export type Filter = (batch: Batch, selection: Selection) => Selection

/**
 * Writes the rows of a selection for which one predicate is true to `out`, and returns how many there
 * are; undefined when this way does not fit the batch.
 */
type Selector = (batch: Batch, selection: Selection, out: Int32Array) => number | undefined

export function compileFilter(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): Filter {
  const selectors = predicates.map((predicate) => compileSelector(predicate, context))
  return (batch, selection) => {
    let current = selection
    for (const select of selectors) {
      if (current?.length === 0) return current
      const out = new Int32Array(current ? current.length : batch.rowCount)
      const count = select(batch, current, out)
      if (!current && count === batch.rowCount) continue
      current = out.subarray(0, count)
    }
    return current
  }
}

function compileSelector(
  predicate: BoundExpression,
  context: EvaluationContext,
): (batch: Batch, selection: Selection, out: Int32Array) => number {
  const evaluate = compile(predicate, context)
  const direct = compileComparison(predicate, context) ?? compileByCode(predicate, evaluate)
  return (batch, selection, out) => {
    const selected = direct?.(batch, selection, out)
    if (selected !== undefined) return selected
    const vector = evaluate(batch, selection)
    const truth =
      vector.kind === 'boolean' ? vector.values : truthBytes(vector, batch.rowCount, selection)
    return selection
      ? selectTrueWithin(truth, selection, out)
      : selectTrue(truth, batch.rowCount, out)
  }
}

interface FieldComparison {
  readonly path: Path
  readonly operator: NumberComparison
  readonly kind: 'number' | 'timestamp'
  readonly value: number
}

/** `field op constant`, where the constant is a number or a time. */
function fieldComparison(
  predicate: BoundExpression,
  context: EvaluationContext,
): FieldComparison | undefined {
  if (predicate.kind !== 'comparison') return undefined
  const { operator, left, right } = predicate
  if (operator === 'is_same' || operator === 'is_different') return undefined
  const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
  if (field.kind !== 'field') return undefined
  const constant = constantValue(other, context)
  const numberOperator = field === left ? operator : swapped[operator]
  const { path } = field
  if (typeof constant === 'number') {
    return { path, operator: numberOperator, kind: 'number', value: constant }
  }
  if (constant instanceof Timestamp) {
    return { path, operator: numberOperator, kind: 'timestamp', value: constant.ms }
  }
  return undefined
}

function compileComparison(
  predicate: BoundExpression,
  context: EvaluationContext,
): Selector | undefined {
  const comparison = fieldComparison(predicate, context)
  if (!comparison) return undefined
  const { path, operator, kind, value } = comparison
  return (batch, selection, out) => {
    const field = batch.field(path, selection)
    if (field.kind !== 'number' && field.kind !== 'timestamp') return undefined
    if (field.kind !== kind) return undefined
    return selection
      ? selectComparedWithin(operator, field.values, value, selection, out)
      : selectCompared(operator, field.values, value, batch.rowCount, out)
  }
}

/** A predicate over one field, on the distinct values of the field when they are in a dictionary. */
function compileByCode(predicate: BoundExpression, evaluate: Evaluator): Selector | undefined {
  const path = dictionaryField(predicate)
  if (!path) return undefined
  return (batch, selection, out) => {
    const field = batch.field(path, selection)
    if (field.kind !== 'dictionary') return undefined
    const table = tableFor(predicate, field.entries, evaluate)
    if (table.kind !== 'boolean') return undefined
    return selection
      ? selectByCodeWithin(table.values, field.codes, selection, out)
      : selectByCode(table.values, field.codes, batch.rowCount, out)
  }
}
