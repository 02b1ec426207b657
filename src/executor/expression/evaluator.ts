import { newBytes } from '../../kernel/arena.ts'
import { rowsOf, type Selection, unknown, type Vector, valueReader } from '../../vector/vector.ts'
import type { Batch } from './batch.ts'

/** Gives the expression's values in the selected rows; other rows may hold anything. */
export type Evaluator = (batch: Batch, selection: Selection) => Vector

/** The truth of each selected row, to be read only. */
export function truthOf(vector: Vector, { rowCount }: Batch, selection: Selection): Uint8Array {
  return vector.kind === 'boolean' ? vector.values : truthBytes(vector, rowCount, selection)
}

/** The truth of each selected row in a new array; what is not boolean is unknown. */
export function truthBytes(vector: Vector, rowCount: number, selection: Selection): Uint8Array {
  const truth = newBytes(rowCount)
  if (vector.kind === 'boolean') {
    truth.set(vector.values.subarray(0, rowCount))
    return truth
  }
  truth.fill(unknown)
  if (vector.kind === 'constant') {
    if (typeof vector.value === 'boolean') truth.fill(vector.value ? 1 : 0)
    return truth
  }
  if (vector.kind === 'number' || vector.kind === 'timestamp' || vector.kind === 'text')
    return truth
  const read = valueReader(vector)
  for (const row of rowsOf(selection, rowCount)) {
    const value = read(row)
    if (typeof value === 'boolean') truth[row] = value ? 1 : 0
  }
  return truth
}
