/** What the system, or LMDB, fails with, in words, and the way out: when a file is to be had, and while the service writes. */
import { constants } from 'node:os'
import { AssayError } from '../error.ts'

export interface SystemFault {
  /** As a clause; `disk` is the one that failed: `its disk`. */
  readonly reason: string | ((disk: string) => string)
  /** What to do where something cannot be begun; undefined for what only happens to a service that runs. */
  readonly hint?: string
  /** What to do where a service that runs cannot write, if that is something else. */
  readonly whileWriting?: string
}

const fullHint =
  'free some space on that disk, or delete what is not needed any more; ' +
  'the service goes on writing by itself, and answers queries meanwhile'

const notOurs: SystemFault = notAllowed()

const inUse: SystemFault = { reason: 'it is in use', hint: 'end the program that uses it' }

const needsOpening: SystemFault = {
  reason:
    'the disk did not take the end of a transaction, so nothing is written until the data directory was opened anew',
  whileWriting: 'the service does that by itself: try again in some seconds',
}

const faults: Readonly<Record<string, SystemFault>> = {
  ENOSPC: {
    reason: (disk) => `no space left on ${disk}`,
    hint: 'make room there, or choose a directory on another disk',
    whileWriting: fullHint,
  },
  EDQUOT: {
    reason: (disk) => `the quota of ${disk} is used up`,
    hint: 'make room there, or have the quota raised',
    whileWriting: fullHint,
  },
  EIO: {
    reason: (disk) => `${disk} has failed`,
    hint: "see the system's log (dmesg), and put the data on a disk that is whole",
    whileWriting:
      'see in the log of the system what is wrong with the disk; back up the data directory',
  },
  EROFS: {
    reason: (disk) => `${disk} is read-only`,
    hint: 'mount it for writing, or choose another directory',
    whileWriting: 'mount it for writing; the log of the system tells why it is not',
  },
  EFBIG: {
    reason: 'a file would be larger than is allowed',
    hint: 'raise the limit of the size of files (ulimit -f, or LimitFSIZE of systemd)',
  },
  EACCES: notOurs,
  EPERM: notOurs,
  ENOTDIR: {
    reason: 'a part of the path is a file, where a directory should be',
    hint: 'choose another path, or move the file out of the way',
  },
  EEXIST: {
    reason: 'there is a file, where a directory should be',
    hint: 'choose another path, or move the file out of the way',
  },
  EISDIR: {
    reason: 'there is a directory, where a file should be',
    hint: 'choose another path, or move the directory out of the way',
  },
  ENOENT: {
    reason: 'it is not there',
    hint: 'see whether the disk is mounted, and whether the path is right',
  },
  ENAMETOOLONG: { reason: 'its path is too long', hint: 'choose a shorter one' },
  ELOOP: { reason: 'its path goes in circles', hint: 'see where its symbolic links lead' },
  EMFILE: {
    reason: 'the process has as many files open as it may',
    hint: 'raise the limit of open files to 4096 or more (ulimit -n, or LimitNOFILE of systemd)',
  },
  ENFILE: {
    reason: 'the system has as many files open as it may',
    hint: 'raise fs.file-max, or end other programs',
  },
  ENOMEM: {
    reason: 'the process gets no more address space, or memory',
    hint:
      'take away limits of address space (ulimit -v unlimited, or LimitAS=infinity of systemd): ' +
      'files are mapped, which takes address space of terabytes, but no memory',
  },
  EAGAIN: {
    reason: 'the system gives no more threads',
    hint: 'raise the limit of processes (ulimit -u, or TasksMax and LimitNPROC of systemd)',
  },
  ETXTBSY: inUse,
  EBUSY: inUse,
  // A transaction that could not begin is told by this one.
  EINVAL: needsOpening,
  MDB_PANIC: needsOpening,
  MDB_MAP_FULL: {
    reason: 'the records are as large as they may be',
    whileWriting: 'start another service with a data directory of its own',
  },
}

const namesOfLmdb: ReadonlyMap<number, string> = new Map([
  [-30792, 'MDB_MAP_FULL'],
  [-30795, 'MDB_PANIC'],
])

const systemNames: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
)

/** The name of what has failed in the system or in LMDB, which gives numbers; undefined for a defect of ours. */
export function faultNameOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || thrown instanceof AssayError || !('code' in thrown)) {
    return undefined
  }
  const { code } = thrown
  if (typeof code !== 'number') return String(code)
  return systemNames.get(code) ?? namesOfLmdb.get(code) ?? String(code)
}

/** Undefined for what is not in the table. */
export function faultNamed(name: string | undefined): SystemFault | undefined {
  return name !== undefined && Object.hasOwn(faults, name) ? faults[name] : undefined
}

export function reasonOf({ reason }: SystemFault, disk: string): string {
  return typeof reason === 'string' ? reason : reason(disk)
}

function notAllowed(): SystemFault {
  const user = process.getuid?.()
  return {
    reason: user === undefined ? 'it may not be used' : `the user ${user} may not use it`,
    hint:
      user === 0
        ? 'see whether it is immutable (lsattr), or closed by what the system runs it in'
        : 'give it, with all that is in it, to the user that the service runs as (chown -R)',
  }
}
