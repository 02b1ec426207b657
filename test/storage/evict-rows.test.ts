import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { filledRows } from '../../src/storage/backup/lent-cuts.ts'
import { BackupReader } from '../../src/storage/backup/read-rows.ts'
import { evictRows, evictSegments, noteEvicted } from '../../src/storage/maintenance/evict-rows.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { notePurges } from '../../src/storage/maintenance/purge-plan.ts'
import { purgePlannedRows, purgeSegments } from '../../src/storage/maintenance/purge-versions.ts'
import { readEvictedMark } from '../../src/storage/read/evicted-mark.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import { LentRows } from '../../src/storage/row/lent-rows.ts'
import { rowFlags } from '../../src/storage/row/row.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import type { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { lentOf } from '../support/lent-memory.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { temporarySegments } from '../support/temporary-segments.ts'

const object = 1

function inserted(count: number, atOnce = 8): { records: TemporaryRecords; store: SegmentStore } {
  const records = new TemporaryRecords()
  const store = temporarySegments(records.directory)
  const rows = Array.from({ length: count }, (_, i) => ({
    id: `r${i}`,
    root_span_id: `t${i % 5}`,
    input: `some words ${i} ${'x'.repeat(200)}`,
  }))
  for (let from = 0; from < count; from += atOnce) {
    records.insert(rows.slice(from, from + atOnce))
  }
  flush(records.environment, store, defaultLimits)
  packRows(records.environment, store.manifest().flushedThrough)
  return { records, store }
}

function evict({ environment }: TemporaryRecords, store: SegmentStore, through: number): void {
  noteEvicted(environment, store, { through, database: 'main/assay' })
  while (evictSegments(environment, store, defaultLimits));
  while (!evictRows(environment, store));
}

it('keeps ids, keys and places of rows whose bodies leave, and all of later ones', () => {
  const { records, store } = inserted(40)
  const through = records.reader.lastTransaction()
  records.insert([{ id: 'r3', _is_merge: true, output: 'fresh' }])
  records.insert([{ id: 'later', input: 'here' }])
  flush(records.environment, store, defaultLimits)
  packRows(records.environment, store.manifest().flushedThrough)
  const before = [...records.reader.keptDelta(object, 0, 2 ** 48 - 2)]
  evict(records, store, through)
  const { environment } = records
  environment.root.resetReadTxn()
  const reader = new RecordReader(environment)
  const after = [...reader.keptDelta(object, 0, 2 ** 48 - 2)]
  expect(after.map(({ key }) => key)).toEqual(before.map(({ key }) => key))
  for (const [i, { key, view }] of after.entries()) {
    const was = before[i]!.view
    expect(view.isEvicted).toBe(key.transaction <= through)
    expect(view.fieldText('root_span_id')).toBe(was.fieldText('root_span_id'))
    expect(view.flags & ~rowFlags.evicted).toBe(was.flags)
    expect([view.paginationKey, view.previous, view.transaction]).toEqual([
      was.paginationKey,
      was.previous,
      was.transaction,
    ])
    if (!view.isEvicted) expect(view.bytes).toEqual(was.bytes)
    else expect(() => reader.rowAt(object, key)).toThrow('in ClickHouse alone')
  }
  const left = after.find(({ key }) => key.transaction > through)!
  expect(store.manifest().segments.flatMap(({ metadata }) => metadata.objects)).toEqual([
    expect.objectContaining({ firstTransaction: left.key.transaction }),
  ])
  expect(readEvictedMark(environment.progress)).toMatchObject({ through, done: through, rows: 40 })
  expect([...verifyRecords(environment, (damage) => expect(damage).toBeUndefined())]).toBeDefined()
  const { format } = JSON.parse(readFileSync(join(records.directory, 'format.json'), 'utf8'))
  expect(format).toBe(4)
})

it('merges with a body that is lent, and says which is missing', () => {
  const { records, store } = inserted(16)
  const [first] = [...records.reader.keptDelta(object, 0, 2 ** 48 - 2)]
  const lent = lentOf(object, [first!])
  evict(records, store, records.reader.lastTransaction())
  const merge = [{ id: 'r0', _is_merge: true, output: 'more' }]
  const refused = records.insert(merge)
  expect(refused).toMatchObject({
    error: { code: 'BACKEND_UNAVAILABLE', evicted: [{ object, version: first!.key }] },
  })
  expect(records.insert(merge, object, lent)).toHaveProperty('written')
  expect(records.latest('r0')).toMatchObject({
    output: 'more',
    input: expect.stringMatching('words 0'),
  })
  // What is deleted needs no body.
  expect(records.insert([{ id: 'r1', _object_delete: true }])).toHaveProperty('written')
})

it('removes versions for good whose bodies have left', () => {
  const { records, store } = inserted(16)
  evict(records, store, records.reader.lastTransaction())
  records.insert([{ id: 'r5', _object_delete: true }])
  const { environment } = records
  notePurges(environment, [{ kind: 'deleted', object, ids: ['r5'] }])
  flush(environment, store, defaultLimits)
  while (purgeSegments(environment, store, defaultLimits));
  expect(purgePlannedRows(environment, store)).toBe(true)
  environment.root.resetReadTxn()
  const left = [...new RecordReader(environment).keptDelta(object, 0, 2 ** 48 - 2)]
  expect(left.length).toBe(15)
  expect(new RecordReader(environment).latest(object, 'r5')).toBeUndefined()
  expect(new RecordReader(environment).latest(object, 'r6')).toBeDefined()
})

it('removes what was superseded, and deletions, but of records that are kept', () => {
  const { records, store } = inserted(16)
  const merged = ['r1', 'r2', 'r3'].map((id) => ({ id, input: 'anew' }))
  records.insert(merged)
  records.insert([
    { id: 'r2', _object_delete: true },
    { id: 'r3', _object_delete: true },
  ])
  flush(records.environment, store, defaultLimits)
  const through = records.reader.lastTransaction()
  evict(records, store, through)
  const { environment } = records
  const plan = { kind: 'superseded', object, before: through + 1, except: ['r3'] } as const
  notePurges(environment, [plan])
  while (purgeSegments(environment, store, defaultLimits));
  expect(purgePlannedRows(environment, store)).toBe(true)
  environment.root.resetReadTxn()
  const reader = new RecordReader(environment)
  const count = (id: string) => [...reader.keptHistoryOf(object, id, through)].length
  expect(['r0', 'r1', 'r2', 'r3'].map(count)).toEqual([1, 1, 0, 3])
  expect([...reader.keptDelta(object, 0, through)]).toHaveLength(16 + 3 + 2 - 4)
})

it('keeps all that left one after the other in one value, until that is long', () => {
  const { records, store } = inserted(24)
  const { environment } = records
  evict(records, store, records.reader.lastTransaction())
  for (let i = 0; i < 5; i++) {
    records.insert([{ id: `more ${i}`, input: 'text' }])
    records.insert([{ id: `r${i}`, _object_delete: true }])
    flush(environment, store, defaultLimits)
    evict(records, store, records.reader.lastTransaction())
  }
  environment.root.resetReadTxn()
  expect(environment.rows.getKeysCount()).toBe(1)
  const reader = new RecordReader(environment)
  expect([...reader.keptDelta(object, 0, 2 ** 48 - 2)]).toHaveLength(24 + 10)
})

it('is backed up with bodies that are lent, a piece at a time', () => {
  const { records, store } = inserted(24)
  const through = records.reader.lastTransaction()
  const before = [...records.reader.keptDelta(object, 0, through)]
  const lent = lentOf(object, before)
  evict(records, store, through)
  const reader = new BackupReader(records.environment)
  const range = { after: 0, through }
  expect(() => reader.rows(range, undefined, 1 << 20, [])).toThrow('in ClickHouse alone')
  expect(reader.rows(range, undefined, 1 << 20, lent).rows).toEqual([[object, 24]])
})

it('is copied with what is kept, which who has the bodies fills in', () => {
  const { records, store } = inserted(24)
  const through = records.reader.lastTransaction()
  const lent = lentOf(object, [...records.reader.keptDelta(object, 0, through)])
  evict(records, store, through)
  const reader = new BackupReader(records.environment)
  const range = { after: 0, through }
  const { list, rows } = reader.rows(range, undefined, 1 << 20, undefined)
  expect(rows).toEqual([[object, 24]])
  expect(() => filledRows(list, LentRows.of([]))).toThrow('in ClickHouse alone')
  const whole = reader.rows(range, undefined, 1 << 20, lent)
  expect(filledRows(list, LentRows.of(lent))).toEqual(whole.list)
})

it('leaves either the body or the mark, whenever the process is killed', async () => {
  const { records, store } = inserted(12_000, 1000)
  const { directory, environment } = records
  const through = records.reader.lastTransaction()
  const keys = [...records.reader.keptDelta(object, 0, through)].map(({ key }) => key)
  noteEvicted(environment, store, { through, database: 'main/assay' })
  for (let kill = 0; kill < 3; kill++) {
    await evictInChild(directory, kill < 2 ? Math.random() * 60 : undefined)
    environment.root.resetReadTxn()
    const mark = readEvictedMark(environment.progress)
    expect(mark).toMatchObject({ through })
    const kept = [...new RecordReader(environment).keptDelta(object, 0, through)]
    expect(kept.map(({ key }) => key)).toEqual(keys)
    const whole = kept.filter(({ view }) => !view.isEvicted)
    expect(whole.every(({ view }) => view.fieldText('input')?.includes('some words'))).toBe(true)
    expect(mark!.rows).toBe(kept.length - whole.length)
  }
  expect(readEvictedMark(environment.progress)).toMatchObject({ done: through, rows: keys.length })
})

/** @param killedAfterMs from when it begins; undefined: it ends by itself */
async function evictInChild(directory: string, killedAfterMs: number | undefined): Promise<void> {
  const loader = './test/support/typescript-loader.js'
  const program = ['--import', loader, './test/support/evicting-child.ts', directory]
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  if (killedAfterMs !== undefined) {
    await setTimeout(killedAfterMs)
    child.kill('SIGKILL')
  }
  await ended
}
