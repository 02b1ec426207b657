/** Rows of a set that lie in a range are listed and counted as they were added, wherever in an integer it ends. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countRows } from '../../src/kernel/bit-rows.ts'
import { addRow, listRows, noRows } from '../../src/vector/row-bits.ts'
import { randomSeed } from '../support/random-seed.ts'

// Of many, words are counted by a loop.
test.each([200, 20_000])(
  `lists and counts the rows of a range of %i, seed ${randomSeed}`,
  (rowCount) => {
    const place = fc.nat({ max: rowCount })
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat({ max: rowCount - 1 })), place, place, (added, a, b) => {
        const rows = noRows(rowCount)
        for (const row of added) addRow(rows, row)
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const within = added.filter((row) => row >= from && row < to).sort((x, y) => x - y)
        const listed = new Int32Array(countRows(rows, from, to))
        listRows(rows, from, to, listed)
        expect([...listed]).toEqual(within.map((row) => row - from))
      }),
      { seed: randomSeed },
    )
  },
)
