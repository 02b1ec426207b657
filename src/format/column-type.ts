/** The types of columns in formats that have types: Arrow and Parquet. */

/**
 * What a column's values are.
 *
 * `number`: doubles. `integer`: 64 bits with a sign. `timestamp`: microseconds since 1970 UTC.
 * `texts`: lists of texts. `json`: any values, each as the text of its JSON.
 */
export type ColumnType = 'boolean' | 'number' | 'integer' | 'timestamp' | 'text' | 'texts' | 'json'

export interface TypedColumn {
  readonly name: string
  readonly type: ColumnType
}

/** Bits of what the values of a column are; several may be set, and none if all are null. */
export const valueBit = {
  boolean: 1,
  /** Those that 64 bits can hold, as doubles. */
  integer: 2,
  /** Any other double. */
  fraction: 4,
  /** Integers that a double cannot hold: those that 64 bits can, and others. */
  big: 8,
  huge: 16,
  text: 32,
  timestamp: 64,
  other: 128,
} as const

/** The narrowest type that holds all such values without a loss. */
export function typeOfBits(bits: number): ColumnType {
  const { boolean, integer, fraction, big, text, timestamp } = valueBit
  const within = (allowed: number) => bits !== 0 && (bits & ~allowed) === 0
  if (within(boolean)) return 'boolean'
  if (within(integer | fraction)) return 'number'
  if (within(integer | big)) return 'integer'
  if (within(timestamp)) return 'timestamp'
  // A time beside texts is the text that it is shown as.
  return within(text | timestamp) ? 'text' : 'json'
}
