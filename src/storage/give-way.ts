/** Threads whose work nobody waits for, or waits for longer, than for an answer to a query. */
import { setPriority } from 'node:os'

/**
 * On Linux: two thirds of the processor time that a thread gets which wants it at the same time. With 5,
 * a third, inserts came to a standstill beside other busy processes: to those they give way, too.
 */
const niceness = 2

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
