/**
 * Room for long texts in the heap of this thread. V8 ends the process when a single text does not fit: it asks nobody
 * before, and leaves a thread that is at its limit 16 MB to end itself.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { AssayError } from '../error.ts'

/** Shorter texts fit into what V8 leaves a thread that is at its limit. */
export const largeBytes = 2 ** 20

/** A text of two bytes for each character, and one that is made of it. */
const heapBytesPerByte = 4

/** Throws LIMIT_MEMORY when a text of so many bytes, and what is made of it, does not fit into the heap. */
export function requireHeapRoom(bytes: number): void {
  if (hasRoom(bytes)) return
  collectGarbage()
  if (hasRoom(bytes)) return
  throw new AssayError(
    'LIMIT_MEMORY',
    `a value of ${Math.ceil(bytes / 2 ** 20)} MiB does not fit into the memory that a thread has left`,
    { hint: 'ask for less of it, filter out rows with long values, or give Node a larger heap' },
  )
}

function hasRoom(bytes: number): boolean {
  const { heap_size_limit, used_heap_size } = getHeapStatistics()
  return heap_size_limit - used_heap_size >= bytes * heapBytesPerByte
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
