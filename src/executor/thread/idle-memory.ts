/**
 * Gives back what tasks have left behind, once a thread has nothing to do: V8 looks for what is of no use any
 * more only when it is asked for memory, so a thread kept a gigabyte of decompressed texts, as much as a sort by
 * a long text of 10 M rows had read, until the next large query. Memory that threads share is there until each of
 * them has looked.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Of arrays beyond those that were there after the last time, or of what others have made. */
const muchBytes = 128 * 2 ** 20
const idleMs = 1000

let collect: (() => void) | undefined
let keptBytes = 0
let leftBytes = 0
const timer = setTimeout(release, idleMs)
timer.unref()

/**
 * To be called when a task or a query ends.
 *
 * @param bytes that it has let go of in memory that other threads have made, which Node counts with those
 */
export function releaseWhenIdle(bytes = 0): void {
  leftBytes += bytes
  timer.refresh()
}

function release(): void {
  const hasLeft = leftBytes >= muchBytes
  if (!hasLeft && process.memoryUsage().arrayBuffers < keptBytes + muchBytes) return
  collect ??= collector()
  collect()
  leftBytes = 0
  keptBytes = process.memoryUsage().arrayBuffers
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
