/** Takes the rights of others from what is in a data directory. */
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { privateFile, privateFolder } from '../durable-file.ts'
import { segmentFolders } from '../environment.ts'

/**
 * Folders get mode 0700 and files 0600, as far as they belong to this user. What attachments have below them is looked at
 * only where their folder was open to others, since there may be many: in a closed one they were made closed.
 */
export function makePrivate(directory: string): void {
  const attachments = join(directory, 'attachments')
  const content = join(attachments, 'content')
  const wasOpen = isOpen(content)
  const folders = [directory, join(directory, 'records'), ...segmentFolders(directory)]
  for (const folder of [...folders, join(directory, 'async'), attachments]) closeFolder(folder)
  if (!wasOpen) return
  for (const name of namesIn(content)) closeFolder(join(content, name))
  closeFolder(content)
}

/** Also the files in it, but no folders. */
function closeFolder(folder: string): void {
  if (!close(folder, privateFolder)) return
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) close(path, privateFile)
  }
}

/** False when it is not there. */
function close(path: string, mode: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return false
  if ((found.mode & 0o777 & ~mode) === 0) return true
  try {
    chmodSync(path, found.mode & mode)
  } catch (thrown) {
    // What belongs to another user may be used all the same.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM')) throw thrown
  }
  return true
}

function isOpen(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & 0o077) !== 0
}

function namesIn(folder: string): string[] {
  return readdirSync(folder)
}
