/** Texts have the same groups by codes of a shared dictionary, whichever segment's map leads to these. */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { GroupTable } from '../../src/executor/column/group-table.ts'
import { beginBatch, beginStates, endBatches } from '../../src/kernel/arena.ts'
import {
  type SharedCodes,
  SharedDictionaryBuilder,
  SharedTexts,
} from '../../src/vector/shared-dictionary.ts'

afterEach(endBatches)

const builder = new SharedDictionaryBuilder(1, undefined)
const words = Array.from({ length: 300 }, (_, i) => `word ${i}`)
const offsets = new Int32Array(words.length + 1)
for (const [i, word] of words.entries()) offsets[i + 1] = offsets[i]! + word.length
const texts = { bytes: Buffer.from(words.join('')), offsets }
builder.add({ encoding: 'plain', texts, validity: undefined }, 1)
const dictionary = new SharedTexts(builder.finish())

/** A segment's map, by its length, and rows of some batches of it. */
const segments = fc.array(
  fc.record({
    length: fc.constantFrom(1, 30, 300),
    step: fc.constantFrom(1, 7, 11),
    batches: fc.array(
      fc.record({
        codes: fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
        isFiltered: fc.boolean(),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  { minLength: 1, maxLength: 4 },
)

test.each([true, false])('in a scan: %s', (isInScan) => {
  fc.assert(
    fc.property(segments, (given) => {
      if (isInScan) beginStates()
      const table = new GroupTable([dictionary])
      const plain = new GroupTable([undefined])
      for (const { length, step, batches } of given) {
        const map = Int32Array.from({ length }, (_, code) => (code * step) % words.length)
        for (const { codes: seeds, isFiltered } of batches) {
          if (isInScan) beginBatch()
          const rowCount = seeds.length
          const codes = Int32Array.from(seeds, (seed) => (seed % (length + 1)) - 1)
          const rows = Int32Array.from(codes.keys()).filter((row) => row % 3 > 0)
          const selection = isFiltered ? rows : undefined
          const count = selection ? selection.length : rowCount
          const shared: SharedCodes = { dictionary, codes, map }
          const values = Array.from(codes, (code) => (code < 0 ? null : words[map[code]!]!))
          const [found, expected] = [new Int32Array(rowCount), new Int32Array(rowCount)]
          table.assign([shared], rowCount, selection, found)
          plain.assign([{ kind: 'values', values }], rowCount, selection, expected)
          expect([...found.subarray(0, count)]).toEqual([...expected.subarray(0, count)])
        }
      }
      endBatches()
    }),
  )
})
