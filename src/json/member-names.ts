import { decodeUtf8 } from './utf8.ts'

/** Names beyond this are not kept: an object of so many is a map, not a record. */
const capacity = 1024

/**
 * Where the member names are that `JsonScanner.value` passes: those of the value itself (level 1) and
 * those of the objects in it (level 2). Elements of arrays have no names.
 */
export class MemberNames {
  count = 0
  /** Of the names and their levels: values with equal names have equal hashes. */
  hash = 0
  readonly #levels = new Uint8Array(capacity)
  readonly #starts = new Uint32Array(capacity)
  readonly #ends = new Uint32Array(capacity)

  clear(): void {
    this.count = 0
    this.hash = 0x811c9dc5
  }

  /** Adds the name that stands in quotes from `start` to `end`. */
  add(bytes: Uint8Array, level: 1 | 2, start: number, end: number): void {
    if (this.count === capacity) return
    this.#levels[this.count] = level
    this.#starts[this.count] = start
    this.#ends[this.count] = end
    this.count++
    // Four bytes a step: multiplications wait for each other.
    let hash = this.hash ^ level
    let at = start
    for (; at + 4 <= end; at += 4) {
      const word =
        bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      hash = Math.imul(hash ^ word, 0x85ebca6b)
      hash ^= hash >>> 15
    }
    for (; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
    this.hash = hash
  }

  /** The paths of the names, from the value down; the names must be valid and still in `bytes`. */
  paths(bytes: Uint8Array): string[][] {
    const paths: string[][] = []
    let parent = ''
    for (let i = 0; i < this.count; i++) {
      const text = decodeUtf8(bytes, this.#starts[i]!, this.#ends[i]!)
      const name = JSON.parse(text) as string
      if (this.#levels[i] === 1) parent = name
      paths.push(this.#levels[i] === 1 ? [name] : [parent, name])
    }
    return paths
  }
}
