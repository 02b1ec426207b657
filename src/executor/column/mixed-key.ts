/** Group keys whose values are of several kinds. */
import { newCodes } from '../../kernel/arena.ts'
import type { SharedCodes } from '../../vector/shared-dictionary.ts'
import type { Selection, Vector } from '../../vector/vector.ts'
import type { FieldVariant } from '../expression/batch.ts'
import type { ValueCodes } from './value-codes.ts'

/** Where a key is neither one vector nor codes that tasks share: it is null in all other rows. */
export interface MixedKey {
  readonly variants: readonly FieldVariant[]
}

/** What a key of a batch's rows may be. */
export type GroupKey = Vector | SharedCodes | MixedKey

/** As `ValueCodes.encode`. Each kind is numbered by itself, so that no value is boxed for its type. */
export function encodeMixed(
  codes: ValueCodes,
  { variants }: MixedKey,
  rowCount: number,
  selection: Selection,
  out: Int32Array,
): void {
  const byRow = newCodes(rowCount).fill(unassigned)
  for (const { rows, vector, isPacked } of variants) {
    const count = rows ? rows.length : rowCount
    const encoded = newCodes(count)
    if (isPacked) codes.encode(vector, count, undefined, encoded)
    else codes.encode(vector, rowCount, rows, encoded)
    if (rows) for (let i = 0; i < count; i++) byRow[rows[i]!] = encoded[i]!
    else byRow.set(encoded)
  }
  const count = selection ? selection.length : rowCount
  let forNull = unassigned
  for (let j = 0; j < count; j++) {
    let code = byRow[selection ? selection[j]! : j]!
    if (code === unassigned) {
      if (forNull === unassigned) forNull = codes.codeOf(null)
      code = forNull
    }
    out[j] = code
  }
}

const unassigned = -1
