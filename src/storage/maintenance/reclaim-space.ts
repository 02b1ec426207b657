/**
 * LMDB keeps what is freed for values to come, and never makes its file smaller. Where much of it is
 * free when a service starts, the file is written anew without that, before any thread has it open.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSegments } from '../environment.ts'
import { spaceOf } from '../segment/file-space.ts'

/** A file is copied if so much of it is free: that share, and so many bytes. */
const worthwhileShare = 1 / 4
const worthwhileBytes = 2 ** 25

const fileName = 'data.mdb'

/**
 * Makes the file of segments smaller if it pays; nobody else may have it open. When the copy cannot be
 * made, as there is no room for it, all stays as it is. The file is always either the old one or the
 * whole new one.
 *
 * @returns bytes that the file system has back
 */
export async function reclaimSegmentSpace(
  directory: string,
  worthwhile = worthwhileBytes,
): Promise<number> {
  const segments = join(directory, 'segments')
  const copy = join(segments, 'copy')
  rmSync(copy, { recursive: true, force: true })
  if (!existsSync(join(segments, fileName))) return 0
  const environment = openSegments(directory, { readOnly: false })
  const { freeBytes, allBytes } = spaceOf(environment)
  const isWorthwhile = freeBytes >= worthwhile && freeBytes >= allBytes * worthwhileShare
  try {
    if (!isWorthwhile) return 0
    mkdirSync(copy)
    await environment.root.backup(copy, true)
    syncFile(join(copy, fileName))
  } catch {
    rmSync(copy, { recursive: true, force: true })
    return 0
  } finally {
    await environment.root.close()
  }
  renameSync(join(copy, fileName), join(segments, fileName))
  syncFile(segments)
  rmSync(copy, { recursive: true, force: true })
  return freeBytes
}

function syncFile(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
