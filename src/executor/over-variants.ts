/**
 * Evaluates an expression of one field for each kind of value that the field has in a batch. Where few rows
 * have a kind, it meets a vector of those alone, so that it costs what these do.
 */
import type { BoundExpression } from '../binder/bound.ts'
import { newBytes } from '../kernel/memory.ts'
import type { Path, Value } from '../type/value.ts'
import {
  compactValues,
  rowsOf,
  type Selection,
  unknown,
  type Vector,
  valueReader,
} from '../vector/vector.ts'
import type { Batch, FieldVariant } from './batch.ts'
import type { Evaluator } from './compile.ts'

/**
 * Where all rows of the batch have the field in one column, the expression is evaluated as usual.
 * Else rows are divided by the columns, so that each part meets a vector of one type.
 *
 * @param path the only field that the expression depends on
 * @param overObjects evaluates it where the field is an object whose members are in columns
 */
export function overVariants(
  node: BoundExpression,
  path: Path,
  evaluate: Evaluator,
  overObjects: Evaluator | undefined,
): Evaluator {
  let forNull: Value | undefined
  return (batch, selection) => {
    const { rowCount } = batch
    const variants = batch.variants?.(path, selection)
    if (!variants) return evaluate(batch, selection)
    let held = 0
    const results = variants.map((variant) => {
      const { rows, vector, isPacked } = variant
      held += rowsOf(rows, rowCount).length
      const isOfObjects = vector.kind === 'lazy' && vector.source?.kind === 'object'
      // Fields are always read for the whole selection: the batch keeps what was read first.
      if (isOfObjects && overObjects) return { ...variant, vector: overObjects(batch, selection) }
      const rowsOfVariant = isPacked ? undefined : rows
      const count = isPacked ? rows!.length : rowCount
      const made = evaluate(variantBatch(vector, rowsOfVariant, count), rowsOfVariant)
      return { ...variant, vector: made }
    })
    const [only] = results
    if (only && results.length === 1 && !only.isPacked) {
      if (held === rowsOf(selection, rowCount).length) return only.vector
    }
    if (forNull === undefined) {
      const nothing = variantBatch({ kind: 'constant', value: null }, undefined, 1)
      forNull = valueReader(evaluate(nothing, undefined))(0)
    }
    if (results.length === 0) return { kind: 'constant', value: forNull }
    return combine(node, results, forNull, rowCount, selection)
  }
}

function variantBatch(vector: Vector, rows: Selection, rowCount: number): Batch {
  return {
    rowCount,
    field: () => vector,
    isNull: () => {
      const nulls = newBytes(rowCount).fill(0)
      const read = valueReader(vector)
      const mayBeNull = vector.kind === 'constant' || vector.kind === 'lazy'
      if (mayBeNull) for (const row of rowsOf(rows, rowCount)) nulls[row] = +(read(row) === null)
      return nulls
    },
  }
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
  for (let i = 0; i < places.length; i++) out[places[i]!] = read(isPacked ? i : places[i]!)
}

function copyTruth(
  { rows, vector, isPacked }: FieldVariant,
  rowCount: number,
  out: Uint8Array,
): void {
  const places = rowsOf(rows, rowCount)
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
