import { readFileSync } from 'node:fs'

/** Files that the process has open besides connections: LMDB, logs, threads. */
export const ownFiles = 128

/** How many files the process may have open; undefined where the system does not tell. */
export function openFileLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const limits = readFileSync('/proc/self/limits', 'utf8')
  const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1])
  return Number.isFinite(limit) ? limit : undefined
}
