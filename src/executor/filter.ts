import { type BoundExpression, fieldsOf } from '../binder/bound.ts'
import { constantValue, type EvaluationContext } from '../binder/evaluate.ts'
import { type NumberComparison, type NumberRange, rangeOf, swapped } from '../kernel/compare.ts'
import { newCodes } from '../kernel/memory.ts'
import {
  selectBetween,
  selectBetweenWithin,
  selectByCode,
  selectByCodeWithin,
  selectOther,
  selectOtherWithin,
  selectTrue,
  selectTrueWithin,
} from '../kernel/select.ts'
import { type Path, Timestamp } from '../type/value.ts'
import { rowsOf, type Selection } from '../vector/vector.ts'
import type { Batch } from './batch.ts'
import { compile, type Evaluator, truthBytes, variedExpression } from './compile.ts'
import { includedEntries } from './object-operators.ts'
import { dictionaryField, isOfFewRows, tableFor } from './over-dictionary.ts'
import { selectPresent, selectPresentWithin } from './select-present.ts'
import { selectVaried } from './select-varied.ts'

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
  const selectors = withRanges(predicates, context).map((part) => compileSelector(part, context))
  return (batch, selection) => {
    let current = selection
    for (const select of selectors) {
      if (current?.length === 0) return current
      const out = newCodes(current ? current.length : batch.rowCount)
      const count = select(batch, current, out)
      if (!current && count === batch.rowCount) continue
      current = out.subarray(0, count)
    }
    return current
  }
}

/** One predicate, or two and more that say from where to where a field goes. */
interface FilterPart {
  readonly predicate: BoundExpression
  readonly field: FieldRange | undefined
}

/** Comparisons of the same field are made at once, where the first of them stood. */
function withRanges(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): FilterPart[] {
  const parts = new Map<string, FilterPart>()
  for (const [i, predicate] of predicates.entries()) {
    const field = fieldRange(predicate, context)
    const key = field?.range ? JSON.stringify([field.kind, field.path]) : String(i)
    const known = parts.get(key)
    parts.set(key, known ? both(known, { predicate, field }) : { predicate, field })
  }
  return [...parts.values()]
}

function both(a: FilterPart, b: FilterPart): FilterPart {
  const { range, ...field } = a.field!
  const low = Math.max(range!.low, b.field!.range!.low)
  const high = Math.min(range!.high, b.field!.range!.high)
  const operands = [a.predicate, b.predicate]
  return {
    predicate: { kind: 'and', operands, type: 'boolean' },
    field: { ...field, range: { low, high } },
  }
}

function compileSelector(
  { predicate, field }: FilterPart,
  context: EvaluationContext,
): (batch: Batch, selection: Selection, out: Int32Array) => number {
  const evaluate = compile(predicate, context)
  const direct = field
    ? compileRange(field)
    : (compileNullTest(predicate) ??
      compileIncludedObject(predicate, context) ??
      compileByCode(predicate, evaluate))
  const path = field ? field.path : dictionaryField(predicate)
  const isOfObjects = includedEntries(predicate, context) !== undefined
  const varied = path && compileVaried(predicate, path, evaluate, context)
  return (batch, selection, out) => {
    const isVaried = path !== undefined && batch.isVaried?.(path)
    const selected = isVaried && !isOfObjects ? undefined : direct?.(batch, selection, out)
    if (selected !== undefined) return selected
    const found = isVaried && varied ? varied(batch, selection, out) : undefined
    if (found !== undefined) return found
    const vector = evaluate(batch, selection)
    const truth =
      vector.kind === 'boolean' ? vector.values : truthBytes(vector, batch.rowCount, selection)
    return selection
      ? selectTrueWithin(truth, selection, out)
      : selectTrue(truth, batch.rowCount, out)
  }
}

/** A predicate on one field; of several that are joined, ranges of numbers alone. */
function compileVaried(
  predicate: BoundExpression,
  path: Path,
  evaluate: Evaluator,
  context: EvaluationContext,
): Selector | undefined {
  const { kind } = predicate
  if (kind === 'not' || kind === 'or') return undefined
  return selectVaried(variedExpression(predicate, path, evaluate, context))
}

/** A field that is in a range of numbers or times, or is another than one of them. */
interface FieldRange {
  readonly path: Path
  readonly kind: 'number' | 'timestamp'
  /** Undefined: all but `than`. */
  readonly range: NumberRange | undefined
  readonly than: number
}

/** What `field op constant` says, where the constant is a number or a time. */
function fieldRange(
  predicate: BoundExpression,
  context: EvaluationContext,
): FieldRange | undefined {
  if (predicate.kind !== 'comparison') return undefined
  const { operator, left, right } = predicate
  if (operator === 'is_same' || operator === 'is_different') return undefined
  const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
  if (field.kind !== 'field') return undefined
  const constant = constantValue(other, context)
  const isTime = constant instanceof Timestamp
  if (!isTime && typeof constant !== 'number') return undefined
  const than = isTime ? constant.ms : constant
  const asked: NumberComparison = field === left ? operator : swapped[operator]
  const range = asked === 'ne' ? undefined : rangeOf(asked, than)
  return { path: field.path, kind: isTime ? 'timestamp' : 'number', range, than }
}

function compileRange({ path, kind, range, than }: FieldRange): Selector {
  return (batch, selection, out) => {
    const field = batch.field(path, selection)
    if (field.kind !== 'number' && field.kind !== 'timestamp') return undefined
    if (field.kind !== kind) return undefined
    const { values } = field
    if (range) {
      return selection
        ? selectBetweenWithin(values, range, selection, out)
        : selectBetween(values, range, batch.rowCount, out)
    }
    return selection
      ? selectOtherWithin(values, than, selection, out)
      : selectOther(values, than, batch.rowCount, out)
  }
}

/** Whether a field is null, or is not, by the bitmaps of its columns. */
function compileNullTest(predicate: BoundExpression): Selector | undefined {
  const isNegated = predicate.kind === 'not'
  const test = isNegated ? predicate.operand : predicate
  if (test.kind !== 'is_null' || test.operand.kind !== 'field') return undefined
  const { path } = test.operand
  return (batch, selection, out) => {
    const presence = batch.presence?.(path)
    if (!presence) return undefined
    return selection
      ? selectPresentWithin(presence, isNegated, selection, out)
      : selectPresent(presence, isNegated, batch.rowCount, out)
  }
}

/** Whether objects include an object, by the columns of their members. */
function compileIncludedObject(
  predicate: BoundExpression,
  context: EvaluationContext,
): Selector | undefined {
  const entries = includedEntries(predicate, context)
  if (!entries || predicate.kind !== 'includes' || predicate.haystack.kind !== 'field') {
    return undefined
  }
  const { path } = predicate.haystack
  const paths = fieldsOf(entries)
  const inTurn = compileFilter(entries, context)
  const filters = entries.map((entry) => compileFilter([entry], context))
  return (batch, selection, out) => {
    if (!batch.hasOnlyObjects?.(path)) return undefined
    // Fields are always read for the whole selection: the batch keeps what was read first.
    if (!paths.some((entry) => batch.isVaried?.(entry))) {
      for (const entry of paths) batch.field(entry, selection)
      const rows = rowsOf(inTurn(batch, selection), batch.rowCount)
      out.set(rows)
      return rows.length
    }
    const [first, ...others] = filters.map((filter) =>
      rowsOf(filter(batch, selection), batch.rowCount),
    )
    out.set(first!)
    return others.reduce((count, rows) => keepCommon(out, count, rows), first!.length)
  }
}

/** Keeps of the first `count` rows those that are among the others, too; both ascend. */
function keepCommon(rows: Int32Array, count: number, others: Int32Array): number {
  let kept = 0
  for (let i = 0, j = 0; i < count && j < others.length; ) {
    const row = rows[i]!
    const other = others[j]!
    rows[kept] = row
    kept += +(row === other)
    i += +(row <= other)
    j += +(other <= row)
  }
  return kept
}

/** A predicate over one field, on the distinct values of the field when they are in a dictionary. */
function compileByCode(predicate: BoundExpression, evaluate: Evaluator): Selector | undefined {
  const path = dictionaryField(predicate)
  if (!path) return undefined
  return (batch, selection, out) => {
    const field = batch.field(path, selection)
    if (field.kind !== 'dictionary') return undefined
    if (isOfFewRows(predicate, field.entries, batch.rowCount, selection)) return undefined
    const table = tableFor(predicate, field.entries, evaluate)
    if (table.kind !== 'boolean') return undefined
    return selection
      ? selectByCodeWithin(table.values, field.codes, selection, out)
      : selectByCode(table.values, field.codes, batch.rowCount, out)
  }
}
