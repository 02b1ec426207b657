/** Groups of a plan that are made elsewhere, of rows that are there: what a text says of one. */

/**
 * What of an aggregate is told of a group:
 *
 * - `count`: how many
 * - `sum`: how many, and the sum in three parts, as texts of integers: whole 2^-20ths, 2^-74ths, 2^-128ths
 * - `squares`: the same, and then the sum of the squares, in 2^-148ths
 * - `truths`: 1 where a true was seen, and 2 where a false
 * - `least`, `greatest`: by kind, in the order of `extremeKinds`, the tagged text of the value that sorts first or last
 * - `values`: tagged texts of different values
 * - `tallies`: tagged texts of different values, and how often each comes
 * - `numbers`: numbers in any order
 * - `list`: tagged texts of all values
 */
export type GroupStateKind =
  | 'count'
  | 'sum'
  | 'squares'
  | 'truths'
  | 'least'
  | 'greatest'
  | 'values'
  | 'tallies'
  | 'numbers'
  | 'list'

/** Kinds in the order in which their values sort. */
export const extremeKinds = ['boolean', 'number', 'timestamp', 'string'] as const

/**
 * The JSON of a group is a list: tagged texts of its keys; for each aggregate what `states` says; and, where one stands for
 * it, a row: texts of object, pagination key, version, 1 of a preferred one, and tagged texts of values.
 */
export interface MadeGroupsForm {
  readonly keyCount: number
  readonly states: readonly GroupStateKind[]
  /** Whether a row stands for each group, and how many values are kept of it. */
  readonly rowValues: number | undefined
  /** Whether some of these rows are preferred to others. */
  readonly hasPreferred: boolean
}
