/**
 * Results on their way to another thread: long arrays are put into shared memory, which both threads
 * then read, while a message would copy them twice, and groups once more on their way to the merge.
 */
import { packValues } from '../column/packed-values.ts'
import { leastSharedBytes } from '../column/shared-array.ts'
import type { PlainValues } from '../column/wire-values.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { newSharedMemory } from '../thread/idle-memory.ts'
import { bytesOf } from './held-bytes.ts'
import type { TaskResult } from './task.ts'

/** Values of any kind are copied along as long as both threads take less than a millisecond for them. */
const leastPackedBytes = 128 * 1024

/** Between two cancellation checks: some milliseconds. */
const copiedBytes = 8 * 2 ** 20

/**
 * Printed rows are copied along, unless they are longer than chunks are meant to be, as a row with a value of 100 MB
 * is: the main thread would copy them at one stroke, and look through all of its memory after every few of them.
 */
const longestPrinted = 6 * 2 ** 20

/** The result with its long arrays in shared memory, but for most printed rows, which a message copies. */
export function shareResult(result: TaskResult): TaskResult {
  if (result.kind === 'answer') {
    const { rest } = result
    const bytes = printedBytes(result.bytes)
    return { ...result, bytes, rest: rest && (shared(rest) as typeof rest) }
  }
  if (result.kind === 'print') return { ...result, bytes: printedBytes(result.bytes) }
  return shared(result) as TaskResult
}

function printedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= longestPrinted) return withoutRest(bytes)
  return sharedArray(bytes) as Uint8Array
}

/** Bytes in memory that has hardly more: a message takes with it all the memory that a view is of. */
function withoutRest(bytes: Uint8Array): Uint8Array {
  const restBytes = bytes.buffer.byteLength - bytes.byteLength
  if (restBytes * 16 <= bytes.byteLength) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength)
  copy.set(bytes)
  return copy
}

function shared(part: unknown): unknown {
  if (ArrayBuffer.isView(part)) return sharedArray(part)
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(shared)
  // Values of any kind may be many, and hold no arrays of numbers.
  if (isPlain(part)) {
    const valueBytes = bytesOf(part.values)
    return valueBytes < leastPackedBytes ? part : packValues(part.values, valueBytes)
  }
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, shared(value)]))
}

function isPlain(part: object): part is PlainValues {
  return 'kind' in part && part.kind === 'plain'
}

function sharedArray(array: ArrayBufferView): ArrayBufferView {
  const { buffer, byteOffset, byteLength } = array
  if (byteLength < leastSharedBytes || buffer instanceof SharedArrayBuffer) return array
  const memory = newSharedMemory(byteLength)
  const [from, to] = [new Uint8Array(buffer, byteOffset, byteLength), new Uint8Array(memory)]
  for (let at = 0; at < byteLength; at += copiedBytes) {
    checkCancelled()
    to.set(from.subarray(at, at + copiedBytes), at)
  }
  if (array instanceof Float64Array) return new Float64Array(memory)
  return array instanceof Int32Array ? new Int32Array(memory) : new Uint8Array(memory)
}
