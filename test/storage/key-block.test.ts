import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteWriter } from '../../src/json/byte-writer.ts'
import { evictRows, noteEvicted } from '../../src/storage/maintenance/evict-rows.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { rowVersionKey } from '../../src/storage/record-key.ts'
import { buildEvictedRow } from '../../src/storage/row/evicted-row.ts'
import { RowView, rowFlags } from '../../src/storage/row/row.ts'
import { hasKeysAlone, packedBlock, RowBlock } from '../../src/storage/row/row-block.ts'
import { RowBuilder } from '../../src/storage/row/row-builder.ts'
import { compareRowKeys, type RowKey } from '../../src/type/transaction.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { temporarySegments } from '../support/temporary-segments.ts'

interface KeptRow {
  readonly version: RowKey
  readonly paginationKey: RowKey
  readonly previous: RowKey | undefined
  readonly transaction: number
  readonly flags: number
  readonly trace: string | null
}

const object = 7

function built({ paginationKey, previous, transaction, flags, trace }: KeptRow): RowView {
  const builder = new RowBuilder(new ByteWriter())
  builder.begin()
  if (trace !== null) builder.text('root_span_id', JSON.stringify(trace))
  builder.text('id', '"some id"')
  builder.text('input', '"some text"')
  builder.finish({ flags, createdMs: 5, paginationKey, transaction, previous })
  return new RowView(Buffer.from(builder.out.view()))
}

/** The row, or what is kept of it unless it is a deletion. */
function keptOf(row: KeptRow): RowView {
  const view = built(row)
  if (view.isTombstone) return view
  const builder = new RowBuilder(new ByteWriter())
  buildEvictedRow(view, builder)
  return new RowView(Buffer.from(builder.out.view()))
}

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each) => Buffer.from(each).toString('hex'))
const trace = fc.oneof(
  fc.constantFrom('a', 'b', null),
  hex(16),
  hex(8),
  fc.uuid(),
  fc.string({ unit: 'binary' }),
)
const key = (most: RowKey) =>
  fc.record({
    transaction: fc.integer({ min: 1, max: most.transaction }),
    index: fc.integer({ min: 0, max: 0xffff }),
  })
const rowOf = (version: RowKey) =>
  fc.record({
    version: fc.constant(version),
    paginationKey: fc.oneof(fc.constant(version), key(version)),
    previous: fc.oneof(fc.constant(undefined), key(version)),
    transaction: fc
      .constantFrom(0, 0, 0, 1, 70_000)
      .map((further) => version.transaction + further),
    flags: fc.constantFrom(0, 2, 4, 12, 16, rowFlags.tombstone),
    trace,
  })
const versions = fc
  .array(
    fc.tuple(fc.constantFrom(0, 0, 0, 1, 2 ** 20, 2 ** 33), fc.constantFrom(1, 1, 1, 7, 4000)),
    { minLength: 1, maxLength: 60 },
  )
  .map((steps) => {
    let version: RowKey = { transaction: 2 ** 40, index: 3 }
    return steps.map(([transactions, rows]) => {
      const { transaction, index } = version
      const next = transactions === 0 && index + rows <= 0xffff ? index + rows : rows
      const further = next === rows ? Math.max(1, transactions) : transactions
      version = { transaction: transaction + further, index: next }
      return version
    })
  })

describe('a block of keys', () => {
  it('gives back what is kept of rows, and deletions as they are', () => {
    const rows = versions.chain((all) => fc.tuple(...all.map(rowOf)))
    fc.assert(
      fc.property(rows, (all) => {
        const kept = all.map(keptOf)
        if (!kept.some((view) => view.isEvicted)) return
        const first = rowVersionKey(object, all[0]!.version)
        const value = packedBlock(
          first,
          all.map(({ version }) => version),
          kept.map(({ bytes }) => bytes),
        )
        expect(hasKeysAlone(value)).toBe(true)
        const block = new RowBlock(first, value, { transaction: 1 })
        expect(block.rowCount).toBe(all.length)
        for (const [place, { version, trace: traced }] of all.entries()) {
          const view = block.rowAt(place)!
          expect(compareRowKeys(block.versionAt(place), version)).toBe(0)
          expect(block.isEvicted(place)).toBe(!view.isTombstone)
          expect(view.bytes).toEqual(kept[place]!.bytes)
          expect(view.fieldText('root_span_id') ?? null).toBe(
            traced === null ? null : JSON.stringify(traced),
          )
          expect(block.find(version)?.bytes).toEqual(view.bytes)
        }
      }),
    )
  })

  it('takes some bytes a row', () => {
    const rows = Array.from({ length: 4000 }, (_, i): KeptRow => {
      const version = { transaction: 2 ** 40, index: i }
      const traced = Buffer.alloc(16, String(Math.floor(i / 8) * 7919)).toString('hex')
      const { transaction } = version
      return {
        version,
        paginationKey: version,
        previous: undefined,
        transaction,
        flags: 0,
        trace: traced,
      }
    })
    const first = rowVersionKey(object, rows[0]!.version)
    const value = packedBlock(
      first,
      rows.map(({ version }) => version),
      rows.map((row) => keptOf(row).bytes),
    )
    expect(value.length / rows.length).toBeLessThan(4)
  })
})

describe('rows of which an earlier version of Assay has kept ids, too', () => {
  const { values, rows } = JSON.parse(
    readFileSync(new URL('./kept-members.json', import.meta.url), 'utf8'),
  ) as {
    readonly values: readonly { readonly key: string; readonly value: string }[]
    readonly rows: readonly (KeptRow & { readonly id: string })[]
  }

  function stored(): TemporaryRecords {
    const records = new TemporaryRecords()
    for (const { key, value } of values) {
      records.environment.rows.putSync(Buffer.from(key, 'hex'), Buffer.from(value, 'base64'))
    }
    return records
  }

  function keptIn({ environment }: TemporaryRecords) {
    environment.root.resetReadTxn()
    return [...new RecordReader(environment).keptDelta(1, 0, 2 ** 48 - 2)].map(
      ({ key: version, view }) => {
        const { paginationKey, previous, flags, transaction } = view
        const text = view.fieldText('root_span_id')
        const traced = text === undefined ? null : (JSON.parse(text) as string)
        return { version, paginationKey, previous, flags, transaction, trace: traced }
      },
    )
  }

  it('are read, and are packed closer with the next that leave', () => {
    const records = stored()
    const expected = rows.map(({ id: _, previous, ...row }) => ({ ...row, previous }))
    expect(keptIn(records)).toEqual(expected)
    const { environment } = records
    const store = temporarySegments(records.directory)
    const { transaction } = rows.at(-1)!.version
    store.commit(
      store.manifest(),
      { flushedThrough: transaction, nextSegment: 1, segments: [] },
      undefined,
    )
    noteEvicted(environment, store, { through: transaction, database: 'main/assay' })
    while (!evictRows(environment, store));
    expect(keptIn(records)).toEqual(expected)
    const left = [...environment.rows.getRange()]
    expect(left.map(({ value }) => hasKeysAlone(value))).toEqual([true])
  })
})
