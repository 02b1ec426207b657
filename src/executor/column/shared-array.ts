/** Arrays that are sent to other threads: long ones lie in shared memory, which a message does not copy. */
import { newSharedMemory } from '../thread/idle-memory.ts'

/** Shorter arrays are copied along with the message: shared memory has a cost of its own. */
export const leastSharedBytes = 16 * 1024

/** Zeros to be sent to another thread: if they are many, in shared memory from the start. */
export function newResultNumbers(count: number): Float64Array {
  const byteLength = count * 8
  return byteLength < leastSharedBytes
    ? new Float64Array(count)
    : new Float64Array(newSharedMemory(byteLength))
}

/** The same for codes. */
export function newResultCodes(count: number): Int32Array {
  const byteLength = count * 4
  return byteLength < leastSharedBytes
    ? new Int32Array(count)
    : new Int32Array(newSharedMemory(byteLength))
}

/** Elements `from … to`: of a long array in shared memory a view, otherwise a copy, of which a message takes no more. */
export function sliceArray<T extends Float64Array | Int32Array | Uint8Array>(
  array: T,
  from: number,
  to: number,
): T {
  const isLong = (to - from) * array.BYTES_PER_ELEMENT >= leastSharedBytes
  const isView = isLong && array.buffer instanceof SharedArrayBuffer
  return (isView ? array.subarray(from, to) : array.slice(from, to)) as T
}
