/**
 * LMDB keeps what is freed for values to come, and never makes its file smaller. Where much of it is
 * free when a service starts, the file is written anew without that, before any thread has it open.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BinaryDatabase, SegmentsEnvironment } from '../environment.ts'
import { openSegments } from '../environment.ts'

/** A file is copied if so much of it is free: that share, and so many bytes. */
const worthwhileShare = 1 / 4
const worthwhileBytes = 2 ** 25

const fileName = 'data.mdb'

/** Parts of what LMDB tells that the package has no types for. */
interface TreePages {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface RootPages extends TreePages {
  readonly lastPageNumber: number
  readonly free: TreePages
}

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

function spaceOf({ root, ...databases }: SegmentsEnvironment): {
  readonly freeBytes: number
  readonly allBytes: number
} {
  const { free, lastPageNumber, ...names } = root.getStats() as RootPages
  const trees = Object.values<BinaryDatabase>(databases).map(
    (database) => database.getStats() as TreePages,
  )
  const used = [names, free, ...trees].reduce((sum, tree) => {
    return sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages
  }, 0)
  const { pageSize } = names
  return { freeBytes: (lastPageNumber + 1 - used) * pageSize, allBytes: lastPageNumber * pageSize }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
