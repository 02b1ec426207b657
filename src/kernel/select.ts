import { beginKernel, isNear, kernels, newBytes, place, placeOutput, takeOutput } from './arena.ts'
import type { NumberRange } from './compare.ts'
import { maskBetween } from './mask.ts'

/** Batches are selected from: `count` is at most `maximumRows` in all of these. */

/** Writes the indexes of the rows that are true (1) to `out`; returns how many there are. */
export function selectTrue(values: Uint8Array, count: number, out: Int32Array): number {
  beginKernel()
  const at = placeOutput(out, count)
  const selected = kernels.selectTrue(place(values, count), count, at)
  takeOutput(out, selected, at)
  return selected
}

/** The same for the rows of a selection, which `out` may be. */
export function selectTrueWithin(
  values: Uint8Array,
  selection: Int32Array,
  out: Int32Array,
): number {
  const count = selection.length
  beginKernel()
  const at = placeOutput(out, count)
  const truth = place(values, values.length)
  const selected = kernels.selectTrueWithin(truth, place(selection, count), count, at)
  takeOutput(out, selected, at)
  return selected
}

/** Writes the indexes of the rows whose value is in the range; returns how many there are. */
export function selectBetween(
  values: Float64Array,
  range: NumberRange,
  count: number,
  out: Int32Array,
): number {
  const mask = newBytes(count)
  maskBetween(values, range, count, mask)
  return selectTrue(mask, count, out)
}

/** The same for the rows of a selection, which `out` may be. */
export function selectBetweenWithin(
  values: Float64Array,
  { low, high }: NumberRange,
  selection: Int32Array,
  out: Int32Array,
): number {
  const count = selection.length
  if (isNear(values, count)) {
    beginKernel()
    const [of, within] = [place(values, values.length), place(selection, count)]
    const at = placeOutput(out, count)
    const selected = kernels.selectBetweenWithin(of, low, high, within, count, at)
    takeOutput(out, selected, at)
    return selected
  }
  let selected = 0
  for (let i = 0; i < count; i++) {
    const row = selection[i]!
    const value = values[row]!
    out[selected] = row
    selected += +(value >= low) & +(value <= high)
  }
  return selected
}

/**
 * The rows of a selection whose value is not below `y`, or not above it; NaN is neither. `out` may be
 * the selection.
 */
export function selectNotBeyond(
  side: 'below' | 'above',
  values: Float64Array,
  y: number,
  selection: Int32Array,
  out: Int32Array,
): number {
  let selected = 0
  if (side === 'below') {
    for (let i = 0; i < selection.length; i++) {
      const row = selection[i]!
      out[selected] = row
      selected += +!(values[row]! < y)
    }
    return selected
  }
  for (let i = 0; i < selection.length; i++) {
    const row = selection[i]!
    out[selected] = row
    selected += +!(values[row]! > y)
  }
  return selected
}
