import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Texts } from '../../src/vector/column.ts'
import { GrowingTexts, TextIndex } from '../../src/vector/text-index.ts'

function textsOf(values: readonly string[]): Texts {
  const parts = values.map((value) => Buffer.from(value))
  const offsets = new Int32Array(parts.length + 1)
  for (const [i, part] of parts.entries()) offsets[i + 1] = offsets[i]! + part.length
  return { bytes: Buffer.concat(parts), offsets }
}

const values = fc.array(
  fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 }),
    fc.nat(200).map((number) => `text ${number}`),
    fc.nat(3).map((number) => 'long '.repeat(40) + number),
  ),
  { maxLength: 200 },
)

it('numbers many texts at once as one by one', () => {
  fc.assert(
    fc.property(fc.array(values, { maxLength: 4 }), fc.nat(50), (lists, skipped) => {
      const one = { index: new TextIndex(), texts: GrowingTexts.of(1) }
      const many = { index: new TextIndex('shared'), texts: GrowingTexts.of(1, 'shared') }
      for (const list of lists) {
        const source = textsOf(list)
        const from = Math.min(skipped, list.length)
        const expected = Int32Array.from({ length: list.length - from }, (_, i) => {
          const [start, end] = [source.offsets[from + i]!, source.offsets[from + i + 1]!]
          return one.index.codeOf(one.texts, source.bytes, start, end)
        })
        const codes = new Int32Array(list.length + 3).fill(-7)
        many.index.codesOf(many.texts, source, from, list.length, codes, 3)
        expect(codes.subarray(3, 3 + expected.length)).toEqual(expected)
        const { bytes, offsets } = many.texts.finish()
        const known = one.texts.finish()
        expect([Buffer.from(bytes), [...offsets]]).toEqual([known.bytes, [...known.offsets]])
      }
    }),
  )
})

it('goes on where growing was stopped between a text and its bytes', () => {
  let isStopped = true
  const check = () => {
    if (isStopped) throw new Error('nobody waits')
  }
  const texts = GrowingTexts.of(1, 'own', check)
  const index = new TextIndex()
  texts.push(Buffer.from('first'), 0, 5)
  const source = textsOf(Array.from({ length: 500 }, (_, i) => `text ${i}`))
  const codes = new Int32Array(500)
  expect(() => index.codesOf(texts, source, 0, 500, codes, 0)).toThrow('nobody waits')
  isStopped = false
  const others = textsOf(['text 7', 'other', 'text 3', 'text 3'])
  const ofOthers = new Int32Array(4)
  index.codesOf(texts, others, 0, 4, ofOthers, 0)
  expect([...ofOthers]).toEqual([1, 2, 3, 3])
  index.codesOf(texts, source, 0, 500, codes, 0)
  const { bytes, offsets } = texts.finish()
  const named = Array.from(codes, (code) =>
    bytes.toString('utf8', offsets[code], offsets[code + 1]),
  )
  expect(named).toEqual(Array.from({ length: 500 }, (_, i) => `text ${i}`))
})
