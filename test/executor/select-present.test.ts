/** Null tests by bitmaps select the rows that a look at each row does. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { selectPresent, selectPresentWithin } from '../../src/executor/field/select-present.ts'
import { isSet } from '../../src/vector/read-column.ts'

/** Any place, and those at which rows are looked at by 32. */
const firstRow = fc.oneof(fc.nat(40), fc.constantFrom(0, 32))

const bitmap = fc.uint8Array({ minLength: 12, maxLength: 12 })
const places = fc.record({
  bitmaps: fc.array(bitmap, { maxLength: 3 }),
  first: firstRow,
  rowCount: fc.nat(50),
  isPresent: fc.boolean(),
})

it('selects rows of a batch that begins anywhere', () => {
  fc.assert(
    fc.property(places, fc.nat(3), ({ bitmaps, first, rowCount, isPresent }, step) => {
      const rows = Array.from({ length: rowCount }, (_, row) => row)
      const passes = (row: number) => bitmaps.some((bits) => isSet(bits, first + row)) === isPresent
      const out = new Int32Array(rowCount)
      const count = selectPresent({ bitmaps, first }, isPresent, rowCount, out)
      expect([...out.subarray(0, count)]).toEqual(rows.filter(passes))
      const some = Int32Array.from(rows.filter((row) => row % (step + 1) === 0))
      const kept = selectPresentWithin({ bitmaps, first }, isPresent, some, out)
      expect([...out.subarray(0, kept)]).toEqual([...some].filter(passes))
    }),
  )
})

const longBitmap = fc.uint8Array({ minLength: 200, maxLength: 200 })

it('selects among many rows, whether few or most of them are present', () => {
  const shares = fc.constantFrom(0, 1, 0x0f, 0xff)
  fc.assert(
    fc.property(
      fc.array(fc.tuple(longBitmap, shares), { minLength: 1, maxLength: 2 }),
      fc.nat(40),
      fc.integer({ min: 512, max: 1500 }),
      fc.boolean(),
      (given, first, rowCount, isPresent) => {
        const bitmaps = given.map(([bits, share]) => bits.map((byte) => byte & share))
        const out = new Int32Array(rowCount)
        const count = selectPresent({ bitmaps, first }, isPresent, rowCount, out)
        const passes = (row: number) =>
          bitmaps.some((bits) => isSet(bits, first + row)) === isPresent
        const rows = Array.from({ length: rowCount }, (_, row) => row)
        expect([...out.subarray(0, count)]).toEqual(rows.filter(passes))
      },
    ),
  )
})
