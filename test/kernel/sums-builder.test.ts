import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unitBits, unitsOf } from '../../src/kernel/exact-number.ts'
import { SumsBuilder } from '../../src/kernel/sums-builder.ts'

const added = fc.record({
  group: fc.nat(2),
  // Of one digit to more than three doubles hold.
  whole: fc.nat(80).chain((digits) => fc.bigInt(-(10n ** BigInt(digits)), 10n ** BigInt(digits))),
  bits: fc.constantFrom(20, 74, 128, 148),
})

test('sums of whole numbers in texts lose nothing', () => {
  fc.assert(
    fc.property(fc.array(added, { maxLength: 12 }), (all) => {
      const builder = new SumsBuilder(3)
      const expected = [0n, 0n, 0n]
      for (const { group, whole, bits } of all) {
        builder.addWhole(group, String(whole), 2 ** -bits)
        expected[group]! += whole << BigInt(unitBits - bits)
      }
      const { sums, rests, units } = builder.finish()
      const found = Array.from(sums, (sum, group) => unitsOf(sum) + unitsOf(rests[group]!))
      for (const [i, place] of units.places.entries()) found[place]! += units.sums[i]!
      expect(found).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

test('a minus before sixteen digits belongs to all of them', () => {
  const builder = new SumsBuilder(1)
  builder.addWhole(0, '-123456789012345', 1)
  builder.addWhole(0, '-1234567890123456', 1)
  builder.count(0, 2)
  const { sums, counts } = builder.finish()
  expect([...sums, ...counts]).toEqual([-123456789012345 - 1234567890123456, 2])
})
