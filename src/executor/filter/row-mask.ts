/**
 * Predicates as masks of a batch (`kernel/mask.ts`): comparisons of numbers and times, predicates over
 * dictionaries, tests for null, and what `and` and `or` make of these. A row is kept where the predicate
 * is true; elsewhere it is false or unknown, which is the same here, and in operands.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import type { EvaluationContext } from '../../binder/evaluate.ts'
import { maximumRows, newBytes } from '../../kernel/arena.ts'
import {
  keepBoth,
  keepEither,
  maskBetween,
  maskByCode,
  maskCode,
  maskOther,
} from '../../kernel/mask.ts'
import {
  IntegerRange,
  maskByStored,
  maskIntegers,
  maskStored,
  maskStoredOther,
} from '../../kernel/narrow-mask.ts'
import type { Path } from '../../type/value.ts'
import type { DictionaryVector, NumberVector } from '../../vector/vector.ts'
import { type Batch, type Encoding, hasOnlyObjects, type StoredField } from '../expression/batch.ts'
import { compile } from '../expression/compile.ts'
import type { Evaluator } from '../expression/evaluator.ts'
import { compileKindVerdict } from '../expression/kind-verdict.ts'
import { nullTest } from '../expression/null-test.ts'
import { includedEntries } from '../expression/object-operators.ts'
import { areFewRows, dictionaryField, tableFor } from '../expression/over-dictionary.ts'
import { valueForNull } from '../expression/over-variants.ts'
import { maskPresent } from '../field/select-present.ts'
import { type FieldRange, type FilterRange, withRanges } from './field-range.ts'

/**
 * Writes the mask of all rows of a batch, of which so many are alive; false when this way does not fit it,
 * whatever is written.
 */
export type MaskMaker = (batch: Batch, alive: number, out: Uint8Array) => boolean

type StoredCodes = Extract<StoredField, { readonly kind: 'dictionary' }>

/** Undefined when the predicate is never made as a mask. */
export function compileMask(
  { predicate, field }: FilterRange,
  context: EvaluationContext,
): MaskMaker | undefined {
  const make = field
    ? overParts(predicate, field.path, ofRange(field), context)
    : (ofNullTest(predicate) ??
      ofIncludedObject(predicate, context) ??
      either(ofCodes(predicate, context), ofOperands(predicate, context)))
  return make && ((batch, alive, out) => batch.rowCount <= maximumRows && make(batch, alive, out))
}

/** Whichever fits. */
function either(
  first: MaskMaker | undefined,
  second: MaskMaker | undefined,
): MaskMaker | undefined {
  if (!first || !second) return first ?? second
  return (batch, alive, out) => first(batch, alive, out) || second(batch, alive, out)
}

/** Writes the mask of all rows by how a field is encoded; false as a `MaskMaker`. */
type EncodedMask = (field: Encoding, rowCount: number, alive: number, out: Uint8Array) => boolean

/**
 * A predicate on one field: where its values are of several kinds, the masks of those kinds for which it is
 * not known to be true for none.
 */
function overParts(
  predicate: BoundExpression,
  path: Path,
  mask: EncodedMask,
  context: EvaluationContext,
): MaskMaker {
  const verdict = compileKindVerdict(predicate, context)
  let nullPasses: boolean | undefined
  return (batch, alive, out) => {
    const { rowCount } = batch
    const field = batch.field(path).encoding
    if (field.kind !== 'mixed') return mask(field, rowCount, alive, out)
    nullPasses ??= valueForNull(compile(predicate, context)) === true
    if (nullPasses) return false
    let made: Uint8Array | undefined
    for (const { kind, encoding } of field.parts) {
      const value = verdict(kind)
      if (value !== undefined && value !== true) continue
      const next = made ? newBytes(rowCount) : out
      if (value || !mask(encoding, rowCount, alive, next)) return false
      if (made) keepEither(made, next, rowCount)
      made = out
    }
    if (!made) out.fill(0, 0, rowCount)
    return true
  }
}

function ofRange({ kind, range, than }: FieldRange): EncodedMask {
  const integers = new IntegerRange(range ?? { low: than, high: than })
  return (field, rowCount, _, out) => {
    if (field.kind === 'narrow' && field.stored.kind === kind) {
      if (range) maskStored(field.stored, integers, out)
      else maskStoredOther(field.stored, integers, out)
      return true
    }
    if (field.kind !== 'flat' || field.vector.kind !== kind) return false
    const { values } = field.vector as NumberVector
    if (range) maskBetween(values, range, rowCount, out)
    else maskOther(values, than, rowCount, out)
    return true
  }
}

/** Whether a field is null, or is not. */
function ofNullTest(predicate: BoundExpression): MaskMaker | undefined {
  const test = nullTest(predicate)
  if (!test) return undefined
  const { path, isPresent } = test
  return (batch, _, out) => {
    const { presence } = batch.field(path)
    if (!presence) return false
    maskPresent(presence, isPresent, batch.rowCount, out)
    return true
  }
}

/** A predicate over one field, on the distinct values of the field when they are in a dictionary. */
function ofCodes(predicate: BoundExpression, context: EvaluationContext): MaskMaker | undefined {
  const path = dictionaryField(predicate)
  if (!path) return undefined
  let compiled: Evaluator | undefined
  const evaluate: Evaluator = (batch, selection) => {
    compiled ??= compile(predicate, context)
    return compiled(batch, selection)
  }
  let last: Uint8Array | undefined
  let only: number | undefined
  const mask: EncodedMask = (field, rowCount, alive, out) => {
    const codes = codesOf(field)
    if (!codes || areFewRows(predicate, codes.entries, alive)) return false
    const table = tableFor(predicate, codes.entries, evaluate)
    if (table.kind !== 'boolean') return false
    if (table.values !== last) {
      last = table.values
      only = onlyCode(last)
    }
    if ('codes' in codes) {
      if (only !== undefined) maskCode(only, codes.codes, rowCount, out)
      else maskByCode(table.values, codes.codes, rowCount, out)
    } else if (only !== undefined) maskIntegers(codes.integers, only, only, out)
    else maskByStored(table.values, codes.integers, out)
    return true
  }
  return overParts(predicate, path, mask, context)
}

function codesOf(field: Encoding): StoredCodes | DictionaryVector | undefined {
  const found = field.kind === 'narrow' ? field.stored : field.kind === 'flat' && field.vector
  return found && found.kind === 'dictionary' ? found : undefined
}

/** The one code that is true in the table, whose last entry is that of null; undefined: it is not one. */
function onlyCode(table: Uint8Array): number | undefined {
  const code = table.indexOf(1)
  if (code < 0 || table.indexOf(1, code + 1) >= 0) return undefined
  return code === table.length - 1 ? -1 : code
}

/** Whether objects include an object, by the columns of their members. */
function ofIncludedObject(
  predicate: BoundExpression,
  context: EvaluationContext,
): MaskMaker | undefined {
  const entries = includedEntries(predicate, context)
  if (!entries || predicate.kind !== 'includes' || predicate.haystack.kind !== 'field') {
    return undefined
  }
  const { path } = predicate.haystack
  const mask = ofOperands({ kind: 'and', operands: entries, type: 'boolean' }, context)
  return (
    mask && ((batch, alive, out) => hasOnlyObjects(batch.field(path)) && mask(batch, alive, out))
  )
}

function ofOperands(predicate: BoundExpression, context: EvaluationContext): MaskMaker | undefined {
  if (predicate.kind !== 'and' && predicate.kind !== 'or') return undefined
  const { kind, operands } = predicate
  const parts =
    kind === 'and'
      ? withRanges(operands, context)
      : operands.flatMap((operand) => withRanges([operand], context))
  const makers = parts.flatMap((part) => compileMask(part, context) ?? [])
  if (makers.length < parts.length) return undefined
  const [first, ...others] = makers
  const combine = kind === 'and' ? keepBoth : keepEither
  return (batch, alive, out) => {
    if (!first!(batch, alive, out)) return false
    const next = newBytes(batch.rowCount)
    return others.every((make) => {
      if (!make(batch, alive, next)) return false
      combine(out, next, batch.rowCount)
      return true
    })
  }
}
