/** Null tests by bitmaps select the rows that a look at each row does. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { selectPresent, selectPresentWithin } from '../../src/executor/select-present.ts'
import { isSet } from '../../src/vector/read-column.ts'

const bitmap = fc.uint8Array({ minLength: 12, maxLength: 12 })
const places = fc.record({
  bitmaps: fc.array(bitmap, { maxLength: 3 }),
  first: fc.nat(40),
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
