/**
 * What pieces of a backup hold: keys and values, one after the other. Integers are big-endian.
 *
 *     list  = entry*
 *     entry = key length u16, value length u32, key, value
 */
import { AssayError } from '../../error.ts'

const headBytes = 6
const longestKey = 0xffff

export interface ListedEntry {
  readonly key: Buffer
  readonly value: Buffer
}

/** Puts entries together. */
export class EntryListWriter {
  readonly #parts: Uint8Array[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  add(key: Uint8Array, value: Uint8Array): void {
    if (key.length > longestKey) throw new RangeError('a key of more than 65,535 bytes')
    const head = Buffer.allocUnsafe(headBytes + key.length)
    head.writeUInt16BE(key.length, 0)
    head.writeUInt32BE(value.length, 2)
    head.set(key, headBytes)
    // What LMDB gives may be written over by what is read next.
    this.#parts.push(head, Buffer.from(value))
    this.#length += head.length + value.length
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#parts, this.#length)
    this.#parts.length = 0
    this.#length = 0
    return bytes
  }
}

/** The entries of a list, in its memory. Throws STORAGE_CORRUPT at what is no list. */
export function* entriesOf(list: Uint8Array): Generator<ListedEntry> {
  const bytes = Buffer.from(list.buffer, list.byteOffset, list.byteLength)
  for (let at = 0; at < bytes.length; ) {
    const keyStart = at + headBytes
    const isHeadThere = keyStart <= bytes.length
    const valueStart = isHeadThere ? keyStart + bytes.readUInt16BE(at) : 0
    const end = isHeadThere ? valueStart + bytes.readUInt32BE(at + 2) : 0
    if (!isHeadThere || end > bytes.length) {
      throw new AssayError('STORAGE_CORRUPT', 'a piece of the backup ends within an entry')
    }
    yield { key: bytes.subarray(keyStart, valueStart), value: bytes.subarray(valueStart, end) }
    at = end
  }
}
