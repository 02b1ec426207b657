import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSegments, type SegmentsEnvironment } from '../../src/storage/environment.ts'
import { reclaimSegmentSpace } from '../../src/storage/maintenance/reclaim-space.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const value = Buffer.alloc(2 ** 20, 7)
const count = 20

function keyOf(number: number): Buffer {
  const key = Buffer.alloc(4)
  key.writeUInt32BE(number)
  return key
}

/** A file of values, of which all but every tenth was removed again. */
async function withFreePages(directory: string): Promise<void> {
  await change(directory, ({ root, segments }) => {
    root.transactionSync(() => {
      for (let i = 0; i < count; i++) segments.putSync(keyOf(i), value)
    })
    root.transactionSync(() => {
      for (let i = 0; i < count; i++) if (i % 10 !== 0) segments.removeSync(keyOf(i))
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
    await environment.root.close()
  }
}

function fileBytes(directory: string): number {
  return statSync(join(directory, 'segments', 'data.mdb')).size
}

it('a file of segments that is mostly free becomes as small as what it has', async () => {
  const directory = temporaryDirectory()
  await withFreePages(directory)
  expect(fileBytes(directory)).toBeGreaterThan(count * value.length)
  expect(await reclaimSegmentSpace(directory, 1)).toBeGreaterThan((count - 3) * value.length)
  expect(fileBytes(directory)).toBeLessThan(3 * value.length)
  const left = await change(directory, ({ segments }) =>
    Array.from({ length: count }, (_, i) => i).filter((i) => segments.get(keyOf(i))?.equals(value)),
  )
  expect(left).toEqual([0, 10])
  expect(await reclaimSegmentSpace(directory, 1)).toBe(0)
})

it('little that is free is left for what comes', async () => {
  const directory = temporaryDirectory()
  await withFreePages(directory)
  const before = fileBytes(directory)
  expect(await reclaimSegmentSpace(directory)).toBe(0)
  expect(fileBytes(directory)).toBe(before)
})

it('a copy that was broken off is removed, and a directory without segments is left alone', async () => {
  const directory = temporaryDirectory()
  expect(await reclaimSegmentSpace(directory, 1)).toBe(0)
  await withFreePages(directory)
  const copy = join(directory, 'segments', 'copy')
  mkdirSync(copy)
  writeFileSync(join(copy, 'data.mdb'), 'half')
  expect(await reclaimSegmentSpace(directory)).toBe(0)
  expect(existsSync(copy)).toBe(false)
})
