/** Counts of whole numbers as they are stored are those that one statement per row gives. */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { beginBatch, beginStates, endBatches, newTable } from '../../src/kernel/arena.ts'
import {
  addNumberCounts,
  blockCounts,
  boundsOfIntegers,
  sumBlocks,
} from '../../src/kernel/number-counts.ts'

describe.each([
  ['in a batch of a scan', true],
  ['outside of one', false],
])('%s', (_, isInBatch) => {
  afterEach(endBatches)

  test.each([
    ['bytes', Int8Array],
    ['two bytes', Int16Array],
    ['four bytes', Int32Array],
  ] as const)('counts whole numbers of %s, and tells their bounds', (__, array) => {
    const none = -(2 ** (array.BYTES_PER_ELEMENT * 8 - 1))
    const given = fc.record({
      middle: fc.constantFrom(none + 40, -30, 0, 50, -none - 41),
      offsets: fc.array(fc.option(fc.integer({ min: -39, max: 39 })), { maxLength: 50 }),
      groupCount: fc.integer({ min: 1, max: 5 }),
      isOfOne: fc.boolean(),
      isSelected: fc.boolean(),
      base: fc.constantFrom(0, -7, 1e15),
    })
    fc.assert(
      fc.property(given, ({ middle, offsets, groupCount, isOfOne, isSelected, base }) => {
        if (isInBatch) {
          beginStates()
          beginBatch()
        }
        const integers = array.from(
          offsets.map((offset) => (offset === null ? none : middle + offset)),
        )
        const known = [...integers].filter((integer) => integer !== none).sort((a, b) => a - b)
        const bounds = boundsOfIntegers(integers)
        expect(bounds).toEqual(
          known.length > 0 ? { least: known[0], greatest: known.at(-1) } : undefined,
        )
        const every = Int32Array.from(integers.keys())
        const selection = isSelected ? every.filter((row) => row % 3 > 0) : undefined
        const rows = selection ?? every
        const groups = Int32Array.from(rows, (_row, i) => (isOfOne ? 1 : i % groupCount))
        const counts = newTable(6 * 100, 0)
        const places = { first: base + middle - 50, stride: 100, counts }
        const only = isOfOne ? 1 : undefined
        const count = rows.length
        addNumberCounts(integers, base, { selection, groups, only, count }, places)
        const expected = new Int32Array(6 * 100)
        for (let i = 0; i < count; i++) {
          const integer = integers[rows[i]!]!
          if (integer !== none) expected[groups[i]! * 100 + integer - middle + 50]!++
        }
        expect([...counts]).toEqual([...expected])
        const all = newTable(3 * blockCounts, 1)
        all.set(counts, 7)
        const sums = new Int32Array(3)
        sumBlocks(all, sums)
        const sumOf = (block: number) =>
          all.subarray(block * blockCounts, (block + 1) * blockCounts).reduce((a, b) => a + b)
        expect([...sums]).toEqual([sumOf(0), sumOf(1), sumOf(2)])
      }),
      { numRuns: 100 },
    )
  })
})
