/** What a thread that encodes is asked, and answers. */
import type { EncodedBatch } from './batch-reader.ts'
import type { Batch, Run } from './export-state.ts'

export interface EncodeTask {
  readonly batch: Batch
  readonly run: Run
  /** Objects of the range whose rows are exported. */
  readonly objects: readonly number[]
  /** Where the rows are put if there is room; memory of their own otherwise. */
  readonly memory: SharedArrayBuffer
}

/** The bytes are in shared memory: memory that is handed over makes all arrays of a thread slower to use. */
export type EncodeOutcome = { readonly encoded: EncodedBatch } | { readonly error: string }
