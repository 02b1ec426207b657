/**
 * LMDB writes to its lock files through a map, where a disk without room ends the process. So they get all of their
 * room before they are mapped.
 */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { privateFile } from '../durable-file.ts'

/** More than LMDB wants for the readers that environments are opened with (`environment.ts`). */
const lockFileBytes = 18 * 4096

/** What was read of a longer file, which is none of ours. */
const mostBytes = 2 ** 24

/** Nobody may have the environment open. What the file has stays as it is. */
export function allocateLockFile(folder: string): void {
  const file = openSync(join(folder, 'lock.mdb'), constants.O_RDWR | constants.O_CREAT, privateFile)
  try {
    const { size, blocks } = fstatSync(file)
    if (size >= lockFileBytes && blocks * 512 >= size) return
    const bytes = new Uint8Array(Math.min(Math.max(size, lockFileBytes), mostBytes))
    readSync(file, bytes, 0, bytes.length, 0)
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
