import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shred } from '../../src/storage/shred/shred.ts'
import { openSharedColumns, setKeys, shareColumns } from '../../src/vector/shared-columns.ts'
import { expectRows, rowTexts } from '../support/arbitrary-row-text.ts'
import { versionedRow } from '../support/versioned-row.ts'

it('gives back every column, whatever the rows are', () => {
  fc.assert(
    fc.property(rowTexts(), (texts) => {
      const rows = texts.map((text, i) =>
        versionedRow(text, { object: 1, version: { transaction: 1000 + i, index: 0 } }),
      )
      const table = shred(rows)
      const opened = openSharedColumns(shareColumns(table))
      expect(opened.rowCount).toBe(table.rowCount)
      expect(opened.keys).toEqual(table.keys)
      expect(opened.pathsBelow([])).toEqual(table.pathsBelow([]))
      for (const path of [[], ...table.pathsBelow([])]) {
        expect(opened.columns(path) ?? {}).toEqual(table.columns(path) ?? {})
      }
      expect(opened.residual).toEqual(table.residual)
      expect(opened.residualPaths).toEqual(table.residualPaths)
      expectRows(opened, texts, false)
    }),
  )
})

it('keeps the transactions that rows show, where they are others than those of their keys', () => {
  const rows = [1000, 1001].map((transaction) =>
    versionedRow('{"id":"a"}', { version: { transaction, index: 7 }, shownTransaction: 1001 }),
  )
  const table = shred(rows)
  const { keys } = openSharedColumns(shareColumns(table))
  expect(keys).toEqual(table.keys)
  expect([...keys.shownTransaction!]).toEqual([1001, 1001])
})

it('lets the object and the transaction be said afterwards', () => {
  const rows = [0, 3, 4].map((index) =>
    versionedRow(`{"id":"${index}"}`, { version: { transaction: 0, index } }),
  )
  const memory = shareColumns(shred(rows))
  setKeys(memory, 5, 2000)
  const { keys } = openSharedColumns(memory)
  expect([...keys.object]).toEqual([5, 5, 5])
  expect([...keys.transaction]).toEqual([2000, 2000, 2000])
  expect([...keys.paginationTransaction]).toEqual([2000, 2000, 2000])
  expect([...keys.index]).toEqual([0, 3, 4])
  expect([...keys.paginationIndex]).toEqual([0, 3, 4])
})
