import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { isTurnLimit, limitTurn, turnBytes } from '../../src/json/turn-limit.ts'
import { prepareRows } from '../../src/storage/prepare/prepare.ts'
import { rowVersionKey } from '../../src/storage/record-key.ts'
import { rowBytes } from '../../src/storage/row/prepared-blocks.ts'
import { RowView, writeRowKeys } from '../../src/storage/row/row.ts'
import {
  encodeRequestBody,
  packedBlock,
  RowBlock,
  requestBlock,
  singleRow,
} from '../../src/storage/row/row-block.ts'
import { formatTransaction, type RowKey } from '../../src/type/transaction.ts'
import { printRow, TemporaryRecords } from '../support/temporary-records.ts'

const transaction = 7 * 65_536
const first: RowKey = { transaction, index: 40 }
const key = rowVersionKey(1, first)
/** All that is written later than this has checksums. */
const since = { transaction: 0 }
const fieldNames = ['input', 'output', 'zeta', 'a"b', 'é', 'metadata', 'tags']
/** What looks like an identifier and is one, and what only looks like one. */
const identifiers = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => id.replaceAll('-', '')),
  fc.uuid().map((id) => `${id.slice(1)}-`),
  fc.stringMatching(/^[0-9a-f]{14,40}$/),
  fc.stringMatching(/^[0-9a-f-]{36}$/),
)
/** Long enough for a block to have several pieces. */
const longTexts = fc.stringMatching(/^[a-z ]{40}$/).map((text) => text.repeat(100))
const values = fc.oneof(fc.jsonValue(), identifiers, longTexts)
const fields = fc.dictionary(fc.constantFrom(...fieldNames.slice(0, 5)), values)

const olderBlock =
  'AgEAAgAAAm8AAAAHAAAAAG8CAAASAAEAkgEAAABMAAAADQ8ABgIAIQICHgAgBgAIANEHAAUAAAAJAAQAAAAO' +
  'NAAACgAAEgARAxgAEQYIAB8IJgAGAEQAkQkHAwMDFgSuAgcA9hMiaW5wdXQiOiJvbGRlciIic3Bhbl9pZCI6' +
  'InMiInJvb3RfEgAxciIiGgCQYSIiY3JlYXRlJwDhMTk3MC0wMS0wMVQwMDoDAGBaIiJpc189AKIiOnRydWUi' +
  'b3V0ZQAfeAEA/xkIjAEfdIwBBh9ijAEWYCI6dHJ1ZQ=='

function prepared(events: readonly object[]): Uint8Array[] {
  const body = Buffer.from(JSON.stringify({ events }))
  const object = { type: 'project_logs', id: 'P' } as const
  const rows = prepareRows(body, { form: 'events', object, nowMs: 0 })
  return events.map((_, row) => rowBytes(rows, row))
}

function keyed(bytes: Uint8Array, paginationKey: RowKey, previous?: RowKey): string {
  const copy = Buffer.from(bytes)
  writeRowKeys(copy, 0, { paginationKey, transaction, previous })
  return described(new RowView(copy))
}

function described(view: RowView): string {
  const { paginationKey, previous, flags, createdMs } = view
  const header = { paginationKey, previous, flags, createdMs, transaction: view.transaction }
  return `${JSON.stringify(header)} ${printRow(view)}`
}

/** Objects of two types: what is printed of their rows differs. */
const objects = [
  { type: 'project_logs', id: 'P', projectId: 'P', organizationId: 'O' },
  { type: 'experiment', id: 'E', projectId: 'P', organizationId: 'O' },
  { type: 'experiment', id: 'F', projectId: 'P', organizationId: 'O' },
] as const

/** A row that is printed from a block is what `writeRow` makes of the row itself. */
function expectSamePrinted(block: RowBlock, value?: Buffer): void {
  const out = new ByteWriter()
  for (let place = 0; place < block.rowCount; place++) {
    for (const [i, object] of objects.entries()) {
      const view = block.rowAt(place, value)
      const keeps = i % 2 === 0
      out.truncate(0)
      const printed = block.printAt(place, object, out, keeps, value)
      if (!view || view.isTombstone) {
        expect(printed).toBeUndefined()
        expect(out.length).toBe(0)
        continue
      }
      const { paginationKey, bytes } = view
      expect(printed).toEqual({ paginationKey, byteLength: bytes.length })
      expect(out.view().toString()).toBe(printRow(view, object))
    }
  }
}

describe('a block of a request', () => {
  test('gives back its rows as if each were stored by itself', () => {
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1, maxLength: 40 }), (events) => {
        const rows = prepared(events)
        const numbers = rows.map((_, i) => i * 2)
        const block = new RowBlock(
          key,
          requestBlock(key, encodeRequestBody(numbers, rows), transaction, []),
          since,
        )
        rows.forEach((row, i) => {
          const version = { transaction, index: first.index + i * 2 }
          expect(described(block.find(version)!)).toBe(keyed(row, version))
          expect(block.placeOf(version)).toBe(i)
          expect(block.find({ transaction, index: version.index + 1 })).toBeUndefined()
        })
        expectSamePrinted(block)
      }),
    )
  })

  test('numbers rows beyond those of one transaction', () => {
    const rows = prepared([{ input: 1 }, { input: 2 }])
    const last = { transaction, index: 65_535 }
    const key = rowVersionKey(1, last)
    const value = requestBlock(key, encodeRequestBody([65_535, 65_536], rows), transaction + 1, [])
    const block = new RowBlock(key, value, since)
    const versions = Array.from({ length: block.rowCount }, (_, place) => block.versionAt(place))
    expect(versions).toEqual([last, { transaction: transaction + 1, index: 0 }])
    expect(versions.map((version) => block.placeOf(version))).toEqual([0, 1])
    expect(block.covers({ transaction: 1, index: 65_535 })).toBe(false)
    expect(block.covers({ transaction: 2 ** 48 - 1, index: 0 })).toBe(false)
  })

  test('knows of rows that follow others, and of those that were not written', () => {
    const rows = prepared([{ input: 1 }, { input: 2 }, { input: 3 }])
    const earlier = { transaction: 5, index: 1 }
    const value = requestBlock(key, encodeRequestBody([0, 1, 2], rows), transaction, [
      { row: 1, keys: { paginationKey: earlier, previous: earlier } },
      { row: 2, keys: undefined },
    ])
    const block = new RowBlock(key, value, since)
    expect(described(block.rowAt(1)!)).toBe(keyed(rows[1]!, earlier, earlier))
    expect(block.rowAt(2)).toBeUndefined()
    expect(described(block.rowAt(0)!)).toBe(keyed(rows[0]!, first))
    expectSamePrinted(block)
  })

  test('prints rows whose fields differ in their names alone', () => {
    const names = ['zeta', 'zeto', 'beta', 'zeta', 'id_x', 'id_x', 'zulu', 'zeta']
    const rows = prepared(names.map((name, i) => ({ id: `${i}`, [name]: i, metadata: { i } })))
    const numbers = rows.map((_, i) => i)
    expectSamePrinted(
      new RowBlock(key, requestBlock(key, encodeRequestBody(numbers, rows), 0, []), since),
    )
  })
})

test('a packed block gives back rows of any requests, with all their keys', () => {
  fc.assert(
    fc.property(fc.array(fields, { minLength: 1, maxLength: 40 }), (events) => {
      const key = rowVersionKey(1, { transaction, index: 0 })
      const versions = events.map((_, i) => ({ transaction: transaction + i * 1e9, index: i }))
      const earlier = { transaction: 3, index: 9 }
      const rows = prepared(events).map((bytes, i) => {
        const previous = i % 3 === 0 ? earlier : undefined
        writeRowKeys(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 0, {
          paginationKey: previous ?? versions[i]!,
          transaction: versions[i]!.transaction,
          previous,
        })
        return bytes
      })
      const block = new RowBlock(key, packedBlock(key, versions, rows), since)
      rows.forEach((row, i) => {
        const { transaction: number, index } = versions[i]!
        expect(described(block.find(versions[i]!)!)).toBe(described(new RowView(row)))
        expect(block.placeOf({ transaction: number, index })).toBe(i)
        expect(block.placeOf({ transaction: number, index: index + 1 })).toBe(i + 1)
        expect(block.placeOf({ transaction: number - 1, index: 0xffff })).toBe(i)
        expect(block.covers(versions[i]!)).toBe(true)
      })
      expectSamePrinted(block)
      const last = versions.at(-1)!
      expect(block.covers({ ...last, index: last.index + 1 })).toBe(false)
      expect(block.covers({ transaction: transaction - 1, index: 0xffff })).toBe(false)
    }),
  )
})

test('a block that an older version wrote is read', () => {
  const value = Buffer.from(olderBlock, 'base64')
  const block = new RowBlock(key, value, { transaction })
  expect(() => new RowBlock(key, value, since)).toThrow('what is stored is damaged')
  const rows = prepared([
    { input: 'older', id: 'a', span_id: 's', root_span_id: 'r' },
    { output: 'x'.repeat(300), id: 'b', span_id: 't', root_span_id: 'r' },
  ])
  rows.forEach((row, i) => {
    const version = { transaction, index: first.index + i }
    expect(described(block.find(version)!)).toBe(keyed(row, version))
  })
  expectSamePrinted(block)
})

test('a value that is no block is refused', () => {
  const value = Buffer.from(olderBlock, 'base64')
  value.fill(0xff, 20)
  expect(() => new RowBlock(key, value, undefined)).toThrow('what is stored is damaged')
  expect(() => new RowBlock(key, Buffer.from([9, 0, 0, 1]), since)).toThrow('damaged')
})

describe('a flipped bit of a value is found', () => {
  const texts = Array.from({ length: 90 }, (_, i) => ({ input: `${i} `.repeat(150), i }))
  const rows = prepared(texts)
  const numbers = rows.map((_, i) => i)
  const single = singleRow(key, rows[0]!)
  const block = requestBlock(key, encodeRequestBody(numbers, rows), transaction, [])
  const readAll = (value: Buffer, at = key) => {
    const block = new RowBlock(at, value, since)
    return Array.from({ length: block.rowCount }, (_, place) => described(block.rowAt(place)!))
  }

  test.each([
    ['of a row by itself', single],
    ['of a block', block],
  ])('%s', (_, value) => {
    expect(readAll(value)).toHaveLength(value === single ? 1 : rows.length)
    fc.assert(
      fc.property(fc.nat(value.length * 8 - 1), (bit) => {
        const damaged = Buffer.from(value)
        damaged[bit >> 3]! ^= 1 << (bit & 7)
        expect(() => readAll(damaged)).toThrow(expect.objectContaining({ code: 'STORAGE_CORRUPT' }))
      }),
      { numRuns: 500 },
    )
  })

  test('of its key', () => {
    for (let bit = 0; bit < key.length * 8; bit++) {
      const damaged = Buffer.from(key)
      damaged[bit >> 3]! ^= 1 << (bit & 7)
      for (const value of [single, block]) {
        expect(() => readAll(value, damaged)).toThrow('what is stored is damaged')
      }
    }
  })

  test('and rows in other pieces of the block are still read', () => {
    const damaged = Buffer.from(block)
    damaged[damaged.length - 20]! ^= 1
    const opened = new RowBlock(key, damaged, since)
    expect(described(opened.rowAt(0)!)).toBe(readAll(block)[0])
    expect(() => opened.rowAt(opened.rowCount - 1)).toThrow(
      `the row with _xact_id ${formatTransaction(transaction)}, place ${first.index + 89}, of the object`,
    )
  })
})

test('rows of one request in blocks see the earlier ones: merges, deletions, comments', () => {
  const records = new TemporaryRecords()
  records.insert([{ id: 'old', input: 1, tags: ['a'] }])
  records.insert([
    { id: 'new', input: 1, metadata: { x: 1 } },
    { id: 'old', _is_merge: true, tags: ['b'] },
    { id: 'new', _is_merge: true, metadata: { y: 2 } },
    { id: 'gone', input: 2 },
    { id: 'gone', _object_delete: true },
    { id: 'never', _object_delete: true },
    { id: 'new', input: 3, created: '2026-01-02T00:00:00Z' },
  ])
  expect(records.latest('old')).toMatchObject({ input: 1, tags: ['a', 'b'] })
  expect(records.latest('new')).toMatchObject({ input: 3, metadata: null })
  expect(records.latest('gone')).toBeUndefined()
  const versions = [...records.reader.readDelta(1, 0, records.reader.lastTransaction())]
  expect(versions.map(({ key, view }) => [key.index, view.isTombstone])).toEqual([
    [0, false],
    [0, false],
    [1, false],
    [2, false],
    [3, false],
    [4, true],
    [6, false],
  ])
})

test('records are printed as they are at a snapshot', () => {
  const records = new TemporaryRecords()
  const snapshots = [
    [{ id: 'a', input: 1 }],
    [
      { id: 'a', _is_merge: true, output: 2 },
      { id: 'b', input: 3 },
    ],
    [{ id: 'a', _object_delete: true }],
    [{ id: 'a', input: 4 }],
  ].map((rows) => {
    records.insert(rows)
    return records.reader.lastTransaction()
  })
  const object = { ...objects[0], number: 1 }
  const out = new ByteWriter()
  for (const snapshot of snapshots) {
    for (const id of ['a', 'b', 'c']) {
      const view = records.reader.versionAsOf(1, id, snapshot)?.view
      const expected = view && printRow(view, object)
      out.truncate(0)
      const printed = records.reader.printAsOf(object, id, snapshot, out)
      expect(printed?.paginationKey).toEqual(view?.paginationKey)
      expect(printed && out.view().toString()).toBe(expected)
    }
  }
})

test('what is decompressed for a row is kept where its owner keeps it, and made again if it does not', () => {
  const rows = prepared(Array.from({ length: 200 }, (_, i) => ({ input: `${i} `.repeat(100) })))
  const numbers = rows.map((_, i) => i)
  const value = requestBlock(key, encodeRequestBody(numbers, rows), transaction, [])
  const kept = new Map<object, Buffer>()
  const block = new RowBlock(key, value, since, kept)
  const readAll = () => rows.map((_, i) => described(block.rowAt(i, value)!))
  const expected = rows.map((row, i) => keyed(row, { transaction, index: first.index + i }))
  expectSamePrinted(new RowBlock(key, value, since, new Map()), value)
  expect(readAll()).toEqual(expected)
  expectSamePrinted(block, value)
  expect(kept.size).toBeGreaterThan(1)
  const plainBytes = rows.reduce((sum, { length }) => sum + length, 0)
  expect(block.keptBytes).toBeLessThan(plainBytes / 2)
  const forgetful = new RowBlock(key, value, since, { get: () => undefined, set: () => undefined })
  expect(rows.map((_, i) => described(forgetful.rowAt(i, value)!))).toEqual(expected)
})

describe('of a long row, within a turn', () => {
  const object = {
    type: 'project_logs',
    id: 'P',
    projectId: 'P',
    organizationId: 'O',
  } as const
  const text = 'lorem ipsum dolor sit amet '.repeat((16 * turnBytes) / 27)
  const [short, long] = prepared([{ input: 'short' }, { input: text }]) as [Uint8Array, Uint8Array]
  const block = requestBlock(key, encodeRequestBody([0, 1], [short, long]), undefined, [])
  const value = singleRow(key, long)

  test.each<[string, () => unknown]>([
    ['the block is not decompressed', () => new RowBlock(key, block, since).rowAt(1)],
    [
      'the block is not printed',
      () => new RowBlock(key, block, since).printAt(1, object, new ByteWriter(), true),
    ],
    ['the row is not looked at', () => new RowBlock(key, value, since).rowAt(0)],
  ])('%s', (_, work) => {
    const before = process.memoryUsage().arrayBuffers
    let thrown: unknown
    try {
      limitTurn(work)
    } catch (error) {
      thrown = error
    }
    expect(isTurnLimit(thrown)).toBe(true)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * turnBytes)
    work()
  })
})
