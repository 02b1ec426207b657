/** Free space of the segments' files is given back while they are read and written. */
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import {
  closeSegments,
  openSegments,
  type SegmentsEnvironment,
} from '../../src/storage/environment.ts'
import { freeStretches } from '../../src/storage/maintenance/free-stretches.ts'
import { segmentFiles, spaceOf } from '../../src/storage/maintenance/segment-files.ts'
import { trimFiles } from '../../src/storage/maintenance/trim-files.ts'
import { diskBytes, fileOf, segmentKey } from '../support/segment-values.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const megabyte = 2 ** 20
const value = Buffer.alloc(megabyte, 7)
const pageBytes = 4096

const opened: SegmentsEnvironment[] = []

afterEach(async () => {
  for (const environment of opened.splice(0)) await closeSegments(environment)
})

function open(): SegmentsEnvironment {
  const environment = openSegments(temporaryDirectory(), { readOnly: false })
  opened.push(environment)
  return environment
}

describe.each(['columns', 'textIndexes'] as const)('the file of %s', (name) => {
  const rootOf = (environment: SegmentsEnvironment) =>
    name === 'columns' ? environment.columnsRoot : environment.root

  function put(environment: SegmentsEnvironment, from: number, to: number): void {
    rootOf(environment).transactionSync(() => {
      for (let i = from; i < to; i++) environment[name].putSync(segmentKey(i), value)
    })
  }

  function remove(environment: SegmentsEnvironment, isRemoved: (number: number) => boolean): void {
    rootOf(environment).transactionSync(() => {
      for (let i = 0; i < 20; i++) {
        if (isRemoved(i)) environment[name].removeSync(segmentKey(i))
      }
    })
  }

  function numbersIn(environment: SegmentsEnvironment): number[] {
    const numbers = Array.from({ length: 40 }, (_, i) => i)
    return numbers.filter((i) => environment[name].get(segmentKey(i))?.equals(value))
  }

  it('takes as much as what it has, and later values lie in its holes', () => {
    const environment = open()
    const { directory } = environment
    put(environment, 0, 20)
    remove(environment, (i) => i % 10 !== 0)
    const before = diskBytes(directory, name)
    expect(before).toBeGreaterThan(20 * megabyte)
    expect(trimFiles(environment, megabyte)).toBe(before - diskBytes(directory, name))
    expect(diskBytes(directory, name)).toBeLessThan(2.5 * megabyte)
    expect(numbersIn(environment)).toEqual([0, 10])

    put(environment, 20, 36)
    expect(numbersIn(environment)).toEqual([0, 10, ...Array.from({ length: 16 }, (_, i) => 20 + i)])
    expect(diskBytes(directory, name)).toBeLessThan(before)
    expect(trimFiles(environment, megabyte)).toBe(0)
  })

  it('keeps a little that is free for what comes', () => {
    const environment = open()
    put(environment, 0, 20)
    remove(environment, (i) => i % 10 !== 0)
    const before = diskBytes(environment.directory, name)
    expect(trimFiles(environment)).toBe(0)
    expect(diskBytes(environment.directory, name)).toBe(before)
  })

  it('keeps what somebody reads who began before it was freed', () => {
    const environment = open()
    const root = rootOf(environment)
    put(environment, 0, 20)
    const transaction = root.useReadTransaction()
    const isThere = () => environment[name].get(segmentKey(5), { transaction })?.equals(value)
    expect(isThere()).toBe(true)
    remove(environment, () => true)
    expect(trimFiles(environment, megabyte)).toBe(0)
    expect(isThere()).toBe(true)
    transaction.done()
    expect(trimFiles(environment, megabyte)).toBeGreaterThan(19 * megabyte)
  })
})

describe('free stretches', () => {
  const change = fc.record({
    number: fc.nat(60),
    bytes: fc.oneof(fc.nat(200), fc.nat(9000), fc.nat(300_000)),
    isRemoved: fc.boolean(),
  })

  it('are all that is not used, whatever was written and removed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 20 }), { maxLength: 12 }),
        async (transactions) => {
          const environment = openSegments(temporaryDirectory(), { readOnly: false })
          const { columns, columnsRoot } = environment
          const model = new Map<number, Buffer>()
          for (const changes of transactions) {
            columnsRoot.transactionSync(() => {
              for (const { number, bytes, isRemoved } of changes) {
                const bytesOf = Buffer.alloc(bytes, number)
                if (isRemoved) columns.removeSync(segmentKey(number))
                else columns.putSync(segmentKey(number), bytesOf)
                if (isRemoved) model.delete(number)
                else model.set(number, bytesOf)
              }
            })
            trimFiles(environment, 0)
            expectValues(environment, model)
            expectAllFree(environment)
          }
          await closeSegments(environment)
        },
      ),
      { numRuns: 60 },
    )
  })

  function expectValues(
    { columns, columnsRoot }: SegmentsEnvironment,
    model: ReadonlyMap<number, Buffer>,
  ): void {
    columnsRoot.resetReadTxn()
    const found = Array.from(columns.getRange({}), ({ key, value }) => {
      const number = key.readUInt32BE()
      return model.get(number)?.equals(value) ? number : `${number} is another`
    })
    expect(found).toEqual(Array.from(model.keys()).sort((a, b) => a - b))
  }

  /** What is used and what is free is all that there is. */
  function expectAllFree(environment: SegmentsEnvironment): void {
    const [, file] = segmentFiles(environment)
    const descriptor = openSync(join(environment.directory, fileOf.columns), 'r')
    const free = freeStretches(descriptor, pageBytes, 1)!
    closeSync(descriptor)
    const freeBytes = free.reduce((sum, { length }) => sum + length, 0)
    const { lastPageNumber } = file!.root.getStats() as { readonly lastPageNumber: number }
    const metadataPages = 2
    const allBytes = (lastPageNumber + 1 - metadataPages) * pageBytes
    expect(freeBytes + spaceOf(file!).usedBytes).toBe(allBytes)
  }

  it('are not looked for in a file of another kind', () => {
    const path = join(temporaryDirectory(), 'other')
    writeFileSync(path, Buffer.alloc(10 * pageBytes, 1))
    const descriptor = openSync(path, 'r')
    expect(freeStretches(descriptor, pageBytes, 1)).toBeUndefined()
    closeSync(descriptor)
  })
})
