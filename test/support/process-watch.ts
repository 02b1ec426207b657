/** What a running service takes of the machine: memory, open files, disk. Linux only. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface Usage {
  readonly at: number
  /** Memory of the process but for mapped files, in bytes. */
  readonly memory: number
  /** Open files and sockets. */
  readonly descriptors: number
  /** What the data directory takes on disk, in bytes; holes of files take nothing. */
  readonly disk: number
}

export function usageOf(processId: number, directory: string): Usage {
  return {
    at: Date.now(),
    memory: memoryOf(processId),
    descriptors: readdirSync(`/proc/${processId}/fd`).length,
    disk: diskOf(directory),
  }
}

function memoryOf(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024
}

function diskOf(directory: string): number {
  let bytes = 0
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(directory, name), { throwIfNoEntry: false })
    // What was removed since it was listed takes nothing.
    if (found?.isFile()) bytes += found.blocks * 512
  }
  return bytes
}
