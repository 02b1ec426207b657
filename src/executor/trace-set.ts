/** A set of traces: what a condition on whole traces is answered from, row by row. */
import { TextIndex } from '../vector/text-index.ts'

/** Shared memory, so that it is not copied for every task. */
export interface TraceSet {
  /** Numbers of the objects, each once. */
  readonly objects: readonly number[]
  /** For each object, the `root_span_id`s: UTF-8 bytes, the i-th from `offsets[i]` to `offsets[i + 1]`. */
  readonly traces: readonly { readonly bytes: Uint8Array; readonly offsets: Int32Array }[]
}
