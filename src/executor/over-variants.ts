/** Evaluates an expression of one field for each kind of value that the field has in a batch. */
import type { BoundExpression } from '../binder/bound.ts'
import { newBytes } from '../kernel/memory.ts'
import type { Path, Value } from '../type/value.ts'
import { compactValues, rowsOf, unknown, type Vector, valueReader } from '../vector/vector.ts'
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
  return (batch, selection) => {
    const variants = batch.variants?.(path, selection)
    if (!variants) return evaluate(batch, selection)
    const results = variants.map((variant) => {
      const { rows, vector } = variant
      const isOfObjects = vector.kind === 'lazy' && vector.source?.kind === 'object'
      // Fields are always read for the whole selection: the batch keeps what was read first.
      if (isOfObjects && overObjects) return { rows, vector: overObjects(batch, selection) }
      return { rows, vector: evaluate(variantBatch(batch.rowCount, variant), rows) }
    })
    return combine(node, results, batch.rowCount)
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

/** One vector of the parts, which have no row in common. */
function combine(node: BoundExpression, parts: readonly FieldVariant[], rowCount: number): Vector {
  if (parts.length === 1) return parts[0]!.vector
  if (truthKinds.has(node.kind)) {
    const values = newBytes(rowCount)
    for (const { rows, vector } of parts) {
      copyTruth(vector, rowsOf(rows, rowCount), values)
    }
    return { kind: 'boolean', values }
  }
  const values = new Array<Value>(rowCount)
  const all = newBytes(rowCount).fill(0)
  for (const { rows, vector } of parts) {
    const read = valueReader(vector)
    for (const row of rowsOf(rows, rowCount)) {
      values[row] = read(row)
      all[row] = 1
    }
  }
  return compactValues(
    values,
    rowsOf(undefined, rowCount).filter((row) => all[row] === 1),
  )
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
