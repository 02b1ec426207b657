/** Rows whose residual may have a path are found alike one by one and many at a time, now and later. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NamedRows } from '../../src/executor/column/named-rows.ts'
import { granuleRows, type TextColumn } from '../../src/vector/column.ts'

const rowCount = 2 * granuleRows + 100
const kinds = ['{"a":1}', '{"a":{"b":1}}', '{"b":{"a":2}}', '{"ab":1}', '{"\\u0062":1}', undefined]

/** In most rows nothing, so that some stretches have none of the names. */
const residuals = fc
  .array(fc.record({ row: fc.nat(rowCount - 1), kind: fc.nat(kinds.length - 1) }), {
    maxLength: 60,
  })
  .map((places) => {
    const texts = new Array<string | undefined>(rowCount).fill(undefined)
    for (const { row, kind } of places) texts[row] = kinds[kind]
    return texts
  })

function columnOf(
  texts: readonly (string | undefined)[],
): Extract<TextColumn, { encoding: 'plain' }> {
  const validity = new Uint8Array(Math.ceil(texts.length / 8))
  const offsets = new Int32Array(texts.length + 1)
  texts.forEach((text, row) => {
    offsets[row + 1] = offsets[row]! + (text ?? '').length
    if (text !== undefined) validity[row >> 3]! |= 1 << (row & 7)
  })
  const bytes = Buffer.from(texts.map((text) => text ?? '').join(''))
  return { encoding: 'plain', texts: { bytes, offsets, identity: {} }, validity }
}

it.each([[['b']], [['a', 'b']]])('%j', (path) => {
  const isNamed = (text: string | undefined) =>
    text !== undefined && (text.includes('\\') || path.every((name) => text.includes(`"${name}"`)))
  fc.assert(
    fc.property(
      residuals,
      fc.nat(rowCount),
      fc.nat(rowCount),
      fc.constantFrom(1, 3, 50),
      (texts, one, other, step) => {
        const [from, count] = [Math.min(one, other), Math.abs(one - other)]
        const rows = Int32Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step)
        const expected = [...rows].filter((row) => isNamed(texts[from + row]))
        const column = columnOf(texts)
        for (let time = 0; time < 2; time++) {
          const marks = new Uint8Array(count)
          new NamedRows(column, rowCount, path).mark(rows, from, count, marks)
          expect([...rows].filter((row) => marks[row] === 1)).toEqual(expected)
          const named = new NamedRows(column, rowCount, path)
          expect([...rows].filter((row) => named.has(from + row))).toEqual(expected)
        }
      },
    ),
    { numRuns: 60 },
  )
})
