import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { BackupStore } from '../../backup/backup-store.ts'
import { FolderStore } from '../../backup/folder-store.ts'
import { TarReader, TarWriter } from '../../backup/tar-store.ts'
import { readS3Secrets } from '../../config.ts'
import { AssayError } from '../../error.ts'
import { parseS3Address, readS3Settings, type S3Settings } from '../../object-store/s3-settings.ts'

/**
 * What a command names as the place of backups: a folder, a file that ends in `.tar`, `-` for a stream of one, or
 * `s3://bucket/folder`.
 */
export async function openStore(place: string, use: 'read' | 'write'): Promise<BackupStore> {
  if (place === '-') {
    return use === 'write' ? TarWriter.toStream('standard output', process.stdout) : readStream()
  }
  if (place.startsWith('s3://')) return openBucket(place)
  if (!place.endsWith('.tar')) return openFolder(place, use)
  return use === 'write' ? TarWriter.toFile(resolve(place)) : TarReader.open(await existing(place))
}

async function openFolder(place: string, use: 'read' | 'write'): Promise<BackupStore> {
  return new FolderStore(use === 'read' ? await existing(place) : place)
}

async function openBucket(place: string): Promise<BackupStore> {
  const address = parseS3Address(place)
  if (!address) {
    throw new AssayError('COMMAND_INVALID', `${place} is no place in an object store`, {
      hint: 'give s3://bucket or s3://bucket/folder',
    })
  }
  const { S3Store } = await import('../../object-store/s3-store.ts')
  return new S3Store(settingsOf(process.env), address)
}

/** The same variables that a service has for its exports. */
function settingsOf(environment: NodeJS.ProcessEnv): S3Settings {
  const setting = (_flag: string, _name: string, source: string) => {
    return { source, text: environment[source] || undefined }
  }
  return readS3Settings(setting, readS3Secrets(environment), environment)
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
