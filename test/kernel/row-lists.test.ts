/** Lists of rows come back as they were written, however many rows they have. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ListBytes, RowListReader } from '../../src/kernel/row-lists.ts'
import { RowSetBuilder } from '../../src/kernel/row-sets.ts'
import { listMargin, RowListWriter } from '../../src/vector/row-list.ts'
import { isInSet } from '../../src/vector/row-set.ts'

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
      const reader = new RowListReader(listBytes(bytes), 0, rowCount, false)
      for (const [i, list] of lists.entries()) {
        if ((seed + i) % 3 === 0) {
          reader.pass()
          continue
        }
        const set = new RowSetBuilder(rowCount)
        expect(reader.addTo(set)).toBe(list.length)
        expect(rowsOf(set, rowCount)).toEqual(list)
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
      const reader = new RowListReader(listBytes(bytes), before, rowCount, false)
      const set = new RowSetBuilder(rowCount)
      set.addList(Int32Array.of(7))
      expect(reader.addTo(set)).toBe(rows.length)
      expect(reader.at).toBe(writer.byteLength)
      expect(rowsOf(set, rowCount)).toEqual(
        [...new Set([7, ...rows])].sort((first, second) => first - second),
      )
    }),
    { numRuns: 60 },
  )
})

it('adds lists of several codes to each other', () => {
  const rowCount = 50_000
  const multiples = (of: number) => Array.from({ length: rowCount / of }, (_, i) => i * of)
  // As the list of each code is read when others have been and when none has.
  for (const steps of [
    [4, 5, 1000, 20, 10_000],
    [10_000, 20, 1000, 5, 4],
    [1000, 4, 10_000, 20, 5],
  ]) {
    const writer = new RowListWriter()
    for (const step of steps) {
      writer.push(Int32Array.from(multiples(step)), 0, rowCount / step, rowCount)
    }
    const bytes = new Uint8Array(writer.byteLength + listMargin)
    bytes.set(writer.finish())
    const reader = new RowListReader(listBytes(bytes), 0, rowCount, false)
    const set = new RowSetBuilder(rowCount)
    for (const step of steps) expect(reader.addTo(set)).toBe(rowCount / step)
    expect(rowsOf(set, rowCount)).toEqual(
      [...new Set(steps.flatMap(multiples))].sort((a, b) => a - b),
    )
  }
})

it("reads lists that are all in Rice's code, as they were in older indexes", () => {
  // One lower bit of a gap, as one in four rows is in the list: of gaps of 3 and 1 in turns, `0 1 1` and `1 1`.
  const [rowCount, count] = [400, 100]
  const bits = '01111'.repeat(count / 2).padEnd(256, '0')
  const code = bits.match(/.{8}/g)!.map((byte) => Number.parseInt([...byte].reverse().join(''), 2))
  const bytes = Uint8Array.from([count, code.length, ...code, 0, 0, 0, 0])
  const set = new RowSetBuilder(rowCount)
  expect(new RowListReader(listBytes(bytes), 0, rowCount, true).addTo(set)).toBe(count)
  const pairs = Array.from({ length: count / 2 }, (_, i) => [i * 6 + 3, i * 6 + 5])
  expect(rowsOf(set, rowCount)).toEqual(pairs.flat())
})

it('takes little more than the rows need', () => {
  for (const share of [0.001, 0.01]) {
    const rows = Int32Array.from({ length: 100_000 }, (_, row) => row).filter((row) => {
      return (Math.imul(row + 7, 0x9e3779b1) >>> 0) / 2 ** 32 < share
    })
    const writer = new RowListWriter()
    writer.push(rows, 0, rows.length, 100_000)
    const bits = -Math.log2(share) - ((1 - share) / share) * Math.log2(1 - share)
    expect((writer.byteLength * 8) / rows.length).toBeLessThan(bits * 1.15)
  }
})

function rowsOf(set: RowSetBuilder, rowCount: number): number[] {
  const found = set.finish()
  if (!found) return []
  return Array.from({ length: rowCount }, (_, row) => row).filter((row) => isInSet(found, row))
}

function listBytes(bytes: Uint8Array): ListBytes {
  return {
    byteLength: bytes.length,
    view: (from, to) => bytes.slice(from, to),
    copy: (from, to, out) => out.set(bytes.subarray(from, to)),
  }
}
