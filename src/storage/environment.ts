/**
 * The three LMDB environments. `records` takes small writes that must be durable at once; `segments`
 * takes large ones that can be made again from the records, so that neither holds up the other. The
 * columns of segments, each one value of megabytes, are in an environment of their own: LMDB never
 * moves a value, and small pages of later transactions between large free stretches would leave no
 * room for the next large one.
 * Each is opened once per thread; lmdb shares the map between the threads of a process.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { type Database, open, type RootDatabase, type Transaction } from 'lmdb'
import { AssayError } from '../error.ts'
import { CheckedDatabase, type PlainDatabase } from './checked-database.ts'
import { addChecksums, type CheckedSince, readCheckedSince } from './checked-since.ts'
import { privateFile, privateFolder, syncPathSync } from './durable-file.ts'
import type { RecordsDatabase } from './record-damage.ts'

/**
 * Address space only: a file grows as it is written, and the map never has to move. A process has 2 ** 47 of it,
 * and tests open some ten engines in one.
 */
const mapBytes = { records: 2 ** 42, segments: 2 ** 40, columns: 2 ** 41 }

/**
 * What lmdb does later, in promises. It is not for us: of a commit that fails, one more promise is rejected than
 * the caller gets, which ends the process; of a transaction that cannot begin, none is settled; and what was
 * put before something is thrown is committed.
 */
type WritesLater =
  | 'put'
  | 'remove'
  | 'transaction'
  | 'transactionAsync'
  | 'childTransaction'
  | 'batch'
  | 'ifVersion'
  | 'ifNoExists'
  | 'drop'
  | 'clearAsync'

/** An environment, as far as it is written to in the turn in which that is asked for. */
export type Root = Omit<RootDatabase<Buffer, Buffer>, WritesLater>

export interface BinaryDatabase extends Omit<Database<Buffer, Buffer>, WritesLater> {
  /**
   * The value where LMDB puts it: no copy in memory of its own, but good only until the next value is
   * read. Takes the options that `get` takes, which the package's types leave out.
   */
  getBinaryFast(
    key: Buffer,
    options?: { readonly transaction?: ReadTransaction },
  ): Buffer | undefined
}

/** What reads that must agree with each other are given. */
export type ReadTransaction = Transaction

/** A database of the records, whose values carry checksums. */
export type RecordDatabase = CheckedDatabase<ReadTransaction>

export interface RecordsEnvironment {
  /** The data directory. */
  readonly directory: string
  readonly root: Root
  /** Undefined as long as nothing is known to carry checksums. */
  readonly checkedSince: CheckedSince | undefined
  /** Catalog entries as JSON: see `catalog/`. */
  readonly catalog: RecordDatabase
  /**
   * Row versions: object u32, version key u64 → row, or block of rows (`storage/row/row-block.ts`). Their
   * checksums are looked at by who decodes them, since a block is read in parts.
   */
  readonly rows: BinaryDatabase
  /** Newest versions of records that were written lately: object u32, id → version key, pagination key, flags. */
  readonly ids: RecordDatabase
  /** The same of most records, by hashes of their ids (`storage/id/id-run.ts`). */
  readonly idRuns: RecordDatabase
  /** Which runs of ids count (`storage/id/id-run-list.ts`), and how far rows are packed. */
  readonly progress: RecordDatabase
  /** One entry per request: what it wrote (`storage/record-log.ts`). */
  readonly log: RecordDatabase
  /** Object u32, pagination key u64, version key u64 → the transaction that superseded it, u64. */
  readonly supersessions: RecordDatabase
  /** Object u32, path of a field (`storage/row/field-shapes.ts`) → the path as JSON. */
  readonly fieldPaths: RecordDatabase
}

export interface SegmentsEnvironment {
  /** The data directory. */
  readonly directory: string
  readonly root: Root
  readonly columnsRoot: Root
  /** Segment u32 → Arrow IPC file, padded to 16 MiB when it is full, so that it is mapped. */
  readonly columns: BinaryDatabase
  /** Segment u32 → its metadata as JSON (`storage/segment/metadata.ts`). */
  readonly metadata: BinaryDatabase
  /** Which granules hold a text, of fields with many (`storage/segment/key-index.ts`). */
  readonly keys: BinaryDatabase
  /**
   * Segment u32 → metadata of its indexes of texts as JSON; segment u32, number u32 → a chunk of their
   * bytes (`storage/segment/text-index-store.ts`).
   */
  readonly textIndexes: BinaryDatabase
  /** One entry: the current manifest as JSON (`storage/segment/manifest.ts`). */
  readonly manifest: BinaryDatabase
}

export interface OpenOptions {
  readonly readOnly: boolean
}

export function openRecords(directory: string, options: OpenOptions): RecordsEnvironment {
  const root = openRoot(recordsFolder(directory), mapBytes.records, options)
  let since: CheckedSince | undefined
  const database = (name: RecordsDatabase, mayBeUnchecked: (key: Buffer) => boolean) => {
    const stored = openDatabase(root, name) as PlainDatabase<ReadTransaction>
    return new CheckedDatabase(name, stored, mayBeUnchecked)
  }
  const isOlder = () => since === undefined
  const databases = {
    catalog: database('catalog', isOlder),
    ids: database('ids', isOlder),
    idRuns: database('id_runs', (key) => isOlder() || key.readUInt32BE(0) < since!.run),
    progress: database('progress', isOlder),
    log: database('log', isOlder),
    supersessions: database('supersessions', isOlder),
    fieldPaths: database('field_paths', isOlder),
  }
  const rows = openDatabase(root, 'rows')
  since = readCheckedSince(databases.progress)
  if (!since && !options.readOnly) {
    const { idRuns, progress, log, ...others } = databases
    since = addChecksums({ root, idRuns, progress, log, others: Object.values(others) })
  }
  return { directory, root, checkedSince: since, rows, ...databases }
}

export function openSegments(directory: string, options: OpenOptions): SegmentsEnvironment {
  const [folder, columnsFolder] = segmentFolders(directory)
  const root = openRoot(folder, mapBytes.segments, options)
  const columnsRoot = openRoot(columnsFolder, mapBytes.columns, options)
  const database = (name: string) => openDatabase(root, name)
  return {
    directory,
    root,
    columnsRoot,
    columns: openDatabase(columnsRoot, 'columns'),
    metadata: database('metadata'),
    keys: database('keys'),
    textIndexes: database('text_indexes'),
    manifest: database('manifest'),
  }
}

/** The one file of an environment, in its folder. */
export const dataFile = 'data.mdb'

export function recordsFolder(directory: string): string {
  return join(directory, 'records')
}

/** Of the two environments of segments, each with one file: that of all else, and that of their columns. */
export function segmentFolders(directory: string): readonly [string, string] {
  const folder = join(directory, 'segments')
  return [folder, join(folder, 'columns')]
}

/** What LMDB says of an environment that it has given up. */
const givenUp = -30795

/**
 * Whether LMDB has given the environment up: the page that ends a transaction, and so counts all its pages, could not
 * be written. Reads and writes fail from then on, until every thread has closed it.
 */
function isGivenUp(root: Root): boolean {
  try {
    root.resetReadTxn()
    root.useReadTransaction().done()
    return false
  } catch (thrown) {
    return isGivenUpError(thrown)
  }
}

/** The same of any of a data directory's. */
export function areGivenUp(parts: {
  readonly records?: RecordsEnvironment
  readonly segments: SegmentsEnvironment
}): boolean {
  const { root, columnsRoot } = parts.segments
  const roots = parts.records ? [parts.records.root, root, columnsRoot] : [root, columnsRoot]
  return roots.some(isGivenUp)
}

/**
 * The newest transaction, to read in. Without one, an iteration ends before its first entry where the environment is
 * given up, as if there were nothing.
 */
export function beginRead(root: Root): ReadTransaction {
  try {
    return root.useReadTransaction()
  } catch (thrown) {
    throw isGivenUpError(thrown) ? givenUpError(thrown) : thrown
  }
}

export function givenUpError(cause: unknown): AssayError {
  return new AssayError(
    'STORAGE_UNAVAILABLE',
    'the disk did not take the end of a transaction, so nothing is read until the data directory was opened anew',
    { hint: 'try again in some seconds', retryAfterSeconds: 2, cause },
  )
}

function isGivenUpError(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === givenUp
}

export async function closeSegments({ root, columnsRoot }: SegmentsEnvironment): Promise<void> {
  await root.close()
  await columnsRoot.close()
}

/** What directories had in place of `columns`, in the environment of all else. */
const olderColumns = 'segments'

/** Moves the columns of a directory that has them in one file with all else. Ended at any moment, it can be done again. */
export function moveColumns({ root, columnsRoot, columns }: SegmentsEnvironment): void {
  // Names of databases are keys of the root, and end in a zero.
  if (!root.doesExist(Buffer.from(`${olderColumns}\0`))) return
  const older = openDatabase(root, olderColumns)
  for (const key of older.getKeys()) {
    columnsRoot.transactionSync(() => columns.putSync(key, older.get(key)!))
  }
  root.transactionSync(() => older.dropSync())
}

/** An option that the package's types leave out. */
const ownerOnly = { permissionsMode: privateFile }

function openRoot(path: string, mapSize: number, { readOnly }: OpenOptions): Root {
  if (!readOnly) makeFile(path)
  refuseLostLock(path)
  const root = openFile(path, mapSize, readOnly)
  if (!readOnly) {
    syncFile(path)
    startFreeList(root)
  }
  return root
}

/**
 * LMDB notes the pages that a transaction frees when it ends, and ends the process (lmdb 3.5.6: an assertion in
 * `mdb_page_alloc`) where these are the first in the file and more than one page can name, some 250. A file that LMDB has
 * copied without what was free is like that, and its first transaction may be one that removes segments. It gets a
 * transaction before that frees a page or two.
 */
function startFreeList(root: Root): void {
  const { entryCount, free } = root.getStats() as Entries & { readonly free: Entries }
  if (entryCount === 0 || free.entryCount > 0) return
  const key = Buffer.of(0)
  root.transactionSync(() => {
    root.putSync(key, Buffer.alloc(0))
    root.removeSync(key)
  })
}

/** Parts of what LMDB tells of a tree that the package has no types for. */
interface Entries {
  readonly entryCount: number
}

function openFile(path: string, mapSize: number, readOnly: boolean): Root {
  return open<Buffer, Buffer>({
    path,
    noSubdir: false,
    readOnly,
    mapSize,
    maxDbs: 16,
    maxReaders: 1024,
    ...ownerOnly,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit returns only after its pages are on disk.
    overlappingSync: false,
  })
}

/**
 * LMDB does not sync the first pages of a new file, without which it cannot be opened: the file gets its name once
 * they are on disk.
 */
function makeFile(path: string): void {
  mkdirSync(path, { recursive: true, mode: privateFolder })
  if (existsSync(join(path, dataFile))) return
  const temporary = `${path}.new`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { mode: privateFolder })
  // Nothing waits to be written, so it is closed when this returns.
  void openFile(temporary, 2 ** 20, false).close()
  syncPathSync(join(temporary, dataFile))
  renameSync(join(temporary, dataFile), join(path, dataFile))
  rmSync(temporary, { recursive: true })
}

/**
 * Brings what the system holds of an environment's file to disk, and the names that lead to it, before anything is
 * written to it: the end of a transaction may have been taken back in memory alone when the last process ended, and pages
 * that it used are free for the next.
 */
function syncFile(path: string): void {
  for (const name of [join(path, dataFile), path, dirname(path)]) syncPathSync(name)
  try {
    syncPathSync(dirname(dirname(path)))
  } catch (thrown) {
    // What the data directory lies in need not be readable.
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EACCES')) throw thrown
  }
}

/**
 * LMDB knows by its lock file that threads have the same environment. One that is gone when a thread begins would
 * be made anew, and readers and writers would not know of each other any more.
 */
function refuseLostLock(path: string): void {
  if (isMainThread || existsSync(join(path, 'lock.mdb')) || !existsSync(join(path, dataFile)))
    return
  throw new AssayError('STORAGE_UNAVAILABLE', `${join(path, 'lock.mdb')} was deleted`, {
    hint: 'leave the files of the data directory alone, and start the service again',
  })
}

function openDatabase(root: Root, name: string): BinaryDatabase {
  return root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' })
}
