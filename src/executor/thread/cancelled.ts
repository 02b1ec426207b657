/**
 * Whether anybody still waits for the task that this thread runs. A thread runs one task at a time, from
 * beginning to end, so whatever takes long asks here and need not be told of whose work it is a part.
 */
import { AssayError } from '../../error.ts'

let flag: Int32Array | undefined

/** From here on it is this flag that is asked, which is not zero once nobody waits; undefined: none. */
export function watchCancelled(cancelled: Int32Array | undefined): void {
  flag = cancelled
}

/** For what has to be left in order. */
export function isCancelled(): boolean {
  return flag !== undefined && Atomics.load(flag, 0) !== 0
}

/** Throws QUERY_CANCELLED when nobody waits any more. Takes some nanoseconds. */
export function checkCancelled(): void {
  if (isCancelled()) {
    throw new AssayError('QUERY_CANCELLED', 'the query was cancelled')
  }
}

/** Steps of at most a few microseconds each between two cancellation checks: a power of two. */
const stepsPerCheck = 1 << 10

let steps = 0

/** The same, for every step of a loop that does little in each, such as the comparisons of a sort. */
export function checkAtTimes(): void {
  steps = (steps + 1) & (stepsPerCheck - 1)
  if (steps === 0) checkCancelled()
}

/** Rows of a loop, of which each takes up to a tenth of a microsecond or two, between two cancellation checks. */
const rowsPerCheck = 1 << 15

/** Has `work` go through `count` rows part by part, and asks before each. */
export function inCheckedChunks(count: number, work: (from: number, to: number) => void): void {
  for (let from = 0; from < count; from += rowsPerCheck) {
    checkCancelled()
    work(from, Math.min(count, from + rowsPerCheck))
  }
}
