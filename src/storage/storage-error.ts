/** What a disk that does not take a write is told by, wherever in the data directory that was. */
import { statfsSync } from 'node:fs'
import { AssayError, toAssayError } from '../error.ts'
import { faultNamed, faultNameOf, reasonOf } from './system-fault.ts'

/** Whether it is the disk that does not take a write, whatever is written. */
export function isDiskFault(thrown: unknown): boolean {
  return faultNamed(faultNameOf(thrown)) !== undefined
}

/**
 * STORAGE_UNAVAILABLE with the reason and the way out, for what the system or LMDB has thrown while
 * something was written; other errors stay as they are.
 *
 * @param what was to be written: `the records`
 * @param directory on the disk that has not taken it, where that was LMDB: of a page that a full disk takes in
 *   part it says that the disk has failed
 */
export function storageError(what: string, thrown: unknown, directory?: string): AssayError {
  let name = faultNameOf(thrown)
  if (name === undefined) return toAssayError(thrown)
  if (name === 'EIO' && directory !== undefined && isFull(directory)) name = 'ENOSPC'
  const fault = faultNamed(name)
  // Behind a comma comes the path, which is nobody's business.
  const reason = fault
    ? reasonOf(fault, 'the disk of the data directory')
    : (thrown as Error).message.split(',')[0]!
  const hint =
    fault?.whileWriting ??
    fault?.hint ??
    'see that the data directory is there, may be written and has room, then try again'
  return new AssayError('STORAGE_UNAVAILABLE', `${what} cannot be written: ${reason}`, {
    hint,
    cause: thrown,
  })
}

/** Less than this is no room for the pages of a commit. */
const leastFreeBytes = 16 * 2 ** 20

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < leastFreeBytes
  } catch {
    return false
  }
}

/** Awaits work on the data directory, and throws what fails of it as `storageError` tells it. */
export async function onDisk<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    throw storageError(what, thrown)
  }
}
