import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compareRowKeys,
  formatCursor,
  formatPaginationKey,
  formatPrettyTransaction,
  formatTransaction,
  nextTransaction,
  parseCursor,
  parsePaginationKey,
  parseTransaction,
  rowKey,
} from '../../src/type/transaction.ts'

describe('transaction ids', () => {
  test('are 19 digits: a mark, unix seconds and a counter', () => {
    const transaction = (Date.parse('2025-11-12T14:55:11Z') / 1000) * 0x10000 + 0xdde5
    expect(formatTransaction(transaction)).toBe('1000196129554423269')
    expect(parseTransaction('1000196129554423269')).toBe(transaction)
  })

  test('are read in their pretty form as well', () => {
    const transaction = parseTransaction('1000196129554423269')
    const pretty = formatPrettyTransaction(transaction)
    expect(pretty).toMatch(/^[0-9a-f]{16}$/)
    expect(parseTransaction(pretty)).toBe(transaction)
  })

  test.each(['', 'p1', '-1', '1.5', 'latest', '1000196129554423269 '])('are not %j', (text) => {
    expect(() => parseTransaction(text)).toThrow('is not a version')
  })

  test('rise, whatever the clock does', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const first = nextTransaction(0, now)
    expect(first).toBe((now / 1000) * 0x10000)
    expect(nextTransaction(first, now)).toBe(first + 1)
    expect(nextTransaction(first, now - 3_600_000)).toBe(first + 1)
    expect(nextTransaction(first, now + 1000)).toBe(first + 0x10000)
  })
})

describe('pagination keys and cursors', () => {
  test.each([
    ['p07613972984534794240', 'aapEFsCeAAA'],
    ['p07564805807003992067', 'aPuWzSlJAAM'],
    ['p07566690484853997568', 'aQJI5+sNAAA'],
  ])('%s has the cursor %s', (paginationKey, cursor) => {
    const key = parsePaginationKey(paginationKey)!
    expect(formatCursor(key)).toBe(cursor)
    expect(parseCursor(cursor)).toEqual(key)
    expect(formatPaginationKey(key)).toBe(paginationKey)
  })

  test('a cursor is the base64 of the bytes of any key', () => {
    const keys = fc.record({
      transaction: fc.maxSafeNat().map((number) => number % 2 ** 48),
      index: fc.nat(0xffff),
    })
    fc.assert(
      fc.property(keys, (key) => {
        const bytes = Buffer.alloc(8)
        bytes.writeUIntBE(key.transaction, 0, 6)
        bytes.writeUInt16BE(key.index, 6)
        expect(formatCursor(key)).toBe(bytes.toString('base64').replace(/=+$/, ''))
      }),
    )
  })

  test.each(['', 'aapEFsCeAA', 'aapEFsCeAAAA', 'aapEFsCeAA!', 'p07613972984534794240'])(
    '%j is no cursor',
    (text) => {
      expect(parseCursor(text)).toBeUndefined()
    },
  )

  test('carry into the transaction when a request has many rows', () => {
    expect(rowKey(100, 3)).toEqual({ transaction: 100, index: 3 })
    expect(rowKey(100, 65_536)).toEqual({ transaction: 101, index: 0 })
    expect(compareRowKeys(rowKey(100, 65_535), rowKey(100, 65_536))).toBeLessThan(0)
  })
})
