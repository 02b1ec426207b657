import type { WireSums } from '../../kernel/group-sums.ts'
import type { WireUnits } from '../../kernel/unit-sums.ts'
import type { KeyValues, WireValues } from '../column/wire-values.ts'

/** What an aggregate has found, as plain data for other threads: one kind of it for each kind of state. */
export type WireState =
  | { readonly kind: 'counts'; readonly counts: Float64Array }
  | { readonly kind: 'sums'; readonly sums: WireSums }
  | {
      readonly kind: 'squares'
      readonly sums: WireSums
      readonly squares: WireSums
      /** What is to be added to the sums of squares: units of them. */
      readonly farSquares: WireUnits
    }
  /** Bit 1: a true was seen; bit 2: a false. */
  | { readonly kind: 'truths'; readonly seen: Uint8Array }
  | {
      readonly kind: 'extremes'
      readonly type: 'number' | 'timestamp'
      readonly values: Float64Array
    }
  | { readonly kind: 'values'; readonly values: WireValues }
  /** Values with the keys by which they were chosen; no value is null but where there is none. */
  | {
      readonly kind: 'chosen'
      readonly values: WireValues
      readonly keys: WireValues
    }
  /** The i-th value occurs in group `groups[i]`. */
  | {
      readonly kind: 'pairs'
      readonly groups: Int32Array
      readonly values: KeyValues
      /** Further values of the groups: texts of the dictionary that `values` are of. */
      readonly held?: HeldTexts
    }
  /** The i-th value occurs in group `groups[i]`, `counts[i]` times. */
  | {
      readonly kind: 'tallies'
      readonly groups: Int32Array
      readonly values: WireValues
      readonly counts: Float64Array
    }
  /** The value of `codes[i]` was collected for group `groups[i]`. */
  | {
      readonly kind: 'collected'
      readonly groups: Int32Array
      readonly codes: Int32Array
      readonly values: WireValues
    }
  /** Spans of `repeated_usage`, and the ids of those that report usage; the i-th is of group `groups[i]`. */
  | {
      readonly kind: 'usage'
      readonly groups: Int32Array
      readonly spans: Int32Array
      readonly parents: readonly Int32Array[]
      readonly traits: Uint8Array
      readonly ids: WireValues
    }
  /** The i-th sum is of what group `groups[i]` has under key `keys[names[i]]`. */
  | {
      readonly kind: 'entries'
      readonly keys: readonly string[]
      readonly groups: Int32Array
      readonly names: Int32Array
      readonly sums: WireSums
    }
  /** Numbers by group; those of group `i` end at `ends[i]`, where the next group's begin. */
  | {
      readonly kind: 'numbers'
      readonly ends: Int32Array
      readonly values: Float64Array
      /** Further numbers of the groups. */
      readonly counted?: NumberCounts | undefined
    }

/** Which texts of a shared dictionary the groups have. */
export interface HeldTexts {
  /** A bit per text, in words of 32; so many words for each group, one group after the other. */
  readonly bits: Int32Array
  readonly wordsPerGroup: number
}

/** How often numbers come in groups: the i-th place of a group is that of `(first + i) / divisor`. */
export interface NumberCounts {
  readonly divisor: number
  /** A multiple of `blockCounts`, as is how many places each group has. */
  readonly first: number
  readonly stride: number
  /** One group after the other. */
  readonly counts: Int32Array
  /** The sum of each `blockCounts` of them. */
  readonly blocks: Int32Array
}
