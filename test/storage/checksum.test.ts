/** Checksums of stored values, of those without any content, too. */
import { expect, test } from 'vitest'
import {
  checkedContent,
  checkedValue,
  checksumOf,
  hasChecksum,
} from '../../src/storage/checksum.ts'

const seed = 0x89abcdef

/** Of the same no bytes: some have an address, others have none. */
const empty = [Buffer.alloc(0), Buffer.allocUnsafe(0).subarray(0, 0), Buffer.from('x').subarray(1)]

test.each(empty)('no bytes have the checksum that they begin with, wherever they lie', (bytes) => {
  expect(checksumOf(bytes, seed)).toBe(seed)
  expect(checkedContent(checkedValue(bytes, seed), seed)).toEqual(Buffer.alloc(0))
})

test('no bytes that were written with 0 are whole, and others are not', () => {
  expect(hasChecksum(Buffer.alloc(0), seed, 0)).toBe(true)
  expect(hasChecksum(Buffer.alloc(0), seed, 1)).toBe(false)
  expect(hasChecksum(Buffer.from('x'), seed, 0)).toBe(false)
})
