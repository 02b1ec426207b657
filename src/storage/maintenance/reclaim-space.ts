/**
 * LMDB keeps what is freed for values to come, and never makes its file smaller. What a service does not give back while
 * it runs (`trim-files.ts`), as where files cannot have holes, it gives back when it starts: a file of segments of
 * which much is free is written anew without that, before any thread has it open.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { closeSegments, moveColumns, openSegments, segmentFolders } from '../environment.ts'
import { type EnvironmentFile, fileName, segmentFiles, spaceOf } from './segment-files.ts'

/** A file is copied if so much of it is free: that share, and so many bytes. */
const worthwhileShare = 1 / 4
const worthwhileBytes = 2 ** 25

/**
 * Makes the files of segments smaller where it pays; nobody else may have them open. When a copy cannot be
 * made, as there is no room for it, the file stays as it is. A file is always either the old one or the
 * whole new one. Columns that an older version wrote are first moved to where they are looked for.
 *
 * @returns bytes that the file system has back
 */
export async function reclaimSegmentSpace(
  directory: string,
  worthwhile = worthwhileBytes,
): Promise<number> {
  const [folder, columnsFolder] = segmentFolders(directory)
  rmSync(copyIn(folder), { recursive: true, force: true })
  rmSync(copyIn(columnsFolder), { recursive: true, force: true })
  if (!existsSync(join(folder, fileName))) return 0
  const environment = openSegments(directory, { readOnly: false })
  const copied: { readonly folder: string; readonly freeBytes: number }[] = []
  try {
    moveColumns(environment)
    for (const file of segmentFiles(environment)) {
      const { usedBytes, diskBytes } = spaceOf(file)
      const freeBytes = diskBytes - usedBytes
      if (freeBytes < worthwhile || freeBytes < diskBytes * worthwhileShare) continue
      if (await copy(file)) copied.push({ folder: file.folder, freeBytes })
    }
  } finally {
    await closeSegments(environment)
  }
  for (const { folder } of copied) replaceByCopy(folder)
  return copied.reduce((sum, { freeBytes }) => sum + freeBytes, 0)
}

function copyIn(folder: string): string {
  return join(folder, 'copy')
}

/** False: there is no room for it. */
async function copy({ folder, root }: EnvironmentFile): Promise<boolean> {
  const target = copyIn(folder)
  try {
    mkdirSync(target)
    await root.backup(target, true)
    syncFile(join(target, fileName))
    return true
  } catch {
    rmSync(target, { recursive: true, force: true })
    return false
  }
}

function replaceByCopy(folder: string): void {
  const target = copyIn(folder)
  renameSync(join(target, fileName), join(folder, fileName))
  syncFile(folder)
  rmSync(target, { recursive: true, force: true })
}

function syncFile(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
