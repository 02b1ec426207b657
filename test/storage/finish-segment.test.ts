import { expect, it } from 'vitest'
import { finishSegment } from '../../src/storage/finish-segment.ts'
import type { Manifest } from '../../src/storage/manifest.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { defaultLimits } from '../../src/storage/segment-sink.ts'
import { manifestSegment, type SegmentStore } from '../../src/storage/segment-store.ts'
import { shred } from '../../src/storage/shred.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments } from '../support/temporary-segments.ts'

/** So many bytes of rows make a segment large. */
const largeBytes = 2 ** 22

/** A segment of a hundred rows, written as if they had so many bytes. */
function flushed(records: TemporaryRecords, store: SegmentStore, rowBytes: number): Manifest {
  const words = Array.from({ length: 150 }, (_, i) => `word${i % 40}`).join(' ')
  records.insert(
    Array.from({ length: 100 }, (_, i) => ({ id: `row ${i}`, output: `${i} ${words}` })),
  )
  const { reader } = records
  const through = reader.lastTransaction()
  const rows = Array.from(reader.readDelta(1, 0, through), ({ key, view }) => {
    return { object: 1, version: key, row: view }
  })
  const segment = { id: 1, ...writeSegment(shred(rows), rowBytes) }
  const change = {
    flushedThrough: through,
    nextSegment: 2,
    segments: [manifestSegment(segment)],
  }
  return store.commit(store.manifest(), change, segment)
}

it('a large segment has its words indexed once it is finished, and the same rows', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const before = flushed(records, store, largeBytes)
  expect(before.segments[0]!.metadata.wordIndexes).toBeUndefined()
  const rows = rowsOfSegments(store, before)

  expect(finishSegment(records.environment, store, defaultLimits)).toBe(true)
  const after = store.manifest()
  expect(after.segments).toMatchObject([{ id: 2, metadata: { isFinished: true } }])
  expect(after.segments[0]!.metadata.wordIndexes).toMatchObject([{ path: ['output'] }])
  expect(rowsOfSegments(store, after)).toEqual(rows)

  expect(finishSegment(records.environment, store, defaultLimits)).toBe(false)
  expect(store.manifest().generation).toBe(after.generation)
})

it('a small segment is left for others to be merged with', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  flushed(records, store, largeBytes - 1)
  expect(finishSegment(records.environment, store, defaultLimits)).toBe(false)
})

it('what is given up has changed nothing, and is done another time', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const before = flushed(records, store, largeBytes)
  const giveUp = () => {
    throw new Error('closing')
  }
  expect(() => finishSegment(records.environment, store, defaultLimits, giveUp)).toThrow('closing')
  expect(store.manifest()).toEqual(before)
  expect(finishSegment(records.environment, store, defaultLimits)).toBe(true)
})
