import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columnOf } from '../../src/executor/column/relation-column.ts'
import { concatenateTexts } from '../../src/executor/column/wire-values.ts'
import { compareNullsLast } from '../../src/executor/order/row-order.ts'
import {
  columnOrder,
  leadingNumbers,
  orderRows,
} from '../../src/executor/relation/relation-order.ts'
import type { Value } from '../../src/type/value.ts'
import { GrowingTexts } from '../../src/vector/text-index.ts'

/** Texts as groups have them: UTF-8 bytes, a place of -1 being null. */
function textColumn(texts: readonly (string | null)[]) {
  const bytes = GrowingTexts.of(texts.length)
  const indexes = texts.map((text) => {
    if (text === null) return -1
    const encoded = Buffer.from(text)
    bytes.push(encoded, 0, encoded.length)
    return bytes.count - 1
  })
  const which = new Uint8Array(texts.length)
  return concatenateTexts([bytes], which, Int32Array.from(indexes))
}

const text = fc.option(
  fc.oneof(fc.string({ unit: 'binary', maxLength: 9 }), fc.constantFrom('', 'prefix', 'prefix\0')),
)

describe('the order of a column', () => {
  test.each([false, true])('of texts is that of their values, descending: %s', (descending) => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), (texts) => {
        const order = columnOrder(textColumn(texts), descending)
        for (let a = 0; a < texts.length; a++) {
          for (let b = 0; b < texts.length; b++) {
            const expected = compareNullsLast(texts[a]!, texts[b]!, descending)
            expect(Math.sign(order(a, b)) + 0).toBe(Math.sign(expected) + 0)
          }
        }
      }),
    )
  })

  test.each([false, true])('of numbers has nulls last, descending: %s', (descending) => {
    const values = [3, null, -1, 0, null, 3, Number.POSITIVE_INFINITY]
    const order = columnOrder(columnOf(values), descending)
    const rows = values.map((_, row) => row).sort((a, b) => order(a, b) || a - b)
    expect(rows).toEqual(descending ? [6, 0, 5, 3, 2, 1, 4] : [2, 3, 0, 5, 6, 1, 4])
  })
})

describe('the first rows in order', () => {
  test('are those of a sort of all, and rows that tie keep their order', () => {
    const count = 20_000
    const values: Value[] = Array.from({ length: count }, (_, row) =>
      row % 3 === 0 ? null : (row * 7919) % 500,
    )
    const order = columnOrder(columnOf(values), true)
    const leading = leadingNumbers(columnOf(values), true)
    expect(leading).toBeDefined()
    const all = orderRows(count, [order], Number.POSITIVE_INFINITY)
    expect(all.length).toBe(count)
    expect(values[all[0]!]).toBe(499)
    for (const wanted of [0, 1, 39, 40, 1_000, 19_999]) {
      expect(orderRows(count, [order], wanted)).toEqual(all.slice(0, wanted))
      expect(orderRows(count, [order], wanted, leading)).toEqual(all.slice(0, wanted))
    }
  })

  test('do not depend on how late the best ones come', () => {
    const count = 10_000
    const ascending = columnOrder(columnOf(Array.from({ length: count }, (_, row) => -row)), false)
    expect([...orderRows(count, [ascending], 3)]).toEqual([9_999, 9_998, 9_997])
  })
})
