/** Folders that a data directory is made in. */
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AssayError } from '../../error.ts'

/** Throws COMMAND_INVALID for a folder with anything in it. It need not be there. */
export function requireEmpty(directory: string, hint: string): void {
  const [first] = contentOf(directory)
  if (first === undefined) return
  throw new AssayError('COMMAND_INVALID', `${directory} is not empty: it has ${first}`, { hint })
}

/** Removes all that is in a folder but its lock. */
export async function emptyFolder(directory: string): Promise<void> {
  for (const name of contentOf(directory)) await rm(join(directory, name), { recursive: true })
}

/** What is in a folder besides its lock. */
function contentOf(directory: string): string[] {
  const found = existsSync(directory) ? readdirSync(directory) : []
  return found.filter((name) => !/^lock\.\d+$/.test(name))
}
