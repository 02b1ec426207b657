import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { describe, expect, it } from 'vitest'
import {
  closeSegments,
  openSegments,
  type SegmentsEnvironment,
} from '../../src/storage/environment.ts'
import { compact } from '../../src/storage/maintenance/compaction.ts'
import { flush } from '../../src/storage/maintenance/flush.ts'
import { reclaimSegmentSpace } from '../../src/storage/maintenance/reclaim-space.ts'
import { trimFiles } from '../../src/storage/maintenance/trim-files.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { fileOf, segmentKey } from '../support/segment-values.ts'
import { TemporaryRecords, temporaryDirectory } from '../support/temporary-records.ts'

const value = Buffer.alloc(2 ** 20, 7)
const count = 20

type NamedDatabase = keyof typeof fileOf

/** A file of values, of which all but every tenth was removed again. */
async function withFreePages(directory: string, name: NamedDatabase = 'columns'): Promise<void> {
  await change(directory, (environment) => {
    const root = name === 'columns' ? environment.columnsRoot : environment.root
    const database = environment[name]
    root.transactionSync(() => {
      for (let i = 0; i < count; i++) database.putSync(segmentKey(i), value)
    })
    root.transactionSync(() => {
      for (let i = 0; i < count; i++) if (i % 10 !== 0) database.removeSync(segmentKey(i))
    })
  })
}

async function change<Result>(
  directory: string,
  step: (environment: SegmentsEnvironment) => Result,
): Promise<Result> {
  const environment = openSegments(directory, { readOnly: false })
  try {
    return step(environment)
  } finally {
    await closeSegments(environment)
  }
}

/** Of values that are as they were written. */
function numbersIn(directory: string, name: NamedDatabase): Promise<number[]> {
  return change(directory, (environment) =>
    Array.from({ length: count }, (_, i) => i).filter((i) =>
      environment[name].get(segmentKey(i))?.equals(value),
    ),
  )
}

function fileBytes(directory: string, name: NamedDatabase = 'columns'): number {
  return statSync(join(directory, fileOf[name])).size
}

describe('a file of segments that is mostly free becomes as small as what it has', () => {
  it.each(['columns', 'textIndexes'] as const)('that of %s', async (name) => {
    const directory = temporaryDirectory()
    await withFreePages(directory, name)
    expect(fileBytes(directory, name)).toBeGreaterThan(count * value.length)
    expect(await reclaimSegmentSpace(directory, value.length)).toBeGreaterThan(
      (count - 3) * value.length,
    )
    expect(fileBytes(directory, name)).toBeLessThan(3 * value.length)
    expect(await numbersIn(directory, name)).toEqual([0, 10])
    expect(await reclaimSegmentSpace(directory, value.length)).toBe(0)
  })
})

it.each(['columns', 'textIndexes'] as const)(
  'what is left of %s can go as the first that happens to the smaller file',
  async (name) => {
    const directory = temporaryDirectory()
    await withFreePages(directory, name)
    await reclaimSegmentSpace(directory, value.length)
    await change(directory, (environment) => {
      const root = name === 'columns' ? environment.columnsRoot : environment.root
      root.transactionSync(() => {
        for (let i = 0; i < count; i++) environment[name].removeSync(segmentKey(i))
      })
    })
    expect(await numbersIn(directory, name)).toEqual([])
  },
)

it('little that is free is left for what comes', async () => {
  const directory = temporaryDirectory()
  await withFreePages(directory)
  const before = fileBytes(directory)
  expect(await reclaimSegmentSpace(directory)).toBe(0)
  expect(fileBytes(directory)).toBe(before)
})

it('what was given back before is no reason to write a file anew', async () => {
  const directory = temporaryDirectory()
  await withFreePages(directory)
  await change(directory, (environment) => trimFiles(environment, value.length))
  const before = fileBytes(directory)
  expect(await reclaimSegmentSpace(directory, value.length)).toBe(0)
  expect(fileBytes(directory)).toBe(before)
})

it('a copy that was broken off is removed, and a directory without segments is left alone', async () => {
  const directory = temporaryDirectory()
  expect(await reclaimSegmentSpace(directory, value.length)).toBe(0)
  await withFreePages(directory)
  for (const folder of ['segments', 'segments/columns']) {
    const copy = join(directory, folder, 'copy')
    mkdirSync(copy)
    writeFileSync(join(copy, 'data.mdb'), 'half')
    expect(await reclaimSegmentSpace(directory)).toBe(0)
    expect(existsSync(copy)).toBe(false)
  }
})

it('columns that were in one file with all else are moved, and leave no room behind', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'segments')
  mkdirSync(path)
  const root = open<Buffer, Buffer>({
    path,
    noSubdir: false,
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  const older = root.openDB<Buffer, Buffer>({
    name: 'segments',
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  root.transactionSync(() => {
    for (let i = 0; i < count; i += 5) older.putSync(segmentKey(i), value)
  })
  await root.close()
  // As when the move was cut short.
  await change(directory, ({ columns }) => columns.putSync(segmentKey(0), value))

  expect(await reclaimSegmentSpace(directory, value.length)).toBeGreaterThan(3 * value.length)
  expect(await numbersIn(directory, 'columns')).toEqual([0, 5, 10, 15])
  expect(fileBytes(directory, 'textIndexes')).toBeLessThan(value.length)
  expect(await reclaimSegmentSpace(directory, value.length)).toBe(0)
})

it('merged segments leave room in which later ones lie', async () => {
  const records = new TemporaryRecords()
  const limits = { rows: 9000, rowBytes: 2 ** 30 }
  const bytesAfter: number[] = []
  await change(records.directory, (environment) => {
    const store = new SegmentStore(environment)
    for (let from = 0; from < 24; from++) {
      records.insert(
        Array.from({ length: 3000 }, (_, i) => ({ id: `${from} ${i}`, n: from * i, text: `${i}` })),
      )
      flush(records.environment, store, limits)
    }
    const ids = store.manifest().segments.map(({ id }) => id)
    for (let from = 0; from < ids.length; from += 3) {
      const merged = ids.slice(from, from + 3)
      compact(records.environment, store, merged, { limits })
      store.remove(merged)
      bytesAfter.push(fileBytes(records.directory))
    }
  })
  // LMDB gives what was freed to the transaction after the next.
  expect(bytesAfter.at(-1)).toBe(bytesAfter[2])
})
