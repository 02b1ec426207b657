/** Several patterns of LIKE at once say what they do one by one. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyLikeSearch } from '../../src/executor/text/any-like.ts'
import { like } from '../../src/type/like.ts'
import type { Texts } from '../../src/vector/column.ts'

const plain = ['a', 'b', 'ab', 'abc', 'K', 'k', 'i', '.', '('] as const
const piece = fc.constantFrom(...plain, '\u0130', '\u212a', 'é')
const wild = fc.constantFrom('%', '_', '\\%', '\\_')
const text = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''))
const pattern = fc
  .tuple(piece, fc.array(fc.oneof({ weight: 3, arbitrary: piece }, wild), { maxLength: 5 }))
  .chain(([first, rest]) => {
    const parts = [...rest, first].join('')
    return fc.constantFrom(parts, `%${parts}%`)
  })

function textsOf(texts: readonly string[]): Texts {
  const offsets = new Int32Array(texts.length + 1)
  texts.forEach((each, i) => {
    offsets[i + 1] = offsets[i]! + Buffer.byteLength(each)
  })
  return { bytes: Buffer.from(texts.join('')), offsets } as Texts
}

test('one search for several patterns finds what they find one by one', () => {
  let searched = 0
  const property = fc.property(
    fc.array(text, { minLength: 1, maxLength: 12 }),
    fc.array(pattern, { minLength: 16, maxLength: 20 }),
    fc.boolean(),
    (texts, patterns, caseInsensitive) => {
      const search = anyLikeSearch(patterns, caseInsensitive)
      if (!search) return
      searched++
      const out = new Uint8Array(texts.length)
      search(textsOf(texts), 0, texts.length, out)
      const expected = texts.map((each) =>
        patterns.some((one) => like(each, one, caseInsensitive) === true) ? 1 : 0,
      )
      expect([...out]).toEqual(expected)
    },
  )
  fc.assert(property, { numRuns: 4000 })
  expect(searched).toBeGreaterThan(500)
})

test('what needs no text, or half of a character, is not searched for together', () => {
  const others = Array.from({ length: 20 }, (_, i) => `%${i}%`)
  expect(anyLikeSearch(others, true)).toBeDefined()
  expect(anyLikeSearch(['%', ...others], false)).toBeUndefined()
  expect(anyLikeSearch(['\ud83d', ...others], false)).toBeUndefined()
  expect(anyLikeSearch(['É', ...others], true)).toBeUndefined()
})
