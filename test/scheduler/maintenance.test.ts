import { afterEach, describe, expect, it } from 'vitest'
import { Maintenance } from '../../src/scheduler/maintenance/maintenance.ts'
import type { MaintenanceOptions } from '../../src/scheduler/maintenance/maintenance-options.ts'
import type { Manifest } from '../../src/storage/segment/manifest.ts'
import type { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { writeSegment } from '../../src/storage/segment/writer.ts'
import { shred } from '../../src/storage/shred/shred.ts'
import { diskBytes, segmentKey } from '../support/segment-values.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'
import { rowsOfSegments, temporarySegments } from '../support/temporary-segments.ts'

const running: Maintenance[] = []

afterEach(async () => {
  for (const maintenance of running.splice(0)) await maintenance.close()
})

async function start(
  records: TemporaryRecords,
  store: SegmentStore,
  options: Partial<MaintenanceOptions> = {},
): Promise<Maintenance> {
  const { directory } = records
  const maintenance = await Maintenance.start({ directory, store, automatic: false, ...options })
  running.push(maintenance)
  return maintenance
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1500 && !condition(); i++) await new Promise((done) => setTimeout(done, 10))
  expect(condition()).toBe(true)
}

describe('maintenance', () => {
  it('flushes and compacts on demand', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const seen: Manifest[] = []
    const maintenance = await start(records, store, {
      onManifest: (manifest) => seen.push(manifest),
    })
    expect(maintenance.manifest.segments).toEqual([])
    for (const id of ['a', 'b', 'c']) {
      records.insert([{ id }])
      await maintenance.flush()
    }
    expect(maintenance.manifest.segments.length).toBe(3)
    await maintenance.flush()
    expect(seen.length).toBe(3)
    await maintenance.compact()
    expect(maintenance.manifest.segments.map(({ id }) => id)).toEqual([4])
    expect(rowsOfSegments(store, maintenance.manifest).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(seen.at(-1)).toBe(maintenance.manifest)
  })

  it('deletes a segment when the last query that may read it has ended', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const maintenance = await start(records, store)
    for (const id of ['a', 'b']) {
      records.insert([{ id }])
      await maintenance.flush()
    }
    const first = maintenance.acquire()
    const second = maintenance.acquire()
    await maintenance.compact()
    first.release()
    first.release()
    await maintenance.flush()
    expect(store.storedIds()).toEqual([1, 2, 3])
    expect(rowsOfSegments(store, second.manifest).length).toBe(2)
    second.release()
    await until(() => store.storedIds().length === 1)
    expect(store.storedIds()).toEqual([3])
  })

  it('lets writes come more slowly while much is in no segment, until it was flushed', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const maintenance = await start(records, store, { automatic: true })
    records.insert([{ id: 'a' }])
    maintenance.noteWrite({ rows: 1, bytes: 191 * 2 ** 20 })
    await new Promise((done) => setTimeout(done, 5))
    const begun: number[] = []
    // Minutes, if nothing was flushed.
    const all = Array.from({ length: 20 }, async (_, write) => {
      await maintenance.roomForWrite(64 * 2 ** 20)
      begun.push(write)
    })
    await Promise.resolve()
    expect(begun.length).toBeLessThan(2)
    await Promise.all(all)
    expect(begun).toEqual(all.map((_, write) => write))
    expect(maintenance.manifest.generation).toBe(1)
  })

  it('lets no write wait when nobody flushes, or will any more', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const idle = await start(records, store)
    idle.noteWrite({ rows: 1, bytes: 2 ** 30 })
    await Promise.all(Array.from({ length: 100 }, () => idle.roomForWrite(2 ** 30)))
    await idle.close()
    const closing = await start(records, store, { automatic: true })
    records.insert([{ id: 'a' }])
    closing.noteWrite({ rows: 1, bytes: 2 ** 30 })
    await new Promise((done) => setTimeout(done, 5))
    const room = Array.from({ length: 100 }, () => closing.roomForWrite(2 ** 30))
    await Promise.all([closing.close(), ...room])
  })

  it('flushes a large delta by itself, and a small one after a while', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const maintenance = await start(records, store, { automatic: true })
    records.insert([{ id: 'a' }])
    maintenance.noteWrite({ rows: 1, bytes: 100 })
    expect(maintenance.manifest.generation).toBe(0)
    records.insert([{ id: 'b' }])
    maintenance.noteWrite({ rows: 1, bytes: 16 * 2 ** 20 })
    await until(() => maintenance.manifest.generation === 1)
    expect(rowsOfSegments(store, maintenance.manifest).length).toBe(2)
    records.insert([{ id: 'c' }])
    maintenance.noteWrite({ rows: 1, bytes: 100 })
    await until(() => maintenance.manifest.generation === 2)
    expect(maintenance.manifest.flushedThrough).toBe(records.reader.lastTransaction())
  })

  it('finishes segments only when no more rows come in great numbers', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const maintenance = await start(records, store, { automatic: true })
    const count = (kind: 'flush' | 'finish') => maintenance.steps.get(kind)?.count ?? 0
    records.insert(Array.from({ length: 4096 }, (_, i) => ({ id: `${i}` })))
    maintenance.noteWrite({ rows: 4096, bytes: 64 * 2 ** 20 })
    await until(() => count('finish') > 0)
    // That of the large delta, and one that found nothing new.
    expect(count('flush')).toBe(2)
  })

  it('compacts by itself what many flushes leave', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const maintenance = await start(records, store, { automatic: true })
    for (let i = 0; i < 8; i++) {
      records.insert([{ id: `${i}` }])
      await maintenance.flush()
    }
    maintenance.noteWrite({ rows: 20_000, bytes: 0 })
    await until(() => maintenance.manifest.segments.length < 4)
    expect(rowsOfSegments(store, maintenance.manifest).length).toBe(8)
    await until(() => store.storedIds().length === maintenance.manifest.segments.length)
  })

  it('gives back what a process that was killed has left', async () => {
    const records = new TemporaryRecords()
    const { directory } = records
    const store = temporarySegments(directory)
    const { columns, columnsRoot } = store.environment
    const value = Buffer.alloc(2 ** 20, 7)
    columnsRoot.transactionSync(() => {
      for (let i = 1; i <= 40; i++) columns.putSync(segmentKey(i), value)
    })
    await start(records, store, { automatic: true })
    expect(diskBytes(directory)).toBeGreaterThan(40 * value.length)
    await until(() => diskBytes(directory) < value.length)
  })

  it('takes up after a restart where it was left', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const first = await start(records, store)
    records.insert([{ id: 'a' }])
    await first.flush()
    records.insert([{ id: 'b' }])
    const rows = Array.from(records.reader.readDelta(1, 0, 2 ** 48 - 2), ({ key, view }) => {
      return { object: 1, version: key, row: view }
    })
    store.write({ id: 77, ...writeSegment(shred(rows), 1) })
    await first.close()
    const second = await start(records, store, { automatic: true })
    await until(() => second.manifest.generation === 2)
    expect(rowsOfSegments(store, second.manifest).map(({ id }) => id)).toEqual(['a', 'b'])
    expect(store.storedIds()).toEqual(second.manifest.segments.map(({ id }) => id))
  })

  it('makes a segment again that is gone, and tells of it', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const errors: string[] = []
    const logger = {
      debug: () => undefined,
      error: (_: object, message: string) => errors.push(message),
    }
    const maintenance = await start(records, store, { logger })
    for (const id of ['a', 'b', 'c', 'd']) {
      records.insert([{ id }])
      await maintenance.flush()
    }
    // Its metadata is still known here, so that only compaction misses it.
    temporarySegments(records.directory).remove([1])
    await maintenance.compact()
    expect(errors).toEqual([
      'segment 1 cannot be read: it is not there; its rows are read from the records until it is made again',
    ])
    const ids = rowsOfSegments(store, maintenance.manifest).map(({ id }) => id)
    expect(ids).toEqual(['a', 'b', 'c', 'd'])
    expect(maintenance.damaged.status).toEqual({ found: 1, left: 0 })
    records.insert([{ id: 'e' }])
    await maintenance.flush()
    expect(maintenance.manifest.flushedThrough).toBe(records.reader.lastTransaction())
  })

  it('refuses work after it was closed', async () => {
    const records = new TemporaryRecords()
    const store = temporarySegments(records.directory)
    const maintenance = await start(records, store, { automatic: true })
    maintenance.noteWrite({ rows: 1, bytes: 1 })
    await maintenance.close()
    await expect(maintenance.flush()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    maintenance.noteWrite({ rows: 20_000, bytes: 1 })
  })
})
