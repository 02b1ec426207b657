/**
 * Evaluates an expression of one field for each kind of value that the field has in a batch. Where few rows
 * have a kind, it meets a vector of those alone, so that it costs what these do.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import { newBytes } from '../../kernel/arena.ts'
import type { Path, Value } from '../../type/value.ts'
import {
  compactValues,
  rowsOf,
  type Selection,
  unknown,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import { checkAtTimes } from '../thread/cancelled.ts'
import { type Batch, batchOf, type FieldPart, type FieldVariant } from './batch.ts'
import type { Evaluator } from './evaluator.ts'
import type { KindVerdict } from './kind-verdict.ts'

/** An expression of one field, for the kinds of values that the field may have. */
export interface MixedExpression {
  readonly node: BoundExpression
  /** The only field that it depends on. */
  readonly path: Path
  readonly evaluate: Evaluator
  /** Evaluates it where the field is an object whose members are in columns. */
  readonly overObjects: Evaluator | undefined
  readonly verdict: KindVerdict
}

/**
 * Where all rows of the batch have the field in one column, the expression is evaluated as usual.
 * Else rows are divided by the columns, so that each part meets a vector of one type.
 */
export function overVariants(mixed: MixedExpression): Evaluator {
  const { node, path, evaluate, verdict } = mixed
  let forNull: Value | undefined
  return (batch, selection) => {
    const { rowCount } = batch
    const { encoding } = batch.field(path)
    if (encoding.kind !== 'mixed') return evaluate(batch, selection)
    forNull ??= valueForNull(evaluate)
    let held = 0
    const results: FieldVariant[] = []
    for (const part of encoding.parts) {
      const value = verdict(part.kind)
      if (value !== undefined && value === forNull) continue
      const rows = part.rowsIn(selection)
      if (rows.length === 0) continue
      held += rows.length
      if (value !== undefined) {
        results.push({ rows, vector: { kind: 'constant', value }, isPacked: false })
      } else results.push(evaluatePart(mixed, part, rows, batch, selection))
    }
    const [only] = results
    if (only && results.length === 1 && !only.isPacked) {
      if (held === rowsOf(selection, rowCount).length) return only.vector
    }
    if (results.length === 0) return { kind: 'constant', value: forNull }
    return combine(node, results, forNull, rowCount, selection)
  }
}

/** What an expression of one field is where the field is null. */
export function valueForNull(evaluate: Evaluator): Value {
  const nothing = batchOf({ kind: 'constant', value: null }, 1)
  return valueReader(evaluate(nothing, undefined))(0)
}

/** The expression's values in these rows of a part. */
export function evaluatePart(
  { evaluate, overObjects }: MixedExpression,
  part: FieldPart,
  rows: Int32Array,
  batch: Batch,
  selection: Selection,
): FieldVariant {
  const { rows: read, vector, isPacked } = part.read(rows)
  // Fields are always read for the whole selection: the batch keeps what was read first.
  if (part.kind === 'object' && overObjects) {
    return { rows: read, vector: overObjects(batch, selection), isPacked }
  }
  const rowsOfVariant = isPacked ? undefined : read
  const count = isPacked ? rows.length : batch.rowCount
  const made = evaluate(batchOf(vector, count), rowsOfVariant)
  return { rows: read, vector: made, isPacked }
}

/** Kinds of expressions that are true, false or null whatever their operands are. */
const truthKinds: ReadonlySet<BoundExpression['kind']> = new Set([
  ...(['comparison', 'like', 'match', 'includes', 'in', 'not', 'and', 'or', 'is_null'] as const),
])

/** One vector of the parts, which have no row in common; all other rows hold `other`. */
function combine(
  node: BoundExpression,
  parts: readonly FieldVariant[],
  other: Value,
  rowCount: number,
  selection: Selection,
): Vector {
  if (truthKinds.has(node.kind)) {
    const values = newBytes(rowCount).fill(other === null ? unknown : +(other === true))
    for (const part of parts) copyTruth(part, rowCount, values)
    return { kind: 'boolean', values }
  }
  const values = new Array<Value>(rowCount).fill(other)
  for (const part of parts) copyValues(part, rowCount, values)
  return compactValues(values, rowsOf(selection, rowCount))
}

/** Puts the values of a variant where its rows are in the batch. */
export function copyValues(
  { rows, vector, isPacked }: FieldVariant,
  rowCount: number,
  out: Value[],
): void {
  const read = valueReader(vector)
  const places = rowsOf(rows, rowCount)
  for (let i = 0; i < places.length; i++) {
    checkAtTimes()
    out[places[i]!] = read(isPacked ? i : places[i]!)
  }
}

function copyTruth(
  { rows, vector, isPacked }: FieldVariant,
  rowCount: number,
  out: Uint8Array,
): void {
  const places = rowsOf(rows, rowCount)
  if (vector.kind === 'constant') {
    const truth = vector.value === null ? unknown : +(vector.value === true)
    for (let i = 0; i < places.length; i++) out[places[i]!] = truth
    return
  }
  if (vector.kind === 'boolean' && isPacked) {
    for (let i = 0; i < places.length; i++) out[places[i]!] = vector.values[i]!
    return
  }
  if (vector.kind === 'boolean') {
    for (let i = 0; i < places.length; i++) out[places[i]!] = vector.values[places[i]!]!
    return
  }
  const read = valueReader(vector)
  for (let i = 0; i < places.length; i++) {
    const value = read(isPacked ? i : places[i]!)
    out[places[i]!] = value === null ? unknown : +(value === true)
  }
}
