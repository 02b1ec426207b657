import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { beginBatch, beginStates, endBatches, newState } from '../../src/kernel/arena.ts'
import { countStoredCodes } from '../../src/kernel/code-counts.ts'

afterEach(endBatches)

const size = 5
const widths = [
  ['one byte', Int8Array],
  ['two bytes', Int16Array],
] as const

test.each(widths)('codes of %s are counted, and nulls are not', (_, array) => {
  const codes = fc.array(fc.integer({ min: -1, max: size - 1 }), { minLength: 40, maxLength: 200 })
  fc.assert(
    fc.property(codes, (given) => {
      beginStates()
      beginBatch()
      const counts = newState(size, 3)
      const integers = array.from(given)
      expect(countStoredCodes({ integers, base: 0, divisor: 1 }, counts)).toBe(true)
      const wanted = Array.from({ length: size }, (_, code) => {
        return 3 + given.filter((each) => each === code).length
      })
      expect([...counts]).toEqual(wanted)
    }),
  )
})

test('codes of four bytes, or too many for so few rows, are left to others', () => {
  beginStates()
  const counts = newState(size, 0)
  const isCounted = (integers: Int16Array | Int32Array) =>
    countStoredCodes({ integers, base: 0, divisor: 1 }, counts)
  expect(isCounted(new Int32Array(100))).toBe(false)
  expect(isCounted(new Int16Array(size))).toBe(false)
  expect([...counts]).toEqual([0, 0, 0, 0, 0])
})
