import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compact } from '../../src/storage/maintenance/compaction.ts'
import {
  type CompactionOptions,
  chooseCompaction,
} from '../../src/storage/maintenance/compaction-policy.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { runStep } from '../../src/storage/maintenance/maintenance-step.ts'
import type { ManifestSegment } from '../../src/storage/segment/manifest.ts'
import { defaultLimits, type SegmentLimits } from '../../src/storage/segment/segment-sink.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments, visibleAt } from '../support/temporary-segments.ts'

const limits: SegmentLimits = { rows: 64, rowBytes: 1e9 }

/** As when there are many small segments. */
const toFull = { limits, mostSmall: 0 }

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
  it('waits until neighbours are three times as large as the largest of them', () => {
    const segments = [segment(1, 4), segment(2, 3)]
    expect(chooseCompaction(segments, toFull)).toBeUndefined()
    expect(chooseCompaction([...segments, segment(3, 4)], toFull)).toBeUndefined()
    expect(chooseCompaction([...segments, segment(3, 4), segment(4, 1)], toFull)).toEqual([
      1, 2, 3, 4,
    ])
    expect(chooseCompaction([...segments, segment(3, 20)], toFull)).toBeUndefined()
  })

  it('merges segments of superseded versions with each other alone', () => {
    const past = (id: number, rowCount: number) => {
      const { metadata } = segment(id, rowCount)
      return { id, metadata: { ...metadata, supersededThrough: 9 } }
    }
    const segments = [segment(1, 4), past(2, 3), segment(3, 4), past(4, 4)]
    expect(chooseCompaction(segments, toFull)).toBeUndefined()
    expect(chooseCompaction([...segments, segment(5, 4)], toFull)).toEqual([1, 3, 5])
    expect(chooseCompaction([...segments, past(6, 5), past(7, 5)], toFull)).toEqual([2, 4, 6, 7])
  })

  it('does not wait for more where neighbours nearly make a full one', () => {
    const segments = [segment(1, 31), segment(2, 1), segment(3, 15)]
    expect(chooseCompaction(segments, toFull)).toBeUndefined()
    expect(chooseCompaction([...segments, segment(4, 1)], toFull)).toEqual([1, 2, 3, 4])
  })

  it('never merges around a full segment', () => {
    const small = (id: number) => segment(id, 3, 1, id)
    const segments = [small(1), small(2), segment(3, 63), small(4), small(5)]
    // The two before it were written before it; those after it may become more.
    expect(chooseCompaction(segments, toFull)).toEqual([1, 2])
    const merged = [segment(6, 6, 1, 1), ...segments.slice(2)]
    expect(chooseCompaction(merged, toFull)).toBeUndefined()
    expect(chooseCompaction([...merged, small(7)], toFull)).toEqual([4, 5, 7])
  })

  it('leaves nothing small between full segments that have room for it', () => {
    const full = (id: number, rows: number) => segment(id, rows, 1, id)
    const segments = [full(1, 40), segment(2, 4, 1, 2), full(3, 40)]
    expect(chooseCompaction(segments.slice(0, 2), toFull)).toBeUndefined()
    expect(chooseCompaction(segments, toFull)).toEqual([1, 2])
    const [, small, after] = segments
    expect(chooseCompaction([full(1, 64), small!, after!], toFull)).toEqual([2, 3])
    expect(chooseCompaction([full(1, 64), small!, full(3, 64)], toFull)).toBeUndefined()
  })

  it('lets rows that were written late wait for others like them', () => {
    const late = (id: number) => {
      const { metadata } = segment(id, 2, 1, 2)
      return {
        id,
        metadata: { ...metadata, firstTransaction: 100 + id, lastTransaction: 100 + id },
      }
    }
    const full = [segment(1, 40, 1, 1), segment(3, 40, 1, 3)]
    expect(chooseCompaction([...full, late(4), late(5)], toFull)).toBeUndefined()
    expect(chooseCompaction([...full, late(4), late(5), late(6)], toFull)).toEqual([4, 5, 6])
  })

  it('leaves full segments alone', () => {
    const full = Array.from({ length: 9 }, (_, i) => segment(i + 1, 32))
    expect(chooseCompaction(full, toFull)).toBeUndefined()
    expect(chooseCompaction(full, { ...toFull, eager: true })).toBeUndefined()
  })

  it('merges no more than fits into one segment', () => {
    const segments = Array.from({ length: 9 }, (_, i) => segment(i + 1, 12))
    expect(chooseCompaction(segments, toFull)).toEqual([1, 2, 3, 4, 5])
  })

  it('merges neighbours in the order of rows', () => {
    const segments = [
      segment(1, 3, 2, 10),
      segment(2, 3, 1, 30),
      segment(3, 3, 1, 10),
      segment(4, 3, 1, 20),
      segment(5, 40, 1, 5),
      segment(6, 3, 2, 5),
    ]
    expect(chooseCompaction(segments, toFull)).toEqual([3, 4, 2, 6, 1])
  })

  it('merges whatever fits when it is eager', () => {
    const segments = [segment(1, 20), segment(2, 5), segment(3, 1)]
    expect(chooseCompaction(segments, toFull)).toBeUndefined()
    expect(chooseCompaction(segments, { ...toFull, eager: true })).toEqual([1, 2, 3])
    const withFull = [segment(1, 40), segment(2, 1)]
    expect(chooseCompaction(withFull, toFull)).toBeUndefined()
    expect(chooseCompaction(withFull, { ...toFull, eager: true })).toEqual([1, 2])
    expect(chooseCompaction([segment(1, 1)], { ...toFull, eager: true })).toBeUndefined()
  })

  it('goes by bytes when they are what fills a segment', () => {
    const large = [1, 2, 3, 4].map((id) => segment(id, 20))
    const options = { limits: { rows: 1e6, rowBytes: 40 }, mostSmall: 0 }
    expect(chooseCompaction(large, options)).toBeUndefined()
  })

  it('makes segments of half the size, and full ones of them when they are many', () => {
    const few = Array.from({ length: 8 }, (_, i) => segment(i + 1, 10))
    const options = { limits, mostSmall: 8 }
    expect(chooseCompaction(few, options)).toEqual([1, 2, 3])
    const quarters = Array.from({ length: 9 }, (_, i) => segment(i + 1, 16))
    expect(chooseCompaction(quarters.slice(1), options)).toBeUndefined()
    expect(chooseCompaction(quarters, options)).toEqual([1, 2, 3, 4])
    expect(chooseCompaction(quarters, { ...options, onlySmall: true })).toBeUndefined()
    expect(chooseCompaction(quarters.slice(1), { ...options, eager: true })).toEqual([2, 3, 4, 5])
  })

  it('merges the oldest of those that are about alike', () => {
    const sizes = [13, 12, 11, 12, 13, 12, 11, 10]
    const segments = sizes.map((rows, i) => segment(i + 1, rows))
    expect(chooseCompaction(segments, toFull)).toEqual([1, 2, 3, 4, 5])
  })

  it('comes to an end with few segments, rewriting a row seldom', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(
        sizes,
        fc.nat(9),
        fc.boolean(),
        fc.boolean(),
        (rowCounts, mostSmall, onlySmall, eager) => {
          let segments: ManifestSegment[] = []
          let rewritten = 0
          let nextId = 1
          const compactAll = (how: Partial<CompactionOptions>) => {
            for (;;) {
              const ids = chooseCompaction(segments, { limits, mostSmall, ...how })
              if (ids === undefined) return
              expect(ids.length).toBeGreaterThanOrEqual(2)
              const merged = segments.filter(({ id }) => ids.includes(id))
              const rows = merged.reduce((sum, { metadata }) => sum + metadata.rowCount, 0)
              expect(rows).toBeLessThanOrEqual(limits.rows)
              rewritten += rows
              const first = Math.min(...merged.map(({ metadata }) => metadata.firstTransaction))
              const last = Math.max(...merged.map(({ metadata }) => metadata.lastTransaction))
              const between = segments.filter(({ metadata: { firstTransaction } }) => {
                return firstTransaction >= first && firstTransaction <= last
              })
              expect(between).toHaveLength(merged.length)
              segments = segments.filter(({ id }) => !ids.includes(id))
              const { metadata } = segment(0, rows, 1, first)
              segments.push({ id: nextId++, metadata: { ...metadata, lastTransaction: last } })
            }
          }
          for (const [i, rowCount] of rowCounts.entries()) {
            segments.push(segment(nextId++, rowCount, 1, i))
            compactAll({ onlySmall })
          }
          compactAll({})
          const total = rowCounts.reduce((sum, rowCount) => sum + rowCount, 0)
          expect(rewritten).toBeLessThanOrEqual(total * 5)
          expect(segments.length).toBeLessThanOrEqual(total / (limits.rows / 2) + 5 * 4 + mostSmall)
          if (eager) compactAll({ eager })
        },
      ),
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
    expect(manifest.segments.map(({ id }) => id)).toEqual([5, 6])
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
      .filter(({ id, metadata }) => id > 4 && metadata.supersededThrough === undefined)
      .flatMap(({ metadata }) => metadata.objects)
      .map(({ firstPagination, lastPagination }) => [firstPagination, lastPagination])
    const bounds = ranges.flat().map(({ transaction, index }) => transaction * 65_536 + index)
    expect(bounds).toEqual([...bounds].sort((a, b) => a - b))
    expect(ranges).toHaveLength(2)
    expect(segments.map(({ id }) => id)).toEqual([3, 5, 6, 7, 8])
  })

  it('leaves nothing behind when it is given up', () => {
    const { records, store } = threeFlushes()
    const before = store.manifest()
    const small = { rows: 1, rowBytes: 1e9 }
    let left = 0
    const checkpoint = () => {
      if (left-- === 0) throw new Error('given up')
    }
    const compactUntil = (checkpoints: number) => {
      left = checkpoints
      return compact(records.environment, store, [1, 2, 3, 4], { limits: small, checkpoint })
    }
    // Some paths of each of the segments that are made.
    for (let checkpoints = 0; checkpoints < 20; checkpoints++) {
      expect(() => compactUntil(checkpoints)).toThrow('given up')
      expect(store.manifest()).toEqual(before)
      expect(store.storedIds()).toEqual([1, 2, 3, 4])
    }
    expect(compactUntil(1000).segments).toHaveLength(7)
  })

  it('puts superseded versions into segments of their own', () => {
    const { records, store, snapshots } = threeFlushes()
    const options = { limits: defaultLimits }
    const { segments } = compact(records.environment, store, [1, 2, 3, 4], options)
    const [current, past] = segments.map((segment) => ({
      ...store.manifest(),
      segments: [segment],
    }))
    expect(rowsOfSegments(store, current!).map(({ id }) => id)).toEqual(['a', 'c', 'd', 'e'])
    expect(rowsOfSegments(store, past!).map(({ id }) => id)).toEqual(['a', 'a', 'b'])
    const [written, updated, , deleted] = snapshots
    expect(segments[0]!.metadata).toMatchObject({ currentThrough: deleted })
    expect(segments[0]!.metadata.supersededThrough).toBeUndefined()
    expect(segments[1]!.metadata).toMatchObject({ supersededThrough: deleted })
    const { supersededBy } = store.open(segments[1]!.id).keys
    expect([...supersededBy!]).toEqual([updated, deleted, deleted])
    expect(written).toBeLessThan(updated!)
  })

  it('keeps by what versions were superseded when segments of them are merged', () => {
    const { records, store, snapshots } = threeFlushes()
    const options = { limits: defaultLimits }
    compact(records.environment, store, [1], options)
    compact(records.environment, store, [2], options)
    const before = store.manifest()
    const past = before.segments.filter(({ metadata }) => metadata.supersededThrough !== undefined)
    expect(past).toHaveLength(2)
    const ids = past.map(({ id }) => id)
    const { segments } = compact(records.environment, store, ids, options)
    const merged = segments.at(-1)!
    expect(merged.metadata.supersededThrough).toBe(snapshots[3])
    const { supersededBy } = store.open(merged.id).keys
    expect([...supersededBy!]).toEqual([snapshots[1], snapshots[3], snapshots[3]])
  })

  it('leaves segments of the past alone when all records were deleted', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a' }])
    flush(records.environment, store, defaultLimits)
    records.insert([{ id: 'a', _object_delete: true }])
    const { segments } = compact(records.environment, store, [1], { limits: defaultLimits })
    expect(segments.map(({ metadata }) => metadata.supersededThrough)).toEqual([
      records.reader.lastTransaction(),
    ])
  })

  it('leaves no segment when nothing is kept', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    records.insert([{ id: 'a' }])
    flush(records.environment, store, defaultLimits)
    const manifest = compact(records.environment, store, [1], {
      limits: defaultLimits,
      withoutObjects: new Set([1]),
    })
    expect(manifest.segments).toEqual([])
    expect(store.manifest()).toEqual(manifest)
  })

  it('writes a full segment anew once a quarter of its rows was updated or deleted', () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const full: SegmentLimits = { rows: 8, rowBytes: 1e9 }
    const step = { kind: 'compact', limits: full, eager: false } as const
    const compactOnce = () => runStep(step, records.environment, store)
    records.insert(Array.from({ length: 8 }, (_, i) => ({ id: `r${i}` })))
    flush(records.environment, store, full)
    expect(compactOnce()).toBe(false)
    records.insert([{ id: 'r1', input: 1 }])
    flush(records.environment, store, full)
    expect(compactOnce()).toBe(false)
    records.insert([{ id: 'r2', _object_delete: true }])
    flush(records.environment, store, full)
    expect(compactOnce()).toBe(true)
    const rowCounts = store.manifest().segments.map(({ metadata }) => metadata.rowCount)
    expect(rowCounts).toEqual([1, 6, 2])
    expect(compactOnce()).toBe(false)
  })
})
