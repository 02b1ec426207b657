/** Memory that is made while rows are shredded, and forgotten with them. */

let next: usize = 0
let end: usize = 0

/** Vectors may be stored to the last byte of an array. */
const roomBytes: usize = 32

export function beginHeap(start: usize): void {
  next = (start + 15) & ~(<usize>15)
  end = (<usize>memory.size()) << 16
}

/** Where `length` bytes are free, at a multiple of 16; 0 where no more are. */
export function reserve(length: usize): usize {
  const place = next
  if (length > end - place - roomBytes) return 0
  next = (place + length + roomBytes) & ~(<usize>15)
  return place
}
