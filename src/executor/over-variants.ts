/** Evaluates an expression of one field for each kind of value that the field has in a batch. */
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
      const { rows, vector } = variant
      held += rowsOf(rows, rowCount).length
      const isOfObjects = vector.kind === 'lazy' && vector.source?.kind === 'object'
      // Fields are always read for the whole selection: the batch keeps what was read first.
      if (isOfObjects && overObjects) return { rows, vector: overObjects(batch, selection) }
      return { rows, vector: evaluate(variantBatch(rowCount, variant), rows) }
    })
    if (held === rowsOf(selection, rowCount).length && results.length === 1) {
      return results[0]!.vector
    }
    if (forNull === undefined) {
      const nothing: FieldVariant = { rows: undefined, vector: { kind: 'constant', value: null } }
      forNull = valueReader(evaluate(variantBatch(1, nothing), undefined))(0)
    }
    if (results.length === 0) return { kind: 'constant', value: forNull }
    return combine(node, results, forNull, rowCount, selection)
  }
}

function variantBatch(rowCount: number, { rows, vector }: FieldVariant): Batch {
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
    for (const { rows, vector } of parts) {
      copyTruth(vector, rowsOf(rows, rowCount), values)
    }
    return { kind: 'boolean', values }
  }
  const values = new Array<Value>(rowCount).fill(other)
  for (const { rows, vector } of parts) {
    const read = valueReader(vector)
    for (const row of rowsOf(rows, rowCount)) values[row] = read(row)
  }
  return compactValues(values, rowsOf(selection, rowCount))
}

function copyTruth(vector: Vector, rows: Int32Array, out: Uint8Array): void {
  if (vector.kind === 'boolean') {
    for (let i = 0; i < rows.length; i++) out[rows[i]!] = vector.values[rows[i]!]!
    return
  }
  const read = valueReader(vector)
  for (const row of rows) {
    const value = read(row)
    out[row] = value === null ? unknown : +(value === true)
  }
}
