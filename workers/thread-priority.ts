import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Of a scan: look-ups and sockets, in the main thread, go first when there are no more cores. */
const lowered = 5

/**
 * Lets this thread stand back behind the main one. On Linux threads have priorities of their own;
 * elsewhere nothing is done.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    // The link is that of the thread which reads it.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, lowered)
  } catch {
    // Without /proc, or where priorities may not be changed, all threads stay alike.
  }
}
