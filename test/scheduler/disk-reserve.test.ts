/** Who may write how much on a disk that is nearly full: inserts beside flushes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DiskReserve } from '../../src/scheduler/admission/disk-reserve.ts'
import { SmallDisk } from '../support/small-disk.ts'

const mebibyte = 2 ** 20

describe.runIf(SmallDisk.canMount())('the reserve of a disk of 64 MiB', () => {
  let disk: SmallDisk
  let reserve: DiskReserve

  beforeAll(() => {
    disk = SmallDisk.mount(64)
    reserve = new DiskReserve({ directory: disk.directory, leastFreeBytes: 8 * mebibyte })
  })
  afterAll(() => disk.unmount())

  test('an insert gets no room that a flush has claimed, until it ends', () => {
    const release = reserve.claimSegmentRoom(50 * mebibyte)
    expect(() => reserve.requireRoom(10 * mebibyte)).toThrow('a flush that runs may take 50 MiB')
    expect(reserve.isReached).toBe(false)
    release()
    expect(() => reserve.requireRoom(10 * mebibyte)).not.toThrow()
  })

  test('a flush may write into the reserve, but not into its last quarter', () => {
    expect(() => reserve.claimSegmentRoom(63 * mebibyte)).toThrow('take up to 63 MiB')
    expect(() => reserve.claimSegmentRoom(60 * mebibyte)()).not.toThrow()
  })

  test('what is free within the file counts where the disk has some room beyond the reserve, but too little', () => {
    const { directory } = disk
    const within = { directory, leastFreeBytes: 60 * mebibyte, freeWithin: () => 20 * mebibyte }
    expect(() => new DiskReserve(within).requireRoom(10 * mebibyte)).not.toThrow()
    expect(() => new DiskReserve(within).requireRoom(30 * mebibyte)).toThrow('60 MiB are kept free')
  })
})
