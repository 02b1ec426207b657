import fc from 'fast-check'
import { expect, it } from 'vitest'
import { visibleRows } from '../../src/executor/scan/visibility.ts'
import { limitTurn } from '../../src/json/turn-limit.ts'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import type { ColumnSet } from '../../src/vector/column.ts'
import { isSlow } from '../support/random-seed.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const count = 60
const ids = Array.from({ length: count }, (_, i) => `r${i}`)
const range = { object: 1, from: 0, to: count, mayBeNewer: false }

/** A segment of as many records, each with one version. */
function oneSegment() {
  const records = new TemporaryRecords()
  const segments = openSegments(records.directory, { readOnly: false })
  const store = new SegmentStore(segments)
  records.insert(ids.map((id) => ({ id })))
  const { id, metadata } = flush(records.environment, store, defaultLimits).segments[0]!
  const { currentThrough } = metadata
  const close = async () => {
    records.close()
    await closeSegments(segments)
  }
  return { records, set: store.open(id), currentThrough, close }
}

/** As of nobody who has asked before. */
function anew({ keys }: ColumnSet): ColumnSet {
  return { keys } as ColumnSet
}

it('is found out of what was visible before as it is found anew', async () => {
  const some = fc.uniqueArray(fc.integer({ min: 0, max: count + 3 }), {
    minLength: 1,
    maxLength: 9,
  })
  const change = fc.record({
    kind: fc.constantFrom('update', 'merge', 'delete', 'twice', 'others', 'pack'),
    some,
    isAsked: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async (changes) => {
      const { records, set, currentThrough, close } = oneSegment()
      const { reader } = records
      // So many marks that what was written since is read.
      for (let i = 0; i < 20; i++) records.insert([{ id: `r${i}`, input: 'later' }])
      for (const { kind, some, isAsked } of changes) {
        const rows = some.map((i) => ({ id: `r${i}`, input: kind }))
        if (kind === 'update') records.insert(rows)
        if (kind === 'merge') records.insert(rows.map((row) => ({ ...row, _is_merge: true })))
        if (kind === 'delete') records.insert(rows.map(({ id }) => ({ id, _object_delete: true })))
        if (kind === 'twice') records.insertTogether([rows, rows.toReversed()])
        if (kind === 'others') records.insert(rows, 2)
        if (kind === 'pack') packRows(records.environment, reader.lastTransaction())
        records.environment.root.resetReadTxn()
        if (!isAsked) continue
        const snapshot = { transaction: reader.lastTransaction() }
        const expected = visibleRows(anew(set), range, snapshot, reader)
        expect(visibleRows(set, range, snapshot, reader)).toEqual(expected)
        expect(visibleRows(anew(set), range, snapshot, reader, currentThrough)).toEqual(expected)
      }
      await close()
    }),
    { numRuns: isSlow ? 400 : 12 },
  )
}, 120_000)

it('reads few marks of many, once it was asked', async () => {
  const { records, set, close } = oneSegment()
  const { reader } = records
  const at = () => {
    records.environment.root.resetReadTxn()
    return { transaction: reader.lastTransaction() }
  }
  let marks = 0
  const { supersessions } = reader
  Object.defineProperty(reader, 'supersessions', {
    value: function* (...given: Parameters<typeof supersessions>) {
      for (const mark of supersessions.apply(reader, given)) {
        marks++
        yield mark
      }
    },
  })
  records.insert(ids.slice(0, 50).map((id) => ({ id, input: 'later' })))
  const before = visibleRows(set, range, at(), reader)!
  expect(marks).toBe(50)
  records.insert([{ id: 'new' }])
  expect(visibleRows(set, range, at(), reader)).toBe(before)
  records.insert([{ id: 'r55', input: 'later' }])
  const after = visibleRows(set, range, at(), reader)!
  expect(marks).toBe(50)
  expect([before[55], after[55]]).toEqual([1, 0])
  // Whoever asks for others meanwhile changes nothing.
  const others = { ...range, from: 50 }
  expect(visibleRows(set, others, at(), reader)).toEqual(after.slice(50))
  expect(marks).toBe(51)
  records.insert([{ id: 'r56', input: 'later' }])
  visibleRows(set, others, at(), reader)
  records.insert([{ id: 'r57', input: 'later' }])
  const last = visibleRows(set, range, at(), reader)!
  expect([last[56], last[57], last[58]]).toEqual([0, 0, 1])
  expect(marks).toBeLessThan(60)
  // Of an older snapshot all is found anew.
  expect(visibleRows(set, range, { transaction: 1 }, reader)).toBeUndefined()
  await close()
})

it('reads what was written since, where no row was superseded before', async () => {
  const { records, set, currentThrough, close } = oneSegment()
  const { reader } = records
  expect(currentThrough).toBeDefined()
  records.insert([{ id: 'r7', input: 'later' }])
  records.environment.root.resetReadTxn()
  const snapshot = { transaction: reader.lastTransaction() }
  Object.defineProperty(reader, 'supersessions', {
    value: () => {
      throw new Error('marks were read')
    },
  })
  const visible = visibleRows(set, range, snapshot, reader, currentThrough)
  expect(visible?.indexOf(0)).toBe(7)
  expect(() => visibleRows(anew(set), range, snapshot, reader)).toThrow('marks')
  await close()
})

it('sees rows that an earlier snapshot did not see', async () => {
  const { records, set, close } = oneSegment()
  const { reader } = records
  records.insert(ids.slice(0, 50).map((id) => ({ id, input: 'later' })))
  records.environment.root.resetReadTxn()
  const earlier = { transaction: set.keys.transaction[0]! - 1 }
  expect(visibleRows(set, { ...range, mayBeNewer: true }, earlier, reader)).toEqual(
    new Uint8Array(count),
  )
  const later = { transaction: reader.lastTransaction() }
  expect(visibleRows(set, range, later, reader)?.indexOf(1)).toBe(50)
  await close()
})

it('leaves many marks to a worker', async () => {
  const { records, set, close } = oneSegment()
  for (let i = 0; i < 18; i++) records.insert(ids.map((id) => ({ id, input: i })))
  records.environment.root.resetReadTxn()
  const snapshot = { transaction: records.reader.lastTransaction() }
  const read = () => visibleRows(anew(set), range, snapshot, records.reader)
  expect(() => limitTurn(read)).toThrow('too long')
  expect(read()).toEqual(new Uint8Array(count))
  await close()
})
