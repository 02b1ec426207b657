import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compact } from '../../src/storage/compaction.ts'
import { chooseCompaction } from '../../src/storage/compaction-policy.ts'
import { flush } from '../../src/storage/flush.ts'
import type { ManifestSegment } from '../../src/storage/manifest.ts'
import { defaultLimits, type SegmentLimits } from '../../src/storage/segment-sink.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments, visibleAt } from '../support/temporary-segments.ts'

const limits: SegmentLimits = { rows: 64, rowBytes: 1e9 }

/** What the policy looks at of a segment. */
function segment(id: number, rowCount: number, object = 1, pagination = id): ManifestSegment {
  const key = { transaction: pagination, index: 0 }
  const objects = [
    {
      object,
      from: 0,
      to: rowCount,
      firstPagination: key,
      lastPagination: key,
      firstTransaction: pagination,
      lastTransaction: pagination,
      firstCreated: null,
      lastCreated: null,
    },
  ]
  return {
    id,
    metadata: {
      format: 1,
      rowCount,
      byteLength: rowCount,
      rowBytes: rowCount,
      firstTransaction: pagination,
      lastTransaction: pagination,
      objects,
      keys: {},
      columns: [],
    },
  }
}

describe('the compaction policy', () => {
  it('waits for four segments of a tier', () => {
    const segments = [1, 2, 3].map((id) => segment(id, 3))
    expect(chooseCompaction(segments, { limits })).toBeUndefined()
    expect(chooseCompaction([...segments, segment(4, 2)], { limits })).toEqual([1, 2, 3, 4])
    expect(chooseCompaction([...segments, segment(4, 20)], { limits })).toBeUndefined()
  })

  it('leaves full segments alone', () => {
    const full = Array.from({ length: 9 }, (_, i) => segment(i + 1, 32))
    expect(chooseCompaction(full, { limits })).toBeUndefined()
    expect(chooseCompaction(full, { limits, eager: true })).toBeUndefined()
  })

  it('merges no more than fits into one segment', () => {
    const segments = Array.from({ length: 9 }, (_, i) => segment(i + 1, 12))
    expect(chooseCompaction(segments, { limits })).toEqual([1, 2, 3, 4, 5])
  })

  it('merges neighbours in the order of rows', () => {
    const segments = [
      segment(1, 3, 2, 10),
      segment(2, 3, 1, 30),
      segment(3, 3, 1, 10),
      segment(4, 3, 1, 20),
      segment(5, 30, 1, 5),
      segment(6, 3, 2, 5),
    ]
    expect(chooseCompaction(segments, { limits })).toEqual([3, 4, 2, 6, 1])
  })

  it('merges whatever fits when it is eager', () => {
    const segments = [segment(1, 31), segment(2, 30), segment(3, 1)]
    expect(chooseCompaction(segments, { limits })).toBeUndefined()
    expect(chooseCompaction(segments, { limits, eager: true })).toEqual([1, 2, 3])
    expect(chooseCompaction([segment(1, 1)], { limits, eager: true })).toBeUndefined()
  })

  it('goes by bytes when they are what fills a segment', () => {
    const large = [1, 2, 3, 4].map((id) => segment(id, 20))
    const options = { limits: { rows: 1e6, rowBytes: 40 } }
    expect(chooseCompaction(large, options)).toBeUndefined()
  })

  it('comes to an end with few segments, rewriting a row seldom', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(sizes, fc.boolean(), (rowCounts, eager) => {
        let segments: ManifestSegment[] = []
        let rewritten = 0
        let nextId = 1
        const compactAll = (isEager: boolean) => {
          for (;;) {
            const ids = chooseCompaction(segments, { limits, eager: isEager })
            if (ids === undefined) return
            expect(ids.length).toBeGreaterThanOrEqual(2)
            const merged = segments.filter(({ id }) => ids.includes(id))
            const rows = merged.reduce((sum, { metadata }) => sum + metadata.rowCount, 0)
            expect(rows).toBeLessThanOrEqual(limits.rows)
            rewritten += rows
            const first = Math.min(...merged.map(({ metadata }) => metadata.firstTransaction))
            segments = segments.filter(({ id }) => !ids.includes(id))
            segments.push(segment(nextId++, rows, 1, first))
          }
        }
        for (const [i, rowCount] of rowCounts.entries()) {
          segments.push(segment(nextId++, rowCount, 1, i))
          compactAll(false)
        }
        const total = rowCounts.reduce((sum, rowCount) => sum + rowCount, 0)
        expect(rewritten).toBeLessThanOrEqual(total * 5)
        expect(segments.length).toBeLessThanOrEqual(total / (limits.rows / 2) + 5 * 4)
        if (eager) compactAll(true)
      }),
    )
  })
})

describe('compaction', () => {
  /** Three requests about some records, each flushed on its own. */
  function threeFlushes() {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const snapshots: number[] = []
    const write = (rows: readonly object[], object = 1) => {
      records.insert(rows, object)
      snapshots.push(records.reader.lastTransaction())
      flush(records.environment, store, defaultLimits)
    }
    write([{ id: 'a', input: 1 }, { id: 'b' }, { id: 'c', rare: { x: [1] } }])
    write([{ id: 'a', input: 2 }, { id: 'd' }])
    write([{ id: 'e' }], 2)
    write([
      { id: 'b', _object_delete: true },
      { id: 'a', input: 3 },
    ])
    return { records, store, snapshots }
  }

  it('keeps every version and every answer', () => {
    const { records, store, snapshots } = threeFlushes()
    const before = store.manifest()
    const answers = snapshots.map((at) => visibleAt(records.reader, store, before, at, [1, 2]))
    const rows = rowsOfSegments(store, before)
    const manifest = compact(records.environment, store, [1, 2, 3, 4], { limits: defaultLimits })
    expect(manifest.segments.map(({ id }) => id)).toEqual([5])
    expect(manifest.flushedThrough).toBe(before.flushedThrough)
    expect(rowsOfSegments(store, manifest)).toEqual(rows)
    expect(snapshots.map((at) => visibleAt(records.reader, store, manifest, at, [1, 2]))).toEqual(
      answers,
    )
    // Queries that began before still find what they read.
    expect(rowsOfSegments(store, before)).toEqual(rows)
  })

  it('makes disjoint segments of overlapping ones', () => {
    const { records, store } = threeFlushes()
    const options = { limits: { rows: 2, rowBytes: 1e9 } }
    const { segments } = compact(records.environment, store, [4, 1, 2], options)
    const ranges = segments
      .filter(({ id }) => id > 4)
      .flatMap(({ metadata }) => metadata.objects)
      .map(({ firstPagination, lastPagination }) => [firstPagination, lastPagination])
    const bounds = ranges.flat().map(({ transaction, index }) => transaction * 65_536 + index)
    expect(bounds).toEqual([...bounds].sort((a, b) => a - b))
    expect(segments.map(({ id }) => id)).toEqual([3, 5, 6, 7])
  })

  it('drops what was superseded when it is told to', () => {
    const { records, store, snapshots } = threeFlushes()
    const manifest = compact(records.environment, store, [1, 2, 3, 4], {
      limits: defaultLimits,
      dropSupersededBefore: snapshots[1]!,
    })
    expect(rowsOfSegments(store, manifest).map(({ id }) => id)).toEqual([
      'a',
      'a',
      'b',
      'c',
      'd',
      'e',
    ])
    for (const at of snapshots.slice(1)) {
      expect(visibleAt(records.reader, store, manifest, at, [1, 2]).length).toBeGreaterThan(0)
    }
    const all = compact(records.environment, store, [5], {
      limits: defaultLimits,
      dropSupersededBefore: snapshots[3]!,
    })
    expect(rowsOfSegments(store, all).map(({ id }) => id)).toEqual(['a', 'c', 'd', 'e'])
  })

  it('leaves no segment when nothing is kept', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a' }])
    flush(records.environment, store, defaultLimits)
    records.insert([{ id: 'a', _object_delete: true }])
    const dropSupersededBefore = records.reader.lastTransaction()
    const manifest = compact(records.environment, store, [1], {
      limits: defaultLimits,
      dropSupersededBefore,
    })
    expect(manifest.segments).toEqual([])
    expect(store.manifest()).toEqual(manifest)
  })
})
