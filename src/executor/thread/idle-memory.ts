/**
 * Gives back what tasks have left behind. V8 looks for what is of no use any more only when it is asked for memory, so
 * a thread that had nothing to do kept a gigabyte of decompressed texts, as much as a sort by a long text of 10 M rows
 * had read, until the next large query: once it is idle it looks. Memory that threads share is there until each of
 * them has looked, and V8 counts it with none: groups by 200,000 users left 13 MB each time, and a gigabyte
 * before any thread came to it by itself. So after some of it a thread looks among what is young, which takes
 * a millisecond or two.
 */
import { isMainThread } from 'node:worker_threads'
import { collectGarbage } from '../../json/heap-room.ts'

/**
 * Of arrays beyond those that were there after the last time, or of shared memory that was let go of. The main thread has
 * more to look through, and others wait for it meanwhile.
 */
const muchBytes = (isMainThread ? 128 : 32) * 2 ** 20
const idleMs = 1000
/** Of shared memory, between two looks among what is young. */
const youngBytes = 32 * 2 ** 20

let keptBytes = 0
let leftBytes = 0
let leftYoungBytes = 0
const timer = setTimeout(release, idleMs)
timer.unref()

/**
 * To be called when a task or a query ends.
 *
 * @param bytes that it has let go of in memory which threads share
 */
export function releaseWhenIdle(bytes = 0): void {
  leftBytes += bytes
  timer.refresh()
  const isDue = leftYoungBytes < youngBytes && leftYoungBytes + bytes >= youngBytes
  leftYoungBytes += bytes
  // Not before the caller has let go of it, too.
  if (isDue) setImmediate(collectYoung)
}

/** Memory for what a task has found, which the thread lets go of when the task ends. */
export function newSharedMemory(byteLength: number): SharedArrayBuffer {
  releaseWhenIdle(byteLength)
  return new SharedArrayBuffer(byteLength)
}

function collectYoung(): void {
  leftYoungBytes = 0
  collectGarbage({ type: 'minor' })
}

function release(): void {
  const { arrayBuffers } = process.memoryUsage()
  // Some of them go only after V8 has looked.
  keptBytes = Math.min(keptBytes, arrayBuffers)
  if (leftBytes < muchBytes && arrayBuffers < keptBytes + muchBytes) return
  collectGarbage()
  leftBytes = 0
  keptBytes = process.memoryUsage().arrayBuffers
}
