/**
 * Gives back what is free in the files of segments while they are read and written: a stretch of free pages becomes
 * a hole, which takes nothing on disk until LMDB uses the pages again. Nothing moves, and what is used is not touched.
 */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { trimSync } from 'fs-native-extensions'
import type { SegmentsEnvironment } from '../environment.ts'
import { freeStretches, type Stretch } from './free-stretches.ts'
import { type EnvironmentFile, fileName, segmentFiles, spaceOf } from './segment-files.ts'

/** A file is trimmed if so much of what it takes is free: that share, and so many bytes. */
const worthwhileShare = 1 / 32
const worthwhileBytes = 2 ** 25

/** Shorter stretches are left to small values. */
const leastStretchBytes = 2 ** 16

/** While a hole is made, whoever touches a page of the file for the first time has to wait. */
const mostHoleBytes = 2 ** 24

/**
 * The calling thread must be the only one that writes to the files. Where there can be no holes, or somebody still reads
 * what was there before the last transaction, nothing is done.
 *
 * @returns bytes that the file system has back
 */
export function trimFiles(environment: SegmentsEnvironment, worthwhile = worthwhileBytes): number {
  const files = segmentFiles(environment).filter((file) => isWorthwhile(file, worthwhile))
  return files.reduce((sum, file) => sum + trim(file), 0)
}

function isWorthwhile(file: EnvironmentFile, worthwhile: number): boolean {
  const { usedBytes, diskBytes } = spaceOf(file)
  const freeBytes = diskBytes - usedBytes
  return freeBytes >= worthwhile && freeBytes >= diskBytes * worthwhileShare
}

function trim(file: EnvironmentFile): number {
  const { root, folder } = file
  root.resetReadTxn()
  const { pageBytes, transaction, diskBytes } = spaceOf(file)
  if (hasReaderBefore(transaction, root)) return 0
  const descriptor = openSync(join(folder, fileName), 'r+')
  try {
    for (const stretch of freeStretches(descriptor, pageBytes, leastStretchBytes) ?? []) {
      makeHoles(stretch, descriptor)
    }
  } catch (thrown) {
    if (!isUnsupported(thrown)) throw thrown
  } finally {
    closeSync(descriptor)
  }
  return Math.max(0, diskBytes - spaceOf(file).diskBytes)
}

/** Whether somebody reads what was there before the transaction, of which other pages may have been a part. */
export function hasReaderBefore(transaction: number, root: EnvironmentFile['root']): boolean {
  const lines = root.readerList().split('\n')
  return lines.some((line) => {
    const [seen] = /\d+$/.exec(line.trimEnd()) ?? []
    return seen !== undefined && Number(seen) < transaction
  })
}

function makeHoles({ offset, length }: Stretch, file: number): void {
  const end = offset + length
  for (let from = offset; from < end; from += mostHoleBytes) {
    trimSync(file, from, Math.min(mostHoleBytes, end - from))
  }
}

function isUnsupported(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  return code === 'EOPNOTSUPP' || code === 'ENOTSUP' || code === 'ENOSYS'
}

/** Makes a hole of a stretch of a file; false where there can be none. */
export function makeHole(file: number, { offset, length }: Stretch): boolean {
  try {
    trimSync(file, offset, length)
    return true
  } catch (thrown) {
    if (isUnsupported(thrown)) return false
    throw thrown
  }
}
