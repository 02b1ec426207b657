/** What the system says when a file cannot be had, as a sentence with the way out. */
import { getSystemErrorName } from 'node:util'
import { AssayError, type ErrorCode } from '../../error.ts'

interface Fault {
  readonly reason: string
  readonly hint: string
}

const faults: Readonly<Record<string, Fault>> = {
  ENOSPC: {
    reason: 'no space is left on its disk',
    hint: 'make room there, or choose a directory on another disk',
  },
  EDQUOT: {
    reason: 'the quota of its disk is used up',
    hint: 'make room there, or have the quota raised',
  },
  EROFS: {
    reason: 'its file system may only be read',
    hint: 'mount it for writing, or choose another directory',
  },
  EACCES: notAllowed(),
  EPERM: notAllowed(),
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
  EIO: {
    reason: 'the disk failed',
    hint: "see the system's log (dmesg), and put the data on a disk that is whole",
  },
  ETXTBSY: { reason: 'it is in use', hint: 'end the program that uses it' },
  EBUSY: { reason: 'it is in use', hint: 'end the program that uses it' },
}

/**
 * `what` could not be done, and why; undefined when it was not the system that failed.
 *
 * @param what as a clause: `cannot write /data/x`
 */
export function fileFault(
  thrown: unknown,
  what: string,
  code: ErrorCode = 'STORAGE_UNAVAILABLE',
): AssayError | undefined {
  const name = systemCodeOf(thrown)
  const fault = name === undefined ? undefined : faults[name]
  if (fault === undefined) return undefined
  const message = `${what}: ${fault.reason} (${String(name)})`
  return new AssayError(code, message, { hint: fault.hint, cause: thrown })
}

/** The name of a system error, such as ENOSPC; LMDB gives it as a number. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined
  const { code } = thrown
  if (typeof code === 'string') return code
  if (typeof code !== 'number' || code <= 0) return undefined
  const name = getSystemErrorName(-code)
  return /^E[A-Z0-9]+$/.test(name) ? name : undefined
}

function notAllowed(): Fault {
  const user = process.getuid?.()
  return {
    reason: user === undefined ? 'it may not be used' : `the user ${user} may not use it`,
    hint:
      user === 0
        ? 'see whether it is immutable (lsattr), or closed by what the system runs it in'
        : 'give it, with all that is in it, to the user that the service runs as (chown -R)',
  }
}
