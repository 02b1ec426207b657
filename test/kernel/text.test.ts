import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteSearch, maximumNeedleBytes } from '../../src/kernel/text.ts'

describe('a search for bytes', () => {
  const bytes = fc.string({ unit: fc.constantFrom(...'aAbB@`[{é '), maxLength: 80 })
  const needles = fc.string({ unit: fc.constantFrom(...'ab@`[{é '), minLength: 1, maxLength: 5 })

  it('finds what a search of texts finds, in either case or in one', () => {
    fc.assert(
      fc.property(bytes, needles, fc.boolean(), (text, needle, caseInsensitive) => {
        const region = Buffer.from(text)
        const folded = caseInsensitive ? lowerAscii(region) : region
        const find = new ByteSearch(Buffer.from(needle), caseInsensitive).in(region)
        for (let from = 0; from <= region.length; from++) {
          expect(find(from)).toBe(folded.indexOf(needle, from))
        }
      }),
    )
  })

  it.each([1, 2, 17, maximumNeedleBytes])('finds %i bytes wherever they lie', (length) => {
    const window = 2 ** 18
    const needle = Buffer.from('xyz'.repeat(100)).subarray(0, length)
    const search = new ByteSearch(needle, true)
    const places = [0, window - length, window - 1, window, 2 * window - 3, 3 * window - length]
    for (const place of places) {
      const region = Buffer.alloc(3 * window, '.')
      region.write(needle.toString().toUpperCase(), place)
      const expected = place + length <= region.length ? place : -1
      expect(search.in(region)(0)).toBe(expected)
    }
  })
})

function lowerAscii(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte)))
}
