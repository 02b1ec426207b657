import type { BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { newBytes, newCodes } from '../../kernel/arena.ts'
import { countKept, keepBoth } from '../../kernel/mask.ts'
import { IntegerRange } from '../../kernel/narrow-mask.ts'
import { selectTrue, selectTrueWithin } from '../../kernel/select.ts'
import type { Path } from '../../type/value.ts'
import type { Selection } from '../../vector/vector.ts'
import type { Batch } from '../expression/batch.ts'
import { compile } from '../expression/compile.ts'
import { type Evaluator, truthOf } from '../expression/evaluator.ts'
import { nullTest } from '../expression/null-test.ts'
import { type FilterRange, withRanges } from './field-range.ts'
import {
  allRows,
  asSelection,
  type FilteredRows,
  selectedCount,
  type ToldRows,
} from './filtered-rows.ts'
import { compileMask, type MaskMaker } from './row-mask.ts'

/** Keeps the rows for which all predicates are true; each sees only what the ones before left. */
export abstract class Filter {
  /** Of the selected rows, those that it keeps. */
  abstract select(batch: Batch, selection: Selection): FilteredRows

  /** The same one after the other. */
  keep(batch: Batch, selection: Selection): Selection {
    return asSelection(this.select(batch, selection), batch.rowCount)
  }

  /** What tells of all rows that it keeps, if one field does. */
  get teller(): Teller | undefined {
    return undefined
  }
}

/** A range of a field, or a test of it for null, as the only predicate. */
export interface Teller {
  readonly path: Path
  readonly isRange: boolean
  /** Of a batch of any length; undefined: its rows are told one by one. */
  told(batch: Batch): ToldRows | undefined
}

/** A filter of what is left when there is nothing else to know of it. */
export function filterOf(keep: Filter['keep']): Filter {
  return new ListFilter(keep)
}

class ListFilter extends Filter {
  readonly #keep: Filter['keep']

  constructor(keep: Filter['keep']) {
    super()
    this.#keep = keep
  }

  select(batch: Batch, selection: Selection): FilteredRows {
    return { kind: 'rows', rows: this.#keep(batch, selection) }
  }
}

export function compileFilter(
  predicates: readonly BoundExpression[],
  context: EvaluationContext,
): Filter {
  return new PredicateFilter(
    withRanges(predicates, context).map((part) => new CompiledPart(part, context)),
  )
}

class CompiledPart {
  readonly mask: MaskMaker | undefined
  readonly teller: Teller | undefined
  readonly #predicate: BoundExpression
  readonly #context: EvaluationContext
  #evaluate: Evaluator | undefined

  constructor(part: FilterRange, context: EvaluationContext) {
    this.mask = compileMask(part, context)
    this.teller = tellerOf(part)
    this.#predicate = part.predicate
    this.#context = context
  }

  /** Of the selected rows, those for which it is true. */
  select(batch: Batch, selection: Selection): Selection {
    // Not made where masks do, as they mostly do in short queries.
    this.#evaluate ??= compile(this.#predicate, this.#context)
    return selectedBy(truthOf(this.#evaluate(batch, selection), batch, selection), batch, selection)
  }
}

class PredicateFilter extends Filter {
  readonly #parts: readonly CompiledPart[]

  constructor(parts: readonly CompiledPart[]) {
    super()
    this.#parts = parts
  }

  override get teller(): Teller | undefined {
    return this.#parts.length === 1 ? this.#parts[0]!.teller : undefined
  }

  /** Masks as long as predicates can be made as such, because these take no more time when many rows pass; then lists. */
  select(batch: Batch, selection: Selection): FilteredRows {
    const told = selection ? undefined : this.teller?.told(batch)
    if (told) return told
    const { rowCount } = batch
    let rows = selection
    let mask: Uint8Array | undefined
    let count = selectedCount(selection, rowCount)
    for (const part of this.#parts) {
      if (count === 0) break
      const made = part.mask && newBytes(rowCount)
      const isMade = made && part.mask!(batch, count, made)
      if (isMade && !rows) {
        if (mask) keepBoth(mask, made, rowCount)
        else mask = made
        count = countKept(mask, rowCount)
        continue
      }
      if (mask && count < rowCount) rows = asSelection({ kind: 'mask', mask, count }, rowCount)
      mask = undefined
      rows = isMade ? selectedBy(made, batch, rows) : part.select(batch, rows)
      count = selectedCount(rows, rowCount)
    }
    if (mask && count < rowCount) return { kind: 'mask', mask, count }
    return rows ? { kind: 'rows', rows } : allRows
  }
}

/** The selected rows that are 1 among truths. */
function selectedBy(truth: Uint8Array, { rowCount }: Batch, selection: Selection): Selection {
  const out = newCodes(selectedCount(selection, rowCount))
  const count = selection
    ? selectTrueWithin(truth, selection, out)
    : selectTrue(truth, rowCount, out)
  return !selection && count === rowCount ? undefined : out.subarray(0, count)
}

function tellerOf({ predicate, field }: FilterRange): Teller | undefined {
  if (field?.range) {
    const { path, kind } = field
    const range = new IntegerRange(field.range)
    const told = (batch: Batch): ToldRows | undefined => {
      const { encoding } = batch.field(path)
      if (encoding.kind !== 'narrow' || encoding.stored.kind !== kind) return undefined
      return { kind: 'range', stored: encoding.stored, range }
    }
    return { path, isRange: true, told }
  }
  const test = field ? undefined : nullTest(predicate)
  if (!test) return undefined
  const { path, isPresent } = test
  const told = (batch: Batch): ToldRows | undefined => {
    const { presence } = batch.field(path)
    return presence && { kind: 'presence', presence, isPresent }
  }
  return { path, isRange: false, told }
}
