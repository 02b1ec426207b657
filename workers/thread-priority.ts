import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Of threads whose work others wait for less, on Linux. Of queries: look-ups and sockets, in the main thread, go
 * first when there are no more cores. Of inserts and segments, two thirds of the processor time that a thread
 * gets which wants it at the same time: with 5, a third, inserts came to a standstill beside other busy
 * processes, since to those they give way, too.
 */
export const niceness = { queries: 5, inserts: 2 }

/**
 * Lets this thread stand back behind the main one. On Linux threads have priorities of their own;
 * elsewhere nothing is done.
 */
export function lowerThreadPriority(to: number): void {
  if (process.platform !== 'linux') return
  try {
    // The link is that of the thread which reads it.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, to)
  } catch {
    // Without /proc, or where priorities may not be changed, all threads stay alike.
  }
}
