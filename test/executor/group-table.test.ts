import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GroupTable } from '../../src/executor/column/group-table.ts'
import { vectorOf } from '../../src/executor/column/wire-values.ts'
import type { Value } from '../../src/type/value.ts'
import { textEntries, type Vector, valueEntries, valueReader } from '../../src/vector/vector.ts'

/** Rows of a batch: codes of two or three keys, -1 for null, and which rows are left. */
const batches = fc.array(
  fc.record({
    // Segments have dictionaries of their own, some of many entries.
    sizes: fc.tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(3, 70_000),
    ),
    rows: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.boolean()), { maxLength: 40 }),
    isFiltered: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
)

function entriesOfTexts(texts: readonly string[]) {
  let end = 0
  const ends = texts.map((text) => {
    end += Buffer.byteLength(text)
    return end
  })
  const offsets = Int32Array.from([0, ...ends])
  return textEntries({ bytes: Buffer.from(texts.join('')), offsets }, 'text')
}

test('rows have the same groups whether or not their keys are in dictionaries', () => {
  fc.assert(
    fc.property(
      batches,
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      (given, keyCount, areTexts) => {
        const tables = [0, 1].map(() => new GroupTable(Array(keyCount).fill(undefined)))
        for (const [i, { sizes, rows, isFiltered }] of given.entries()) {
          const columns = sizes.slice(0, keyCount).map((size, k) => {
            const values = Array.from({ length: size }, (_, code) => {
              return `${i % 2} ${(code + i) % size} é`
            })
            const entries = areTexts && size < 10 ? entriesOfTexts(values) : valueEntries(values)
            const codes = Int32Array.from(rows, (row) => (row[k as 0 | 1 | 2] % (size + 1)) - 1)
            const plain: Value[] = Array.from(codes, (code) => values[code] ?? null)
            return { coded: { kind: 'dictionary', codes, entries } as Vector, plain }
          })
          const selected = Int32Array.from(rows.keys()).filter((row) => rows[row]![3])
          const selection = isFiltered ? selected : undefined
          const [coded, plain] = tables.map((table, t) => {
            const keys = columns.map(({ coded, plain }): Vector => {
              return t === 0 ? coded : { kind: 'values', values: plain }
            })
            const groups = new Int32Array(rows.length)
            table.assign(keys, rows.length, selection, groups)
            return [...groups.subarray(0, (selection ?? rows).length)]
          })
          expect(coded).toEqual(plain)
        }
        const keysOf = (table: GroupTable) =>
          Array.from({ length: keyCount }, (_, key) => {
            const read = valueReader(vectorOf(table.keyValues(key, undefined)))
            return Array.from({ length: table.groupCount }, (_, group) => read(group))
          })
        expect(keysOf(tables[0]!)).toEqual(keysOf(tables[1]!))
      },
    ),
  )
})
