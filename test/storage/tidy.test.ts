import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IdFilter } from '../../src/storage/id/id-filter.ts'
import { fullHash, hashId } from '../../src/storage/id/id-run.ts'
import { readRunList } from '../../src/storage/id/id-run-list.ts'
import { foldIds, removeUnlistedRuns } from '../../src/storage/maintenance/fold-ids.ts'
import { packRows } from '../../src/storage/maintenance/pack-rows.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { RecordWriter } from '../../src/storage/write/record-writer.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const limits = { recentIds: 3, fanIn: 2 }

function everything({ environment }: TemporaryRecords, ids: readonly string[]): unknown {
  const reader = new RecordReader(environment)
  const last = reader.lastTransaction()
  const versions = Array.from(reader.log(0), ({ transaction }) => transaction)
  const rows = Array.from(reader.readDelta(1, 0, last), ({ key, view }) => {
    return [key, view.paginationKey, view.previous, view.flags, view.fieldText('metadata')]
  })
  const seen = ids.flatMap((id) =>
    versions.map((version) => {
      const found = reader.versionAsOf(1, id, version)
      return [id, version, found?.key, found?.view.fieldText('metadata')]
    }),
  )
  return { rows, seen }
}

function counts({ environment }: TemporaryRecords): { rows: number; ids: number; runs: number } {
  environment.root.resetReadTxn()
  return {
    rows: environment.rows.getKeysCount(),
    ids: environment.ids.getKeysCount(),
    runs: readRunList(environment.progress).runs.length,
  }
}

test('tidying changes nothing that anyone sees, whenever it is done', () => {
  const change = fc.record({
    rows: fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 3 })), {
      minLength: 1,
      maxLength: 8,
    }),
    tidies: fc.constantFrom('nothing', 'pack', 'fold', 'begin', 'both'),
  })
  const ids = Array.from({ length: 10 }, (_, i) => `id${i}`)
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
      const tidied = new TemporaryRecords(() => 0)
      const untidied = new TemporaryRecords(() => 0)
      changes.forEach(({ rows, tidies }, n) => {
        const events = rows.map(([id, kind]) => ({
          id: ids[id],
          created: '2026-01-01T00:00:00.000Z',
          span_id: ids[id],
          ...(kind === 1 && { _object_delete: true }),
          ...(kind === 2 && { _is_merge: true }),
          ...(kind !== 1 && { metadata: { [`n${n}`]: n } }),
        }))
        tidied.insert(events)
        untidied.insert(events)
        if (tidies === 'pack' || tidies === 'both') {
          packRows(tidied.environment, tidied.reader.lastTransaction())
        }
        if (tidies === 'fold' || tidies === 'both') while (foldIds(tidied.environment, limits));
        // What is begun is left, and gone on with after further changes.
        if (tidies === 'begin') foldIds(tidied.environment, limits, 0)
      })
      expect(everything(tidied, ids)).toEqual(everything(untidied, ids))
      tidied.close()
      untidied.close()
    }),
    { numRuns: 40 },
  )
}, 120_000)

describe('packing', () => {
  test('puts rows of many requests into few blocks, and goes on where it stopped', () => {
    const records = new TemporaryRecords()
    const insert = (from: number) => {
      for (let i = from; i < from + 100; i++) {
        records.insert([{ id: `r${i}`, input: 'word '.repeat(100) }])
      }
    }
    insert(0)
    packRows(records.environment, records.reader.lastTransaction())
    expect(counts(records).rows).toBeLessThan(5)
    insert(100)
    expect(counts(records).rows).toBeGreaterThan(100)
    packRows(records.environment, records.reader.lastTransaction())
    expect(counts(records).rows).toBeLessThan(8)
    expect(records.latest('r0')).toMatchObject({ input: 'word '.repeat(100) })
    expect(records.latest('r150')).toMatchObject({ input: 'word '.repeat(100) })
  })

  test('is not noticed by who has read some of the rows before', () => {
    const records = new TemporaryRecords()
    const requests = Array.from({ length: 6 }, (_, request) =>
      Array.from({ length: 12 }, (_, i) => ({
        id: `${request}/${i}`,
        input: `${i} `.repeat(1500),
      })),
    )
    for (const rows of requests) records.insert(rows)
    // Of each block, what its first row takes.
    for (const [first] of requests) expect(records.latest(first!.id)).toMatchObject(first!)
    const { rows } = counts(records)
    packRows(records.environment, records.reader.lastTransaction())
    expect(counts(records).rows).toBeLessThan(rows)
    for (const row of requests.flat()) expect(records.latest(row.id)).toMatchObject(row)
  })

  test('leaves what is not flushed yet as it is', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a' }, { id: 'b' }])
    const flushed = records.reader.lastTransaction()
    for (let i = 0; i < 6; i++) records.insert([{ id: `c${i}` }])
    const { rows } = counts(records)
    packRows(records.environment, flushed)
    expect(counts(records).rows).toBe(rows - 1)
  })
})

describe('folding ids', () => {
  test('leaves few runs, and none of them unlisted', () => {
    const records = new TemporaryRecords()
    for (let i = 0; i < 40; i++) {
      records.insert(Array.from({ length: 1 + (i % 6) }, (_, j) => ({ id: `${i}/${j}`, input: i })))
      while (foldIds(records.environment, limits));
    }
    expect(counts(records).runs).toBeLessThan(3)
    expect(counts(records).ids).toBeLessThan(limits.recentIds)
    for (let i = 0; i < 40; i++) expect(records.latest(`${i}/0`)).toMatchObject({ input: i })
  })

  test('may be left at any time, and shorter runs are folded before it goes on', () => {
    const records = new TemporaryRecords()
    const { environment } = records
    const insert = (name: string, count: number) =>
      records.insert(Array.from({ length: count }, (_, i) => ({ id: `${name}${i}`, input: name })))
    const runIds = () => {
      environment.root.resetReadTxn()
      return readRunList(environment.progress).runs.map(({ id }) => id)
    }
    insert('a', 15_000)
    insert('b', 15_000)
    const long = runIds()
    const fanIn = { recentIds: 1000, fanIn: 2 }
    expect(foldIds(environment, fanIn, 0)).toBe(true)
    // It has more than one transaction to go.
    expect(runIds()).toEqual(long)
    insert('c', 300)
    insert('d', 300)
    const short = runIds().slice(2)
    while (runIds().some((id) => short.includes(id))) foldIds(environment, fanIn, 0)
    expect(runIds()).toEqual([...long, expect.any(Number)])
    while (foldIds(environment, fanIn, 0));
    expect(runIds().some((id) => long.includes(id))).toBe(false)
    expect(readRunList(environment.progress).runs.map(({ entries }) => entries)).toEqual([
      600, 30_000,
    ])
    for (const id of ['a0', 'a14999', 'b17', 'c299', 'd0']) {
      expect(records.latest(id)).toMatchObject({ input: id[0] })
    }
  })

  test('a run that was not finished is removed and never read', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }])
    const { idRuns, root } = records.environment
    const [{ key, value }] = [...idRuns.getRange()] as [{ key: Buffer; value: Buffer }]
    const leftover = Buffer.from(key)
    leftover.writeUInt32BE(77, 0)
    root.transactionSync(() => idRuns.putSync(leftover, value))
    removeUnlistedRuns(records.environment)
    root.resetReadTxn()
    expect([...idRuns.getKeys()]).toEqual([key])
    expect(records.latest('a')).toBeDefined()
  })

  test('a writer that starts again knows the ids of runs', () => {
    const records = new TemporaryRecords()
    records.insert([{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }])
    while (foldIds(records.environment, limits));
    const before = records.latest('a')
    const restarted = Object.assign(records, { writer: new RecordWriter(records.environment) })
    restarted.insert([{ id: 'a', _is_merge: true, input: 1 }])
    expect(records.latest('a')).toMatchObject({
      _pagination_key: before!._pagination_key,
      input: 1,
    })
  })
})

test('the filter knows every id that was added, and few others', () => {
  const filter = new IdFilter()
  const hash = (i: number) => fullHash(1, hashId(`id ${i}`))
  const count = 300_000
  for (let i = 0; i < count; i++) filter.add(hash(i))
  let known = 0
  let mistaken = 0
  for (let i = 0; i < count; i++) {
    if (filter.mayHave(hash(i))) known++
    if (filter.mayHave(hash(count + i))) mistaken++
  }
  expect(known).toBe(count)
  expect(mistaken / count).toBeLessThan(0.002)
})
