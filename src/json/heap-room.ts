/**
 * Room for long texts, and for what is made of them, in the heap of this thread. V8 ends the process when one text, or one
 * list that it makes in a single step, does not fit: it asks nobody before, and leaves a thread that is at its limit 16 MB
 * to end itself.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AssayError } from '../error.ts'

/** Shorter texts fit into what V8 leaves a thread that is at its limit. */
export const largeBytes = 2 ** 20

/** A text of two bytes for each character, and one that is made of it. */
const heapBytesPerByte = 4

/** Of a short text or a small object, its place in a list or under a name, and what is thrown away as these grow. */
const heapBytesPerValue = 100

/** Fewer values fit into what V8 leaves a thread that is at its limit. */
export const manyValues = 2 ** 16

/** Throws LIMIT_MEMORY when a text of so many bytes, and what is made of it, does not fit into the heap. */
export function requireHeapRoom(bytes: number): void {
  if (hasRoom(bytes * heapBytesPerByte)) return
  throw tooLarge(`a value of ${Math.ceil(bytes / 2 ** 20)} MiB`)
}

/** The same for so many values that one step makes of a text, such as its parts: no step of V8's own can be ended. */
export function requireRoomForValues(count: number): void {
  if (count < manyValues || hasRoom(count * heapBytesPerValue)) return
  throw tooLarge(`a value with ${count} parts`)
}

function tooLarge(what: string): AssayError {
  return new AssayError(
    'LIMIT_MEMORY',
    `${what} does not fit into the memory that a thread has left`,
    { hint: 'ask for less of it, filter out rows with long values, or give Node a larger heap' },
  )
}

function hasRoom(heapBytes: number): boolean {
  if (freeHeapBytes() >= heapBytes) return true
  collectGarbage()
  return freeHeapBytes() >= heapBytes
}

function freeHeapBytes(): number {
  const { heap_size_limit, used_heap_size } = getHeapStatistics()
  return heap_size_limit - used_heap_size
}

type Collect = (options?: { readonly type: 'minor' }) => void

let collect: Collect | undefined

/** Looks for objects that are of no use any more, all or only young ones. */
export function collectGarbage(options?: { readonly type: 'minor' }): void {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
  }
  collect(options)
}
