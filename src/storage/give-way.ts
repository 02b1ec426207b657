/** Threads whose work nobody waits for, or waits for longer, than for an answer to a query. */
import { setPriority } from 'node:os'

/** On Linux: a third of the processor time that a thread gets which wants it at the same time. */
const niceness = 5

/**
 * Lets other threads of the process go first when there are not enough processors. Only Linux has
 * priorities of threads; elsewhere the call would be about the whole process.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, niceness)
  } catch {
    // A sandbox may forbid it; nothing depends on it but who waits for whom.
  }
}
