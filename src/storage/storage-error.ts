/** What a disk that does not take a write is told by, wherever in the data directory that was. */
import { statfsSync } from 'node:fs'
import { constants } from 'node:os'
import { AssayError, toAssayError } from '../error.ts'

interface Explanation {
  readonly reason: string
  readonly hint: string
}

const full: Explanation = {
  reason: 'no space left on the disk of the data directory',
  hint:
    'free some space on that disk, or delete what is not needed any more; ' +
    'the service goes on writing by itself, and answers queries meanwhile',
}

const needsOpening: Explanation = {
  reason:
    'the disk did not take the end of a transaction, so nothing is written until the data directory was opened anew',
  hint: 'the service does that by itself: try again in some seconds',
}

/** By the name of the system's error. */
const explanations: ReadonlyMap<string, Explanation> = new Map([
  ['ENOSPC', full],
  ['EDQUOT', { ...full, reason: 'the quota of the disk of the data directory is used up' }],
  [
    'EIO',
    {
      reason: 'the disk of the data directory has failed (EIO)',
      hint: 'see in the log of the system what is wrong with the disk; back up the data directory',
    },
  ],
  [
    'EROFS',
    {
      reason: 'the disk of the data directory is read-only',
      hint: 'mount it for writing; the log of the system tells why it is not',
    },
  ],
  [
    'EFBIG',
    {
      reason: 'a file of the data directory would be larger than is allowed',
      hint: 'raise the limit of the size of files (ulimit -f, or LimitFSIZE of systemd)',
    },
  ],
  [
    'EMFILE',
    {
      reason: 'too many files are open',
      hint: 'raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)',
    },
  ],
  // A transaction that could not begin is told by this one.
  ['EINVAL', needsOpening],
  ['MDB_PANIC', needsOpening],
  [
    'MDB_MAP_FULL',
    {
      reason: 'the records are as large as they may be',
      hint: 'start another service with a data directory of its own',
    },
  ],
])

const ownNames: ReadonlyMap<number, string> = new Map([
  [-30792, 'MDB_MAP_FULL'],
  [-30795, 'MDB_PANIC'],
])

const systemNames: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
)

/** The name of what has failed in the system or in LMDB; undefined for a defect of ours. */
function faultOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || thrown instanceof AssayError || !('code' in thrown)) {
    return undefined
  }
  const { code } = thrown
  if (typeof code !== 'number') return String(code)
  return systemNames.get(code) ?? ownNames.get(code) ?? String(code)
}

/** Whether it is the disk that does not take a write, whatever is written. */
export function isDiskFault(thrown: unknown): boolean {
  return explanations.has(faultOf(thrown) ?? '')
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
  let fault = faultOf(thrown)
  if (fault === undefined) return toAssayError(thrown)
  if (fault === 'EIO' && directory !== undefined && isFull(directory)) fault = 'ENOSPC'
  const { reason, hint } = explanations.get(fault) ?? {
    // Behind a comma comes the path, which is nobody's business.
    reason: (thrown as Error).message.split(',')[0]!,
    hint: 'see that the data directory is there, may be written and has room, then try again',
  }
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
