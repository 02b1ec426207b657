/**
 * Checksums of what the records environment stores. Each covers the value's key, too, so that a value that stands
 * under another key than it was written for is found. Integers are big-endian.
 *
 *     checked value = content  checksum u32  mark u32
 *
 * CRC-32 finds any one flipped bit, any two or three in values of some kilobytes, and all but one in 4 billion
 * of other damages. Values that older versions wrote have neither checksum nor mark. Half of the mark's bits
 * are set, and no text ends in its bytes: to be taken for an older value, one would have to be damaged in more bits of it
 * than `leastBits`, in a directory that has older values at all (`checked-since.ts`).
 */
import { crc32 } from 'node:zlib'
import { readUint, writeUint } from './big-endian.ts'

export const checksumBytes = 4
/** What a checked value has besides its content. */
export const trailerBytes = 8
const mark = 0x9db3c6e9
/** A mark with no more wrong bits is a damaged one. */
const leastBits = 3

const prime = 0x01000193

/** What a checksum begins with: another for each key, and for keys that differ in one bit without fail. */
export function seedOf(key: Uint8Array, basis: number): number {
  let seed = basis
  for (let i = 0; i < key.length; i++) seed = Math.imul(seed ^ key[i]!, prime)
  return seed >>> 0
}

export function checksumOf(bytes: Uint8Array, seed: number): number {
  // Of no bytes at no address zlib gives 0, whatever the seed.
  return bytes.length === 0 ? seed : crc32(bytes, seed)
}

/** Whether the checksum is that of the bytes; of none it was written as 0, too. */
export function hasChecksum(bytes: Uint8Array, seed: number, checksum: number): boolean {
  return checksum === checksumOf(bytes, seed) || (bytes.length === 0 && checksum === 0)
}

/** The value that is stored for `content`. */
export function checkedValue(content: Uint8Array, seed: number): Buffer {
  const { length } = content
  const value = Buffer.allocUnsafe(length + trailerBytes)
  value.set(content)
  writeUint(value, length, checksumOf(content, seed))
  writeUint(value, length + checksumBytes, mark)
  return value
}

/**
 * The content of a stored value, in the same memory: `unchecked` when an older version has written it, undefined
 * when it is damaged.
 */
export function checkedContent(value: Buffer, seed: number): Buffer | 'unchecked' | undefined {
  const length = value.length - trailerBytes
  if (length < 0) return 'unchecked'
  const difference = readUint(value, length + checksumBytes) ^ mark
  if (difference !== 0) return bitCount(difference) > leastBits ? 'unchecked' : undefined
  const content = value.subarray(0, length)
  return hasChecksum(content, seed, readUint(value, length)) ? content : undefined
}

function bitCount(word: number): number {
  let count = 0
  for (let rest = word; rest !== 0; rest &= rest - 1) count++
  return count
}
