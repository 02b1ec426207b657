/** What reading all records finds beside damaged values. */
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  dataFile,
  openRecords,
  type RecordsEnvironment,
  recordsFolder,
} from '../../src/storage/environment.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { notePurges } from '../../src/storage/maintenance/purge-plan.ts'
import { purgePlannedRows, purgeSegments } from '../../src/storage/maintenance/purge-versions.ts'
import { dropObjects, purgeRows } from '../../src/storage/maintenance/remove-objects.ts'
import { verifyRecords } from '../../src/storage/read/verify-records.ts'
import type { RecordDamage } from '../../src/storage/record-damage.ts'
import { rowVersionKey } from '../../src/storage/record-key.ts'
import { defaultLimits } from '../../src/storage/segment/segment-sink.ts'
import type { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { rowKey } from '../../src/type/transaction.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'
import { TemporaryRecords, temporaryDirectory } from '../support/temporary-records.ts'
import { temporarySegments } from '../support/temporary-segments.ts'

const pageBytes = 4096

async function damagesOf(directory: string): Promise<RecordDamage[]> {
  const records = openRecords(directory, { readOnly: true })
  const damages: RecordDamage[] = []
  for (const _ of verifyRecords(records, (damage) => damages.push(damage)));
  await records.root.close()
  return damages
}

/** Flips the lowest bit of the names by which inner pages lead on; keys stay in order. */
function misleadInnerPages(path: string): void {
  const file = readFileSync(path)
  for (let page = 0; page < file.length; page += pageBytes) {
    const isBranch = file.readUInt16LE(page + 18) === 1
    if (!isBranch || file.readBigUInt64LE(page) !== BigInt(page / pageBytes)) continue
    const node = page + 24 + file.readUInt16LE(page + 24 + 2)
    const key = file.subarray(node + 8, node + 8 + file.readUInt16LE(node + 6))
    if (key.toString().startsWith('file/')) key[key.length - 1]! ^= 1
  }
  writeFileSync(path, file)
}

test('an inner page that leads astray is told of by the keys that are not found', async () => {
  const directory = await makeTemporaryDirectory('inner-pages')
  onTestFinished(() => rm(directory, { recursive: true }))
  const records = openRecords(directory, { readOnly: false })
  records.root.transactionSync(() => {
    for (let i = 0; i < 4000; i++) {
      records.catalog.putSync(Buffer.from(`file/${String(i).padStart(6, '0')}`), Buffer.from('1'))
    }
  })
  await records.root.close()
  expect(await damagesOf(directory)).toEqual([])
  misleadInnerPages(join(recordsFolder(directory), dataFile))
  const [first, ...others] = await damagesOf(directory)
  expect(first).toMatchObject({
    database: 'catalog',
    what: expect.stringMatching(/^the catalog's entry "file\/\d+", which a look-up .* not find,$/),
  })
  expect(others.length).toBeLessThan(3)
})

/** What changes rows beside the reading, as maintenance does it between two of its steps. */
const changes: Readonly<
  Record<string, (environment: RecordsEnvironment, store: SegmentStore) => void>
> = {
  'leave for good': (environment, store) => {
    while (purgeSegments(environment, store, defaultLimits));
    expect(purgePlannedRows(environment, store)).toBe(true)
  },
  'are packed': (environment, store) => {
    packRows(environment, store.manifest().flushedThrough)
  },
  'leave with their object': (environment, store) => {
    while (dropObjects(environment, store, [1], defaultLimits));
    purgeRows(environment, [1])
  },
}

/** Two objects with more rows than are read in one step, some of which are to leave. */
function writeRows(): string {
  const records = new TemporaryRecords()
  const { environment, directory } = records
  const store = temporarySegments(directory)
  const text = () => randomBytes(24_000).toString('base64')
  const row = (i: number) => ({ id: `r${i}`, ...(i % 3 === 0 && { input: text() }) })
  const count = 250
  for (let i = 0; i < count; i++) records.insert([row(i)], i < count - 20 ? 1 : 2)
  const ids = Array.from({ length: count / 2 }, (_, i) => `r${i * 2}`)
  notePurges(environment, [{ kind: 'deleted', object: 1, ids }])
  records.insert(ids.slice(0, -10).map((id) => ({ id, _object_delete: true })))
  flush(environment, store, defaultLimits)
  return directory
}

test.each(Object.entries(changes))(
  'rows that %s while all is read are not missed',
  async (_, change) => {
    const written = writeRows()
    let isOver = false
    for (let at = 0; !isOver; at++) {
      const directory = temporaryDirectory()
      cpSync(written, directory, { recursive: true })
      const environment = openRecords(directory, { readOnly: false })
      const store = temporarySegments(directory)
      const damages: RecordDamage[] = []
      const reading = verifyRecords(environment, (damage) => damages.push(damage))
      for (let steps = 0; steps < at; steps++) isOver ||= reading.next().done === true
      change(environment, store)
      for (const _ of reading);
      expect(damages, `changed after ${at} steps`).toEqual([])
      await environment.root.close()
    }
  },
)

test('rows that are missing are counted, whatever leaves meanwhile', () => {
  const records = new TemporaryRecords()
  const { environment } = records
  for (let i = 0; i < 10; i++) records.insert([{ id: `r${i}` }])
  const [lost] = environment.rows.getKeys({ start: rowVersionKey(1, rowKey(0, 0)), limit: 1 })
  environment.rows.removeSync(lost!)
  const damages: RecordDamage[] = []
  for (const _ of verifyRecords(environment, (damage) => damages.push(damage)));
  expect(damages).toMatchObject([
    { database: 'rows', what: expect.stringMatching(/^1 of 10 row versions of the object/) },
  ])
})
