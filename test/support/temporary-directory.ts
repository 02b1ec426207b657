import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the system has it: a folder in memory, where syncing to disk costs nothing. */
const memoryDirectory = '/dev/shm'

/** Makes a folder for data that many small writes go to and that need not outlive the machine. */
export function makeTemporaryDirectory(name: string): Promise<string> {
  const parent = existsSync(memoryDirectory) ? memoryDirectory : tmpdir()
  return mkdtemp(join(parent, `assay-${name}-`))
}
