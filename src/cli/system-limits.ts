/** What the system lets the process have. Where it is too little, nothing that needs more is begun. */
import { readFileSync } from 'node:fs'
import { AssayError } from '../error.ts'

/** Files that the process has open besides connections: LMDB, logs, threads. */
export const ownFiles = 128

/** While the service loads, it has hundreds of its own files open. */
const leastOpenFiles = 512

/** Of the records, segments and columns, which are mapped, and of the threads, each of which reserves gigabytes. */
const leastAddressBytes = 2 ** 43

/** A thread of the system for each: of Node.js, of queries, of inserts, of what is written. */
const leastThreads = 64

/**
 * Throws CONFIG_INVALID when the process may not have what a service needs. To be called before the modules of the
 * service are loaded: that alone may fail, or end the process, without a word.
 */
export function checkSystemLimits(): void {
  const openFiles = openFileLimit()
  if (openFiles !== undefined && openFiles < leastOpenFiles) {
    throw tooLow(
      `the process may have only ${openFiles} files open, and needs ${leastOpenFiles}`,
      'raise the limit of open files to 4096 or more (ulimit -n, or LimitNOFILE of systemd)',
    )
  }
  const addressBytes = limitOf('Max address space')
  if (addressBytes !== undefined && addressBytes < leastAddressBytes) {
    const gibibytes = Math.floor(addressBytes / 2 ** 30)
    throw tooLow(
      `the process may have only ${gibibytes} GiB of address space, and needs ${leastAddressBytes / 2 ** 30}`,
      'take the limit away (ulimit -v unlimited, or LimitAS=infinity of systemd): ' +
        'files are mapped, which takes address space, but no memory',
    )
  }
  const threads = process.getuid?.() === 0 ? undefined : limitOf('Max processes')
  if (threads !== undefined && threads < leastThreads) {
    throw tooLow(
      `the user may have only ${threads} threads, and the service needs ${leastThreads}`,
      'raise the limit of processes (ulimit -u, or TasksMax and LimitNPROC of systemd)',
    )
  }
}

/** How many files the process may have open; undefined where the system does not tell. */
export function openFileLimit(): number | undefined {
  return limitOf('Max open files')
}

/** Undefined when there is none, or the system does not tell. */
function limitOf(name: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return undefined
  }
  const limit = Number(new RegExp(`^${name} +(\\d+)`, 'm').exec(limits)?.[1])
  return Number.isFinite(limit) ? limit : undefined
}

function tooLow(message: string, hint: string): AssayError {
  return new AssayError('CONFIG_INVALID', message, { hint })
}
