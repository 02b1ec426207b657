import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Of threads whose work others wait for less, on Linux. When there are no more cores, look-ups and sockets, in the
 * main thread, go first: they get twice the processor time of a query's thread that wants it at the same time,
 * and that half as much again as one of inserts. No more, since threads give way to other
 * processes, too: beside busy ones inserts have a third of what those get. What is inserted has to become
 * segments as fast, or ever more rows are in none, so the thread that writes segments goes before those of inserts. Nobody
 * waits for what is exported or backed up.
 */
export const niceness = { queries: 3, segments: 3, inserts: 5, copies: 10 }

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
