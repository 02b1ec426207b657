/** Selects rows by a predicate on a field whose values are of several kinds. */
import { newCodes } from '../../kernel/memory.ts'
import { selectByCodeWithin, selectTrueWithin } from '../../kernel/select.ts'
import type { Selection } from '../../vector/vector.ts'
import type { Batch, FieldPart } from '../expression/batch.ts'
import { truthBytes } from '../expression/compile.ts'
import { isOfFewRows, tableFor } from '../expression/over-dictionary.ts'
import { evaluatePart, type VariedExpression, valueForNull } from '../expression/over-variants.ts'

/**
 * Writes the rows for which the predicate is true to `out`, ascending. Kinds of which it is true for no
 * value are not looked at, nor are texts and other numbered values, if it is true for none in the
 * dictionary. Undefined when the field's values are of one kind in the batch, or null passes.
 */
export function selectVaried(
  varied: VariedExpression,
): (batch: Batch, selection: Selection, out: Int32Array) => number | undefined {
  const { node, path, evaluate, verdict } = varied
  let nullPasses: boolean | undefined
  return (batch, selection, out) => {
    const { encoding } = batch.field(path)
    if (encoding.kind !== 'mixed') return undefined
    nullPasses ??= valueForNull(evaluate) === true
    if (nullPasses) return undefined
    let count = 0
    for (const part of encoding.parts) {
      const value = verdict(part.kind)
      if (value !== undefined && value !== true) continue
      const { entries } = part
      const isTold = entries && !isOfFewRows(node, entries, batch.rowCount, selection)
      const table = isTold ? tableFor(node, entries, evaluate) : undefined
      const truths = table?.kind === 'boolean' ? table.values : undefined
      if (truths && !truths.includes(1)) continue
      const rows = part.rowsIn(selection)
      if (rows.length === 0) continue
      const passing =
        value === true ? rows : passingRows(varied, part, truths, rows, batch, selection)
      count = addRows(out, count, passing)
    }
    return count
  }
}

/** @param truths by code of the part's entries, if they were asked */
function passingRows(
  varied: VariedExpression,
  part: FieldPart,
  truths: Uint8Array | undefined,
  rows: Int32Array,
  batch: Batch,
  selection: Selection,
): Int32Array {
  const out = newCodes(rows.length)
  if (truths) {
    const { vector, isPacked } = part.read(rows)
    if (vector.kind === 'dictionary' && !isPacked) {
      return out.subarray(0, selectByCodeWithin(truths, vector.codes, rows, out))
    }
  }
  const { vector, isPacked, ...variant } = evaluatePart(varied, part, rows, batch, selection)
  const count = isPacked ? rows.length : batch.rowCount
  const truth =
    vector.kind === 'boolean'
      ? vector.values
      : truthBytes(vector, count, isPacked ? undefined : variant.rows)
  if (!isPacked) return out.subarray(0, selectTrueWithin(truth, rows, out))
  let passing = 0
  for (let i = 0; i < rows.length; i++) {
    out[passing] = rows[i]!
    passing += +(truth[i] === 1)
  }
  return out.subarray(0, passing)
}

/** Adds rows to the first `count`, none of which is among them; both ascend. */
function addRows(rows: Int32Array, count: number, added: Int32Array): number {
  const total = count + added.length
  let [i, j] = [count - 1, added.length - 1]
  for (let at = total - 1; j >= 0; at--) {
    if (i >= 0 && rows[i]! > added[j]!) rows[at] = rows[i--]!
    else rows[at] = added[j--]!
  }
  return total
}
