import { expect, it } from 'vitest'
import { finishSegment } from '../../src/storage/finish-segment.ts'
import { flush } from '../../src/storage/flush.ts'
import { defaultLimits } from '../../src/storage/segment-sink.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments } from '../support/temporary-segments.ts'

/** Segments of so many bytes of rows are worth it. */
const largeText = 'some words of an answer '.repeat(40_000)

function largeRows(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({ id: `row ${i}`, output: `${i} ${largeText}` }))
}

it('a large segment has its words indexed once it is finished, and the same rows', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  records.insert(largeRows(36))
  const flushed = flush(records.environment, store, defaultLimits)
  expect(flushed.segments.map(({ metadata }) => metadata.wordIndexes)).toEqual([undefined])
  const before = rowsOfSegments(store, flushed)

  expect(finishSegment(records.environment, store, defaultLimits)).toBe(true)
  const finished = store.manifest()
  expect(finished.segments).toHaveLength(1)
  expect(finished.segments[0]!.id).toBeGreaterThan(flushed.segments[0]!.id)
  expect(finished.segments[0]!.metadata.wordIndexes).toMatchObject([{ path: ['output'] }])
  expect(rowsOfSegments(store, finished)).toEqual(before)

  expect(finishSegment(records.environment, store, defaultLimits)).toBe(false)
  expect(store.manifest().generation).toBe(finished.generation)
})

it('small segments are left for others to be merged with', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  records.insert(largeRows(1))
  flush(records.environment, store, defaultLimits)
  expect(finishSegment(records.environment, store, defaultLimits)).toBe(false)
})
