import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeColumns } from '../../src/storage/maintenance/compaction-columns.ts'
import { mergeOrder } from '../../src/storage/maintenance/compaction-order.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import type { VersionedRow } from '../../src/storage/shred/shred-keys.ts'
import type { ColumnTable } from '../../src/vector/column-table.ts'
import { isSet, pathReader, textAt } from '../../src/vector/read-column.ts'
import { expectRows, rowTexts } from '../support/arbitrary-row-text.ts'
import { versionedRow } from '../support/versioned-row.ts'

const objects = 3

/** Row `i` of all gets transaction 1000 + i, and an object by its place among them. */
function rowsOf(texts: readonly string[]): VersionedRow[] {
  return texts.map((text, i) =>
    versionedRow(text, {
      object: 1 + Math.floor((i * objects) / texts.length),
      version: { transaction: 1000 + i, index: 0 },
    }),
  )
}

/** Merges sets that hold all of `rows` between them; `reread` gets the rows that were read again. */
function merge(rows: readonly VersionedRow[], sources: readonly ColumnTable[], reread?: number[]) {
  const order = mergeOrder(sources.map(({ keys }) => keys))
  const readRow = ({ keys }: ColumnTable, row: number) => {
    const place = keys.transaction[row]! - 1000
    reread?.push(place)
    return rows[place]!.row
  }
  return mergeColumns(sources, order, readRow, () => undefined)
}

/** Every `count`-th row is in one set. */
function interleaved(rows: readonly VersionedRow[], count: number): ColumnTable[] {
  return Array.from({ length: count }, (_, part) =>
    shred(rows.filter((_, i) => i % count === part)),
  )
}

describe('merging columns', () => {
  it('gives the columns that shredding all rows gives', () => {
    const texts = Array.from({ length: 90 }, (_, i) => {
      const tags = i % 4 === 0 ? ',"tags":["a"]' : ''
      return `{"id":"row ${i}","model":"m${i % 3}","n":${i / 7},"ok":${i % 2 === 0}${tags},"m":{"x":null}}`
    })
    const rows = rowsOf(texts)
    for (const sources of [
      interleaved(rows, 4),
      [shred(rows.slice(50)), shred(rows.slice(0, 50))],
    ]) {
      const reread: number[] = []
      const merged = merge(rows, sources, reread)
      const anew = shred(rows)
      expect(merged.keys).toEqual(anew.keys)
      expect(merged.pathsBelow([])).toEqual(expect.arrayContaining([...anew.pathsBelow([])]))
      for (const path of anew.pathsBelow([])) {
        expect(merged.columns(path)).toEqual(anew.columns(path))
      }
      expect(merged.residual).toBeUndefined()
      expect(reread).toEqual([])
    }
  })

  it('moves a path out of residuals when it has a column elsewhere, without reading rows', () => {
    const common = Array.from({ length: 4000 }, (_, i) => `{"id":"c${i}"}`)
    common[7] = '{"id":"c7","rare":{"deep":"x"},"odd":[1]}'
    const rare = Array.from({ length: 100 }, (_, i) => `{"id":"r${i}","rare":{"deep":"y"}}`)
    const rows = [...rowsOf([...common, ...rare])]
    const sources = [shred(rows.slice(0, 4000)), shred(rows.slice(4000))]
    expect(sources[0]!.columns(['rare'])).toBeUndefined()
    const reread: number[] = []
    const merged = merge(rows, sources, reread)
    expect(textAt(merged.columns(['rare', 'deep'])!.text!, 7)).toBe('x')
    expect(textAt(merged.columns(['rare', 'deep'])!.text!, 4050)).toBe('y')
    expect(textAt(merged.residual!, 7)).toBe('{"odd":[1]}')
    expect(merged.residualMayHold(['rare'])).toBe(false)
    expect(reread).toEqual([])
  })

  it('knows of an object with more rare names than are listed that others are in no residual', () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `{"id":"${i}","m":{"a":1,"k${i}":${i}}}`)
    const rows = rowsOf(texts)
    const sources = [
      shred(rows.slice(0, 900)),
      shred(rows.slice(900, 1800)),
      shred(rows.slice(1800)),
    ]
    expect(sources[0]!.residualMayHold(['m', 'b'])).toBe(false)
    const merged = merge(rows, sources)
    expect(merged.residualPaths).toEqual([['m']])
    expect(merged.residualMayHold(['m', 'b'])).toBe(true)
    expect(merged.residualMayHold(['id'])).toBe(false)
    expect(pathReader(merged, ['m', 'k2345'])(2345)).toBe(2345)
  })

  it('moves a path that has become rare into the residual, reading only the rows that have it', () => {
    const early = Array.from({ length: 20 }, (_, i) => `{"id":"e${i}"}`)
    early[3] = '{"id":"e3","once":{"x":-0,"y":9007199254740993,"z":1e999}}'
    const late = Array.from({ length: 2000 }, (_, i) => `{"id":"l${i}"}`)
    const rows = [...early, ...late].map((text, i) =>
      versionedRow(text, { version: { transaction: 1000 + i, index: 0 } }),
    )
    const sources = [shred(rows.slice(0, 20)), shred(rows.slice(20))]
    expect(sources[0]!.columns(['once'])).toBeDefined()
    const reread: number[] = []
    const merged = merge(rows, sources, reread)
    expect(merged.columns(['once'])).toBeUndefined()
    expect(textAt(merged.residual!, 3)).toBe('{"once":{"x":-0,"y":9007199254740993,"z":1e999}}')
    expect(pathReader(merged, ['id'])(3)).toBe('e3')
    expect(reread).toEqual([3])
  })

  it('makes one dictionary of many, and gives it up when texts turn out to be distinct', () => {
    const texts = Array.from(
      { length: 4000 },
      (_, i) => `{"model":"m${i % 5}","user":"${i < 2000 ? i % 900 : `new ${i}`}"}`,
    )
    const rows = rowsOf(texts)
    const sources = [0, 1000, 2000, 3000].map((from) => shred(rows.slice(from, from + 1000)))
    const merged = merge(rows, sources)
    const model = merged.columns(['model'])!.text!
    expect(model.encoding === 'dictionary' && model.dictionary.offsets.length - 1).toBe(5)
    expect(merged.columns(['user'])!.text!.encoding).toBe('plain')
    for (const i of [0, 1234, 3999]) {
      expect(textAt(merged.columns(['user'])!.text!, i)).toBe(JSON.parse(texts[i]!).user)
    }
  })

  it('keeps rows that only the row store has', () => {
    const rows = rowsOf(['{"id":"a","m":{"x":1,"x":2}}', '{"id":"b","m":{"x":3}}', '{"id":"c"}'])
    const merged = merge(rows, interleaved(rows, 2))
    expect(isSet(merged.columns(['m'])!.stored!, 0)).toBe(true)
    expect(pathReader(merged, ['m', 'x'])(1)).toBe(3)
  })

  it('leaves a field to the row store when its residual turns out to name a key twice', () => {
    const common = Array.from({ length: 200 }, (_, i) => `{"id":"c${i}","m":{"a":${i}}}`)
    common[7] = '{"id":"c7","m":{"a":7,"odd":1,"odd":2}}'
    const others = Array.from({ length: 100 }, (_, i) => `{"id":"o${i}","m":{"a":${i},"odd":3}}`)
    const rows = rowsOf([...common, ...others])
    const merged = merge(rows, [shred(rows.slice(0, 200)), shred(rows.slice(200))])
    expect(isSet(merged.columns(['m'])!.stored!, 7)).toBe(true)
    expect(isSet(merged.columns(['m', 'a'])!.number!.validity!, 7)).toBe(false)
    expect(isSet(merged.columns(['m', 'a'])!.number!.validity!, 8)).toBe(true)
    expect(pathReader(merged, ['id'])(7)).toBe('c7')
  })

  it('loses nothing, whatever the rows are and however they are spread', () => {
    fc.assert(
      fc.property(
        rowTexts(),
        fc.integer({ min: 1, max: 5 }),
        fc.infiniteStream(fc.nat({ max: 4 })),
        fc.constantFrom(30, 2 ** 20),
        (texts, parts, choice, maximumValueBytes) => {
          const rows = rowsOf(texts)
          const spread = Array.from({ length: parts }, (): VersionedRow[] => [])
          for (const row of rows) spread[choice.next().value % parts]!.push(row)
          const sources = spread.map((part) => shred(part, { maximumValueBytes }))
          const once = merge(rows, sources)
          expectRows(once, texts, maximumValueBytes === 30)
          expect(once.keys).toEqual(shred(rows).keys)
          // What was merged is merged again, with rows of another kind.
          const others = Array.from({ length: 100 }, () => '{"other":[0],"m":{"odd":"x"}}')
          const all = rowsOf([...texts, ...others])
          const more = shred(
            all.slice(texts.length).map((row) => ({ ...row, object: objects + 1 })),
          )
          expectRows(merge(all, [more, once]), [...texts, ...others], maximumValueBytes === 30)
        },
      ),
      { numRuns: 100 },
    )
  })
})
