import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { BackupStore } from '../../backup/backup-store.ts'
import { FolderStore } from '../../backup/folder-store.ts'
import { TarReader, TarWriter } from '../../backup/tar-store.ts'
import { AssayError } from '../../error.ts'

/** What a command names as the place of backups: a folder, a file that ends in `.tar`, or `-` for a stream of one. */
export async function openStore(place: string, use: 'read' | 'write'): Promise<BackupStore> {
  if (place === '-') {
    return use === 'write' ? TarWriter.toStream('standard output', process.stdout) : readStream()
  }
  if (!place.endsWith('.tar')) return openFolder(place, use)
  return use === 'write' ? TarWriter.toFile(resolve(place)) : TarReader.open(await existing(place))
}

async function openFolder(place: string, use: 'read' | 'write'): Promise<BackupStore> {
  return new FolderStore(use === 'read' ? await existing(place) : place)
}

async function existing(place: string): Promise<string> {
  const found = await stat(place).catch(() => undefined)
  if (found) return resolve(place)
  throw new AssayError('COMMAND_INVALID', `there is nothing at ${place}`, {
    hint: `name the folder of backups, or the archive; ${dirname(resolve(place))} has others perhaps`,
  })
}

/** It is read in any order, so it is kept in a file of the system's folder until the command ends. */
async function readStream(): Promise<BackupStore> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-restore-'))
  const path = join(folder, 'backup.tar')
  try {
    return await TarReader.fromStream(process.stdin, path)
  } finally {
    // It stays readable for as long as it is open.
    await rm(folder, { recursive: true, force: true })
  }
}
