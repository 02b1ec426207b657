/** An index of stretches finds all places of what is looked for, in their order. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByteSearch } from '../../src/kernel/text.ts'
import { type FindNext, Stretches } from '../../src/storage/segment/stretches.ts'

it('finds what a search of all bytes finds', () => {
  const letters = fc.constantFrom(...'abcé 日'.split(''))
  const pieces = fc.array(fc.array(letters, { maxLength: 6 }), { minLength: 1, maxLength: 20 })
  const repeated = fc.integer({ min: 1, max: 300 })
  fc.assert(
    fc.property(
      pieces,
      repeated,
      fc.nat(),
      fc.integer({ min: 4, max: 120 }),
      (made, times, at, length) => {
        const text = made.map((each) => each.join('')).join(' ')
        const bytes = Buffer.from(`${text} `.repeat(times) + text.toUpperCase())
        const from = at % bytes.length
        const needle = Buffer.from(bytes.subarray(from, from + length))
        if (needle.length < 4) return
        const read = (start: number, end: number) => bytes.subarray(start, end)
        const stretches = new Stretches(bytes, read)
        expect(placesOf(stretches.find(new ByteSearch(needle, false)))).toEqual(
          placesOf((next) => bytes.indexOf(needle, next)),
        )
        expect(stretches.find(new ByteSearch(Buffer.from('nowhere'), false))(0)).toBe(-1)
      },
    ),
    { numRuns: 200 },
  )
})

function placesOf(find: FindNext): number[] {
  const places: number[] = []
  for (let at = find(0); at >= 0; at = find(at + 1)) places.push(at)
  return places
}
