import { expect, it } from 'vitest'
import { openSegments } from '../../src/storage/environment.ts'
import { finishSegment } from '../../src/storage/maintenance/finish-segment.ts'
import { TaskReads } from '../../src/storage/read/task-reads.ts'
import type { Manifest } from '../../src/storage/segment/manifest.ts'
import { manifestSegment, type SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { isInSet } from '../../src/vector/row-set.ts'
import type { TermIndex } from '../../src/vector/term-index.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments } from '../support/temporary-segments.ts'

/** So many bytes of rows make a segment large. */
const largeBytes = 2 ** 22

const readOnly = { readOnly: true }

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

function rowsWithWord(store: SegmentStore, word: string): number[] {
  const { terms } = store.open(1).columns(['output'])!.text! as { readonly terms: TermIndex }
  const rows = terms.rowsWith('is', Buffer.from(word))
  return Array.from({ length: 100 }, (_, row) => row).filter((row) => rows && isInSet(rows, row))
}

it('a large segment has its words indexed once it is finished, and the same rows', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const before = flushed(records, store, largeBytes)
  expect(before.segments[0]!.metadata.textIndexes).toBeUndefined()
  const rows = rowsOfSegments(store, before)

  expect(finishSegment(store)).toBe(true)
  const after = store.manifest()
  const textIndexes = { wordIndexes: [{ path: ['output'] }] }
  expect(after.segments).toMatchObject([{ id: 1, metadata: { textIndexes } }])
  expect(rowsOfSegments(store, after)).toEqual(rows)
  expect(rowsWithWord(store, 'word39')).toEqual(Array.from({ length: 100 }, (_, i) => i))
  expect(rowsWithWord(store, '17')).toEqual([17])

  expect(finishSegment(store)).toBe(false)
  expect(store.manifest().generation).toBe(after.generation)
})

it('a thread that has a segment open finds its indexes once they are there', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  flushed(records, store, largeBytes)
  const reads = new TaskReads(records.environment, openSegments(records.directory, readOnly))
  const hasIndex = () =>
    reads.during(() => {
      const { terms } = reads.openSegment(1).columns(['output'])!.text! as { terms?: TermIndex }
      return terms !== undefined
    })
  expect(hasIndex()).toBe(false)
  finishSegment(store)
  expect(hasIndex()).toBe(true)
})

it('the indexes of a segment go when it does', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  flushed(records, store, largeBytes)
  finishSegment(store)
  const { root, textIndexes } = openSegments(records.directory, readOnly)
  expect(textIndexes.getKeysCount()).toBeGreaterThan(1)
  store.remove([1])
  root.resetReadTxn()
  expect(textIndexes.getKeysCount()).toBe(0)
})

it('a small segment is left for others to be merged with', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  flushed(records, store, largeBytes - 1)
  expect(finishSegment(store)).toBe(false)
})

it('what is given up has changed nothing, and is done another time', () => {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const before = flushed(records, store, largeBytes)
  const giveUp = () => {
    throw new Error('closing')
  }
  expect(() => finishSegment(store, giveUp)).toThrow('closing')
  expect(store.manifest()).toEqual(before)
  expect(finishSegment(store)).toBe(true)
})
