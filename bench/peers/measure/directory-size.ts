import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes that a block of a disk has in `stat`, whatever the file system's own are. */
const blockBytes = 512

/** Bytes on disk under each entry of a directory: blocks, since files may have holes. */
export function directorySizes(directory: string): Record<string, number> {
  const sizes: Record<string, number> = {}
  for (const entry of readdirSync(directory)) sizes[entry] = diskBytes(join(directory, entry))
  return sizes
}

function diskBytes(path: string): number {
  const status = statSync(path)
  if (!status.isDirectory()) return status.blocks * blockBytes
  return readdirSync(path).reduce((sum, entry) => sum + diskBytes(join(path, entry)), 0)
}
