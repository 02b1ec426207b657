/** What the thread that fuzzes is asked, and what it answers. */
export interface FuzzTask {
  readonly targets: readonly string[]
  readonly seed: number
  /** For each target. */
  readonly ms: number
  /** How many inputs were begun, which target they are for, and how long the last one is, which follows. */
  readonly shared: SharedArrayBuffer
}

export interface FuzzResult {
  readonly target: string
  readonly inputs: number
  readonly accepted: number
  /** Inputs that others were made of in the end. */
  readonly corpus: number
  /** Of code, that were seen to run. */
  readonly blocks: number
  readonly longestMs: number
}

/** Where the input begins in shared memory. */
export const inputStart = 16
