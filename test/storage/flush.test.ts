import { describe, expect, it } from 'vitest'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { runStep } from '../../src/storage/maintenance/maintenance-step.ts'
import { mappedBytes } from '../../src/storage/segment/layout.ts'
import { emptyManifest } from '../../src/storage/segment/manifest.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { pathReader, stored } from '../../src/vector/read-column.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments, visibleAt } from '../support/temporary-segments.ts'

function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

describe('flush', () => {
  it('puts the delta into a segment and moves the mark', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    expect(store.manifest()).toEqual(emptyManifest)
    records.insert([{ id: 'a' }, { id: 'b' }])
    records.insert([{ id: 'c' }], 2)
    const manifest = flush(records.environment, store, defaultLimits)
    expect(manifest).toMatchObject({
      generation: 1,
      flushedThrough: records.reader.lastTransaction(),
      nextSegment: 2,
      segments: [{ id: 1, metadata: { rowCount: 3 } }],
    })
    expect(store.manifest()).toEqual(manifest)
    expect(idsOf(rowsOfSegments(store, manifest))).toEqual(['a', 'b', 'c'])
    expect(manifest.segments[0]!.metadata.objects.map(({ object }) => object)).toEqual([1, 2])
  })

  it('does nothing when there is nothing new', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a' }])
    const manifest = flush(records.environment, store, defaultLimits)
    expect(flush(records.environment, store, defaultLimits)).toEqual(manifest)
  })

  it('keeps superseded versions and leaves out deletions', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a', input: 1 }, { id: 'b' }])
    const before = records.reader.lastTransaction()
    records.insert([{ id: 'a', input: 2 }])
    records.insert([{ id: 'b', _object_delete: true }])
    const now = records.reader.lastTransaction()
    const visible = [before, now].map((at) =>
      visibleAt(records.reader, store, store.manifest(), at),
    )
    const manifest = flush(records.environment, store, defaultLimits)
    expect(idsOf(rowsOfSegments(store, manifest))).toEqual(['a', 'a', 'b'])
    expect([before, now].map((at) => visibleAt(records.reader, store, manifest, at))).toEqual(
      visible,
    )
    expect(visible.map((rows) => rows.length)).toEqual([2, 1])
  })

  it('moves the mark past transactions that only delete', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a' }])
    flush(records.environment, store, defaultLimits)
    records.insert([{ id: 'a', _object_delete: true }])
    const manifest = flush(records.environment, store, defaultLimits)
    expect(manifest.segments.length).toBe(1)
    expect(manifest.flushedThrough).toBe(records.reader.lastTransaction())
    expect(visibleAt(records.reader, store, manifest, manifest.flushedThrough)).toEqual([])
  })

  it('cuts segments by rows and by bytes', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert(Array.from({ length: 10 }, (_, i) => ({ id: `${i}`, input: 'x'.repeat(1000) })))
    const byRows = flush(records.environment, store, { rows: 4, rowBytes: 1e9 })
    expect(byRows.segments.map(({ metadata }) => metadata.rowCount)).toEqual([4, 4, 2])
    records.insert(Array.from({ length: 10 }, (_, i) => ({ id: `n${i}`, input: 'x'.repeat(1000) })))
    const byBytes = flush(records.environment, store, { rows: 1e6, rowBytes: 5000 })
    expect(byBytes.segments.slice(3).every(({ metadata }) => metadata.rowBytes <= 5000)).toBe(true)
    expect(new Set(idsOf(rowsOfSegments(store, byBytes))).size).toBe(20)
    expect(byBytes.segments.map(({ id }) => id)).toEqual(byBytes.segments.map((_, i) => i + 1))
  })

  it('leaves a record that is far too long to the row store', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([
      { id: 'small', input: 'x' },
      { id: 'large', input: 'y'.repeat(40 * 2 ** 20), metadata: { a: 1 } },
    ])
    const manifest = flush(records.environment, store, defaultLimits)
    expect(manifest.segments[0]!.metadata.byteLength).toBeLessThan(2 ** 20)
    const set = store.open(1)
    expect([0, 1].map(pathReader(set, ['input']))).toEqual(['x', stored])
    expect([0, 1].map(pathReader(set, ['metadata', 'a']))).toEqual([null, 1])
  })

  it('keeps the rows of a request of several transactions together', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'first' }])
    records.insert(Array.from({ length: 70_000 }, (_, i) => ({ id: `${i}` })))
    const manifest = flush(records.environment, store, defaultLimits)
    expect(manifest.segments[0]!.metadata.rowCount).toBe(70_001)
    expect(manifest.segments[0]!.metadata.byteLength).toBeGreaterThanOrEqual(mappedBytes)
    const { keys, rowCount } = store.open(1)
    expect(keys.shownTransaction![rowCount - 1]).toBe(manifest.flushedThrough)
    expect(keys.transaction[1]).toBeLessThan(manifest.flushedThrough)
    expect(keys.shownTransaction![1]).toBe(manifest.flushedThrough)
    // Read where LMDB has mapped it, and not from a copy.
    expect(keys.transaction.buffer.byteLength).toBeGreaterThan(2 ** 30)
  })

  it('counts for nothing when it is cut short, and is done again', () => {
    const records = new TemporaryRecords()
    const segments = openSegments(records.directory, { readOnly: false })
    const store = new SegmentStore(segments)
    records.insert([{ id: 'a' }])
    const old = flush(records.environment, store, defaultLimits)
    records.insert(Array.from({ length: 10 }, (_, i) => ({ id: `n${i}` })))
    class CutShort extends SegmentStore {
      override commit(): never {
        throw new Error('killed')
      }
    }
    const cutShort = new CutShort(segments)
    expect(() => flush(records.environment, cutShort, { rows: 3, rowBytes: 1e9 })).toThrow('killed')

    expect(store.manifest()).toEqual(old)
    expect(store.storedIds()).toEqual([1, 2, 3, 4])
    expect(runStep({ kind: 'recover' }, records.environment, store)).toBe(true)
    expect(store.storedIds()).toEqual([1])
    const manifest = flush(records.environment, store, { rows: 3, rowBytes: 1e9 })
    expect(idsOf(rowsOfSegments(store, manifest)).length).toBe(11)
    expect(runStep({ kind: 'recover' }, records.environment, store)).toBe(false)
    return closeSegments(segments)
  })

  it('tells which segments are missing, and counts them', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a' }])
    flush(records.environment, store, defaultLimits)
    store.remove([1])
    expect(() => store.open(1)).toThrow('segment 1 cannot be read: it is not there')
    expect(store.manifest()).toMatchObject({ segments: [], unreadable: [1] })
  })
})
