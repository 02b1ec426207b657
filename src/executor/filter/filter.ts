import { type BoundExpression, fieldsOf } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { countKept, keepBoth } from '../../kernel/mask.ts'
import { newBytes, newCodes } from '../../kernel/memory.ts'
import { countStored, IntegerRange } from '../../kernel/narrow-mask.ts'
import {
  selectBetween,
  selectBetweenWithin,
  selectByCode,
  selectByCodeWithin,
  selectOther,
  selectOtherWithin,
  selectTrue,
  selectTrueWithin,
} from '../../kernel/select.ts'
import type { Path } from '../../type/value.ts'
import { rowsOf, type Selection } from '../../vector/vector.ts'
import { type Batch, hasOnlyObjects, type StoredField } from '../expression/batch.ts'
import { compile, type Evaluator, truthBytes, variedExpression } from '../expression/compile.ts'
import { nullTest } from '../expression/null-test.ts'
import { includedEntries } from '../expression/object-operators.ts'
import { dictionaryField, isOfFewRows, tableFor } from '../expression/over-dictionary.ts'
import { countPresent, selectPresent, selectPresentWithin } from '../field/select-present.ts'
import { type FieldRange, type FilterPart, withRanges } from './field-range.ts'
import { compileMask, type MaskMaker } from './row-mask.ts'
import { selectVaried } from './select-varied.ts'

/** Rows that a filter keeps. In a mask, 1 is a row that it does. */
export type KeptRows =
  | { readonly mask: Uint8Array; readonly count: number }
  | { readonly mask: undefined; readonly selection: Selection }

/** The rows whose number, as it is stored, is in a range. */
export interface RowsWithin {
  readonly stored: StoredField
  readonly range: IntegerRange
}

/** Keeps the rows for which all predicates are true; each sees only what the ones before left. */
export interface Filter {
  keep(batch: Batch, selection: Selection): Selection
  /** The same of all rows of a batch, as a mask where they were found so and are many. */
  keepMasked?(batch: Batch): KeptRows
  /** All rows that it keeps of a batch, where one column tells which; undefined where it does not. */
  within?(batch: Batch): RowsWithin | undefined
  /** How many rows it keeps; cheaper where nobody asks which. */
  count(batch: Batch, selection: Selection): number
}

/**
 * Writes the rows of a selection for which one predicate is true to `out`, and returns how many there
 * are; undefined when this way does not fit the batch.
 */
type Selector = (batch: Batch, selection: Selection, out: Int32Array) => number | undefined

/** The same of a predicate in every batch. */
type Select = (batch: Batch, selection: Selection, out: Int32Array) => number

export function compileFilter(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): Filter {
  return new PredicateFilter(
    withRanges(predicates, context).map((part) => new CompiledPart(part, context)),
  )
}

/** A filter of what is left when there is nothing else to know of it. */
export function filterOf(keep: Filter['keep']): Filter {
  const count: Filter['count'] = (batch, selection) =>
    selectedCount(keep(batch, selection), batch.rowCount)
  return { keep, count }
}

/** How many rows are selected. */
export function selectedCount(selection: Selection, rowCount: number): number {
  return selection ? selection.length : rowCount
}

class CompiledPart {
  readonly mask: MaskMaker | undefined
  /** Of all rows of a batch; undefined when these have to be selected. */
  readonly count: ((batch: Batch) => number | undefined) | undefined
  readonly within: Filter['within']
  readonly #part: FilterPart
  readonly #context: EvaluationContext
  #select: Select | undefined

  constructor(part: FilterPart, context: EvaluationContext) {
    this.mask = compileMask(part, context)
    this.within = compileWithin(part)
    this.count = compileCount(part, this.within)
    this.#part = part
    this.#context = context
  }

  select(batch: Batch, selection: Selection, out: Int32Array): number {
    // Not made where masks do, as they mostly do in short queries.
    this.#select ??= compileSelector(this.#part, this.#context)
    return this.#select(batch, selection, out)
  }
}

/** The rows of a batch that some of the first parts leave. */
interface Masked {
  /** Undefined: all. */
  readonly mask: Uint8Array | undefined
  readonly count: number
  /** The first part that was not asked. */
  readonly next: number
}

/** Of so many rows one that is left is worth a look at all of them, which goes row after row. */
const maskedOf = 16

/**
 * Masks as long as predicates can be made as such and many rows are left, because these take no more time
 * when many rows pass; then selections.
 */
class PredicateFilter implements Filter {
  readonly #parts: readonly CompiledPart[]

  constructor(parts: readonly CompiledPart[]) {
    this.#parts = parts
  }

  keep(batch: Batch, selection: Selection): Selection {
    if (selection) return this.#select(batch, selection, 0)
    const masked = this.#mask(batch)
    return this.#select(batch, selectedBy(masked, batch.rowCount), masked.next)
  }

  keepMasked(batch: Batch): KeptRows {
    const { rowCount } = batch
    const masked = this.#mask(batch)
    const { mask, count, next } = masked
    if (mask && next === this.#parts.length && count * maskedOf >= rowCount) return { mask, count }
    const selection = this.#select(batch, selectedBy(masked, rowCount), next)
    return { mask: undefined, selection }
  }

  within(batch: Batch): RowsWithin | undefined {
    const [only, ...others] = this.#parts
    return others.length === 0 ? only?.within?.(batch) : undefined
  }

  count(batch: Batch, selection: Selection): number {
    const { rowCount } = batch
    if (selection) return selectedCount(this.keep(batch, selection), rowCount)
    const [only, ...others] = this.#parts
    const counted = others.length === 0 ? only?.count?.(batch) : undefined
    if (counted !== undefined) return counted
    const masked = this.#mask(batch)
    const { count, next } = masked
    if (count === 0 || next === this.#parts.length) return count
    return selectedCount(this.#select(batch, selectedBy(masked, rowCount), next), rowCount)
  }

  #mask(batch: Batch): Masked {
    const { rowCount } = batch
    let mask: Uint8Array | undefined
    let count = rowCount
    let next = 0
    for (const part of this.#parts) {
      if (!part.mask || count * maskedOf < rowCount) break
      const made = newBytes(rowCount)
      if (!part.mask(batch, count, made)) break
      if (mask) keepBoth(mask, made, rowCount)
      else mask = made
      count = countKept(mask, rowCount)
      next++
    }
    return { mask: count === rowCount ? undefined : mask, count, next }
  }

  #select(batch: Batch, selection: Selection, from: number): Selection {
    let current = selection
    for (let i = from; i < this.#parts.length; i++) {
      if (current?.length === 0) return current
      const out = newCodes(selectedCount(current, batch.rowCount))
      const count = this.#parts[i]!.select(batch, current, out)
      if (!current && count === batch.rowCount) continue
      current = out.subarray(0, count)
    }
    return current
  }
}

function selectedBy({ mask, count }: Masked, rowCount: number): Selection {
  if (!mask) return undefined
  const out = newCodes(count)
  if (count > 0) selectTrue(mask, rowCount, out)
  return out
}

function compileWithin({ field }: FilterPart): CompiledPart['within'] {
  if (!field?.range) return undefined
  const { path, kind } = field
  const range = new IntegerRange(field.range)
  return (batch) => {
    const { encoding } = batch.field(path)
    if (encoding.kind !== 'narrow' || encoding.stored.kind !== kind) return undefined
    return { stored: encoding.stored, range }
  }
}

function compileCount(
  { predicate, field }: FilterPart,
  within: CompiledPart['within'],
): CompiledPart['count'] {
  if (within) {
    return (batch) => {
      const rows = within(batch)
      return rows && countStored(rows.stored, rows.range)
    }
  }
  const test = field ? undefined : nullTest(predicate)
  if (!test) return undefined
  return (batch) => {
    const { presence } = batch.field(test.path)
    return presence && countPresent(presence, test.isPresent, batch.rowCount)
  }
}

function compileSelector({ predicate, field }: FilterPart, context: EvaluationContext): Select {
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
    const isVaried = path !== undefined && isMixed(batch, path)
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

function isMixed(batch: Batch, path: Path): boolean {
  return batch.field(path).encoding.kind === 'mixed'
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

function compileRange({ path, kind, range, than }: FieldRange): Selector {
  return (batch, selection, out) => {
    const field = batch.field(path).read(selection)
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
  const test = nullTest(predicate)
  if (!test) return undefined
  const { path, isPresent } = test
  return (batch, selection, out) => {
    const { presence } = batch.field(path)
    if (!presence) return undefined
    return selection
      ? selectPresentWithin(presence, isPresent, selection, out)
      : selectPresent(presence, isPresent, batch.rowCount, out)
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
    if (!hasOnlyObjects(batch.field(path))) return undefined
    // Fields are always read for the whole selection: the batch keeps what was read first.
    if (!paths.some((entry) => isMixed(batch, entry))) {
      for (const entry of paths) batch.field(entry).read(selection)
      const rows = rowsOf(inTurn.keep(batch, selection), batch.rowCount)
      out.set(rows)
      return rows.length
    }
    const [first, ...others] = filters.map((filter) =>
      rowsOf(filter.keep(batch, selection), batch.rowCount),
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
    const field = batch.field(path).read(selection)
    if (field.kind !== 'dictionary') return undefined
    if (isOfFewRows(predicate, field.entries, batch.rowCount, selection)) return undefined
    const table = tableFor(predicate, field.entries, evaluate)
    if (table.kind !== 'boolean') return undefined
    return selection
      ? selectByCodeWithin(table.values, field.codes, selection, out)
      : selectByCode(table.values, field.codes, batch.rowCount, out)
  }
}
