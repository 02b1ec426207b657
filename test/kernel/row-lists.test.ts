/** Lists of rows come back as they were written, however many rows they have. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RowListReader } from '../../src/kernel/row-lists.ts'
import { addRow, hasRow, noRows } from '../../src/vector/row-bits.ts'
import { listMargin, RowListWriter } from '../../src/vector/row-list.ts'

it('reads what was written', () => {
  const share = fc.constantFrom(0, 0.0005, 0.01, 0.1, 0.2, 0.3, 0.45, 0.6, 0.95, 1)
  const count = fc.integer({ min: 1, max: 20_000 })
  fc.assert(
    fc.property(count, fc.array(share, { maxLength: 5 }), fc.nat(), (rowCount, shares, seed) => {
      let state = seed
      const random = () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return state / 2 ** 32
      }
      const lists = shares.map((each) =>
        Array.from({ length: rowCount }, (_, row) => row).filter(() => random() < each),
      )
      const writer = new RowListWriter()
      for (const list of lists) writer.push(Int32Array.from(list), 0, list.length, rowCount)
      const bytes = new Uint8Array(writer.byteLength + listMargin)
      bytes.set(writer.finish())
      const reader = new RowListReader(bytes, 0, rowCount)
      for (const [i, list] of lists.entries()) {
        if ((seed + i) % 3 === 0) {
          reader.pass()
          continue
        }
        const rows = noRows(rowCount)
        expect(reader.addTo(rows)).toBe(list.length)
        expect(
          Array.from({ length: rowCount }, (_, row) => row).filter((row) => hasRow(rows, row)),
        ).toEqual(list)
      }
      expect(reader.at).toBe(writer.byteLength)
    }),
    { numRuns: 60 },
  )
})

it('reads rows that lie together, far behind others', () => {
  const runs = fc.array(fc.tuple(fc.nat(100_000), fc.integer({ min: 1, max: 300 })), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(runs, fc.integer({ min: 0, max: 7 }), (chosen, before) => {
      const rowCount = 120_000
      const rows = [
        ...new Set(
          chosen.flatMap(([from, count]) => Array.from({ length: count }, (_, i) => from + i)),
        ),
      ].sort((a, b) => a - b)
      const writer = new RowListWriter()
      // Lists of a byte each, so that the long one begins at any place.
      for (let i = 0; i < before; i++) writer.push(Int32Array.of(), 0, 0, rowCount)
      writer.push(Int32Array.from(rows), 0, rows.length, rowCount)
      const bytes = new Uint8Array(writer.byteLength + listMargin)
      bytes.set(writer.finish())
      const reader = new RowListReader(bytes, before, rowCount)
      const found = noRows(rowCount)
      addRow(found, 7)
      expect(reader.addTo(found)).toBe(rows.length)
      expect(reader.at).toBe(writer.byteLength)
      const expected = noRows(rowCount)
      for (const row of [...rows, 7]) addRow(expected, row)
      expect(found.every((word, i) => word === expected[i])).toBe(true)
    }),
    { numRuns: 60 },
  )
})

it('takes little more than the rows need', () => {
  for (const share of [0.001, 0.01, 0.1]) {
    const rows = Int32Array.from({ length: 100_000 }, (_, row) => row).filter((row) => {
      return (Math.imul(row + 7, 0x9e3779b1) >>> 0) / 2 ** 32 < share
    })
    const writer = new RowListWriter()
    writer.push(rows, 0, rows.length, 100_000)
    const bits = -Math.log2(share) - ((1 - share) / share) * Math.log2(1 - share)
    expect((writer.byteLength * 8) / rows.length).toBeLessThan(bits * 1.15)
  }
})
