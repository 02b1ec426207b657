/**
 * Updates of aggregate states. Values are those of the rows that are alive, one after the other;
 * `groups[i]` is the group of the i-th of them. NaN is null and counts for nothing.
 *
 * Sums are kept as a rounded sum and what rounding took from it (two-sum), so that the order of rows
 * and the split into tasks do not show in the answer.
 */

export function countRows(groups: Int32Array, count: number, counts: Float64Array): void {
  for (let i = 0; i < count; i++) counts[groups[i]!]!++
}

export function countNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  counts: Float64Array,
): void {
  for (let i = 0; i < count; i++) counts[groups[i]!]! += +!Number.isNaN(values[i]!)
}

export function sumNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  sums: Float64Array,
  errors: Float64Array,
  counts: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) continue
    const group = groups[i]!
    const before = sums[group]!
    const after = before + value
    const added = after - before
    sums[group] = after
    errors[group]! += before - (after - added) + (value - added)
    counts[group]!++
  }
}

/** All rows in one group; the running sum stays in a register. */
export function sumAll(
  values: Float64Array,
  count: number,
  sums: Float64Array,
  errors: Float64Array,
  counts: Float64Array,
): void {
  let sum = sums[0]!
  let error = errors[0]!
  let nulls = 0
  for (let i = 0; i < count; i++) {
    let value = values[i]!
    if (Number.isNaN(value)) {
      nulls++
      value = 0
    }
    const after = sum + value
    const added = after - sum
    error += sum - (after - added) + (value - added)
    sum = after
  }
  sums[0] = sum
  errors[0] = error
  counts[0]! += count - nulls
}

/**
 * Adds squares, with all that rounding takes from them: the product is made of halves of 26 bits,
 * whose products are exact (Dekker). A number beyond 1e150 makes NaN of its group.
 */
export function sumSquares(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  squares: Float64Array,
  errors: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (Number.isNaN(value)) continue
    const group = groups[i]!
    const scaled = value * 134217729
    const high = scaled - (scaled - value)
    const low = value - high
    const square = value * value
    const lost = low * low - (square - high * high - 2 * high * low)
    const before = squares[group]!
    const after = before + square
    const added = after - before
    squares[group] = after
    errors[group]! += before - (after - added) + (square - added) + lost
  }
}

/** `lowest[group]` is NaN while the group has no value. */
export function minNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  lowest: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    const group = groups[i]!
    // A NaN in `lowest` fails the comparison, so the first value gets in; a NaN value does not.
    if (!(value >= lowest[group]!) && !Number.isNaN(value)) lowest[group] = value
  }
}

/** `highest[group]` is NaN while the group has no value. */
export function maxNumbers(
  values: Float64Array,
  groups: Int32Array,
  count: number,
  highest: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    const group = groups[i]!
    if (!(value <= highest[group]!) && !Number.isNaN(value)) highest[group] = value
  }
}
