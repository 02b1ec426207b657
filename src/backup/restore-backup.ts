/** Makes a data directory from a backup. */
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { RemovedObjects } from '../catalog/removed-objects.ts'
import { hasBegun, undoChanges } from '../catalog/undo-changes.ts'
import { isSession } from '../catalog/without-secrets.ts'
import { AssayError } from '../error.ts'
import { entriesOf } from '../storage/backup/entry-list.ts'
import {
  type MissingRows,
  RecordsRestore,
  type RestoredCounts,
} from '../storage/backup/restore-records.ts'
import { writeFormat } from '../storage/directory/data-format.ts'
import { emptyFolder, requireEmpty } from '../storage/directory/empty-folder.ts'
import { lockDirectory } from '../storage/directory-lock.ts'
import { DurableFile, makeFolder, writeDurably } from '../storage/durable-file.ts'
import { openRecords, type RecordsEnvironment } from '../storage/environment.ts'
import type { BackupStore } from './backup-store.ts'
import { contentPath, isContentName } from './content-folders.ts'
import { allRanges, type BackupRange, type NamedManifest, readManifests } from './manifest.ts'
import { chooseManifest, type Moment } from './moment.ts'
import { readPieces } from './piece.ts'
import {
  catalogPieces,
  filePieces,
  folderPieces,
  rangePieces,
  readList,
  type StoredFile,
} from './piece-lists.ts'

export interface RestoreOptions {
  readonly directory: string
  readonly moment: Moment
  readonly onProgress: (doneBytes: number, totalBytes: number) => void
}

export interface Restored extends RestoredCounts {
  readonly from: NamedManifest
  /** The last one that is there. */
  readonly transaction: number
  readonly files: number
  readonly missing: readonly MissingRows[]
  readonly hasSecrets: boolean
}

/** Of an empty folder it must be seen that nothing in it was lost. */
const secretPaths = z.record(z.enum(['secret.key', 'attachments/secret']), z.string())

/**
 * Into a folder that is empty or not there. The folder is named with its format last: until then no service takes it
 * for a data directory. It is empty again after an error.
 */
export async function restoreBackup(
  store: BackupStore,
  { directory, moment, onProgress }: RestoreOptions,
): Promise<Restored> {
  const manifests = await readManifests(store)
  const from = chooseManifest(store.name, manifests, moment)
  requireEmpty(
    directory,
    'name a folder that is empty or not there; move the old one away, and delete it once all is well',
  )
  const lock = await lockDirectory(directory)
  try {
    const ranges = allRanges(from, manifests)
    await makeFolder(directory)
    const records = openRecords(directory, { readOnly: false })
    try {
      const removed = await restoreCatalog(store, from, records, moment)
      const through = throughOf(from, moment)
      const restore = new RecordsRestore(records, { through, removed })
      const needed = ranges.filter(({ after }) => after < through)
      await restoreRanges(store, needed, restore, onProgress)
      const { counts, missing } = restore.finish()
      const files = await restoreFiles(store, from, directory)
      const hasSecrets = await restoreSecrets(store, from, directory)
      writeFormat(directory)
      const transaction = counts.lastTransaction
      return { ...counts, from, transaction, files, missing, hasSecrets }
    } finally {
      await records.root.close()
    }
  } catch (thrown) {
    await emptyFolder(directory)
    throw thrown
  } finally {
    await lock.release()
  }
}

function throughOf({ manifest }: NamedManifest, moment: Moment): number {
  return moment === 'last'
    ? manifest.transaction
    : Math.min(moment.transaction, manifest.transaction)
}

/** Returns the numbers of the objects that had been removed at that moment. */
async function restoreCatalog(
  store: BackupStore,
  { manifest }: NamedManifest,
  records: RecordsEnvironment,
  moment: Moment,
): Promise<Set<number>> {
  const { chunks } = await readList(store, catalogPieces, manifest.catalog)
  const pieces = chunks.map(({ piece }) => piece)
  for await (const list of readPieces(store, pieces)) {
    RecordsRestore.writeCatalog(records, list, isSession)
  }
  records.root.resetReadTxn()
  if (moment !== 'last' && moment.time < manifest.time) undoChanges(records, moment.time)
  if (!hasBegun(records)) {
    throw new AssayError('COMMAND_INVALID', 'there was nothing yet at that moment', {
      hint: 'give a later one with --to, or leave it out for all that the backups have',
    })
  }
  const removed = new RemovedObjects()
  for (const { key, value } of records.catalog.getRange()) removed.note(key.toString(), value)
  records.root.resetReadTxn()
  return removed.numbers()
}

async function restoreRanges(
  store: BackupStore,
  ranges: readonly BackupRange[],
  restore: RecordsRestore,
  onProgress: RestoreOptions['onProgress'],
): Promise<void> {
  const total = ranges.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  for (const range of ranges) {
    const pieces = await readList(store, rangePieces, range.pieces)
    for await (const list of readPieces(store, pieces.log)) restore.writeLog(list)
    for await (const list of readPieces(store, pieces.rows)) {
      restore.writeRows(list)
      done += list.length
      onProgress(done, total)
    }
  }
}

async function restoreFiles(
  store: BackupStore,
  { manifest }: NamedManifest,
  directory: string,
): Promise<number> {
  let count = 0
  const { folders } = await readList(store, folderPieces, manifest.files)
  for (const folder of folders) {
    const { files } = await readList(store, filePieces, folder.files)
    await restoreFolder(store, files, join(directory, contentPath))
    count += files.filter(({ name }) => !name.endsWith('.json')).length
  }
  return count
}

async function restoreFolder(
  store: BackupStore,
  files: readonly StoredFile[],
  content: string,
): Promise<void> {
  const wrong = files.find(({ name }) => !isContentName(name))
  if (wrong) throw new AssayError('STORAGE_CORRUPT', 'the backup names a file of another place')
  const named = new Set(files.filter(({ isWithOthers }) => isWithOthers).map(({ name }) => name))
  const pieces = new Map(
    files
      .filter(({ isWithOthers }) => isWithOthers)
      .map(({ pieces: [piece] }) => [piece!.hash, piece!]),
  )
  for await (const list of readPieces(store, [...pieces.values()])) {
    for (const { key, value } of entriesOf(list)) {
      const name = key.toString()
      if (!named.has(name)) continue
      await makeFolder(dirname(join(content, name)))
      await writeDurably(join(content, name), value)
    }
  }
  for (const file of files.filter(({ isWithOthers }) => !isWithOthers)) {
    const path = join(content, file.name)
    await makeFolder(dirname(path))
    const written = await DurableFile.create(path)
    try {
      for await (const part of readPieces(store, file.pieces)) await written.handle.writeFile(part)
      await written.keep()
    } catch (thrown) {
      await written.abandon()
      throw thrown
    }
  }
}

async function restoreSecrets(
  store: BackupStore,
  { manifest }: NamedManifest,
  directory: string,
): Promise<boolean> {
  if (!manifest.secrets) return false
  const files = await readList(store, secretPaths, manifest.secrets)
  for (const [path, text] of Object.entries(files)) {
    if (text === undefined) continue
    await makeFolder(dirname(join(directory, path)))
    await writeDurably(join(directory, path), Buffer.from(text, 'base64'))
  }
  return true
}
