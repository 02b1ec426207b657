/** Opens a data directory: keeps others off it, and looks at each file before anything trusts it. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  renameSync,
  statfsSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { tryLock } from 'fs-native-extensions'
import { AssayError } from '../../error.ts'
import { type DirectoryLock, lockDirectory, locked } from '../directory-lock.ts'
import { makeFolderSync, privateFile, syncPathSync } from '../durable-file.ts'
import { dataFile, recordsFolder, segmentFolders } from '../environment.ts'
import { faultNameOf } from '../system-fault.ts'
import { dataFormat, evictedFormat, formatFile, readFormat, writeFormat } from './data-format.ts'
import { fileFault } from './file-fault.ts'
import { type Inspection, inspectFile } from './inspect-file.ts'
import { allocateLockFile } from './lock-file.ts'
import { makePrivate } from './private-files.ts'

/** Is told what was found and done that the owner of the data should know. */
export type Note = (message: string) => void

/** File systems of other machines, by the numbers that Linux gives them. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x00c36400, 'Ceph'],
  [0x01021997, '9P'],
])

/**
 * Makes the directory if need be. Throws STORAGE_LOCKED while somebody else has it, STORAGE_FORMAT when a newer service
 * has written it, STORAGE_CORRUPT when records are missing or damaged, and STORAGE_UNAVAILABLE when the system lets
 * nobody use it. Segments that are damaged are set aside, to be made again.
 */
export async function openDirectory(directory: string, note: Note): Promise<DirectoryLock> {
  try {
    const socket = await lockDirectory(directory)
    let file: number | undefined
    const release = async () => {
      if (file !== undefined) closeSync(file)
      file = undefined
      await socket.release()
    }
    try {
      const format = readFormat(directory)
      file = lockRecords(directory)
      makePrivate(directory)
      checkRecords(directory, note)
      file ??= lockRecords(directory)
      checkSegments(directory, note)
      for (const folder of [recordsFolder(directory), ...segmentFolders(directory)]) {
        makeFolderSync(folder)
        allocateLockFile(folder)
      }
      if (format < dataFormat || !existsSync(join(directory, formatFile))) writeFormat(directory)
      else if (format > dataFormat && format < evictedFormat) writeFormat(directory, evictedFormat)
      noteNetwork(directory, note)
      return { release }
    } catch (thrown) {
      await release()
      throw thrown
    }
  } catch (thrown) {
    const cause = causeOf(thrown, directory)
    throw fileFault(cause, `cannot use the data directory ${directory}`) ?? cause
  }
}

/** A folder in what may only be read cannot be made for a reason that Node.js does not tell. */
function causeOf(thrown: unknown, directory: string): unknown {
  if (faultNameOf(thrown) !== 'ENOENT') return thrown
  let above = resolve(directory)
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
  try {
    accessSync(above, constants.W_OK)
    return thrown
  } catch (cause) {
    return cause
  }
}

/** Throws when segments were made of records that are not there any more. */
export function checkReach(
  directory: string,
  recordsThrough: number,
  segmentsThrough: number,
): void {
  if (segmentsThrough <= recordsThrough) return
  const [folder] = segmentFolders(directory)
  const message = `the segments have later records than ${join(recordsFolder(directory), dataFile)}`
  throw new AssayError('STORAGE_CORRUPT', message, {
    hint:
      'put back the data directory as a whole from a backup. ' +
      `If the records that are there are what you want, delete ${folder}, which is made again from them`,
  })
}

/**
 * The file of the records is locked, too, for as long as it is open: a lock that is deleted lets nobody in. Undefined while
 * there are no records, and where the system has no such locks.
 */
function lockRecords(directory: string): number | undefined {
  const path = join(recordsFolder(directory), dataFile)
  if (!existsSync(path)) return undefined
  const file = openSync(path, 'r+')
  try {
    if (tryLock(file) !== false) return file
  } catch {
    return file
  }
  closeSync(file)
  throw locked(directory, '')
}

/** What is there once a service has run: records that are missing beside it are lost. */
const traces = [
  formatFile,
  'segments/data.mdb',
  'segments/columns/data.mdb',
  'attachments',
  'async',
]

function checkRecords(directory: string, note: Note): void {
  const folder = recordsFolder(directory)
  const path = join(folder, dataFile)
  const inspection = noteMended(path, inspectFile(path), note)
  if (inspection.state === 'whole') return
  if (inspection.state === 'damaged') throw corrupt(path, inspection.fault)
  const trace = traces.find((name) => existsSync(join(directory, name)))
  if (trace !== undefined) {
    const fault =
      inspection.state === 'missing'
        ? 'it is missing'
        : `it has ${inspection.bytes} bytes, which is less than any such file`
    throw corrupt(path, `${fault}, and ${join(directory, trace)} shows that there were records`)
  }
  makeFolderSync(folder)
  closeSync(openSync(path, 'w', privateFile))
}

function noteMended(path: string, inspection: Inspection, note: Note): Inspection {
  if (inspection.state === 'whole' && inspection.mended !== undefined) {
    note(`${path}: ${inspection.mended}`)
  }
  return inspection
}

function corrupt(path: string, fault: string): AssayError {
  return new AssayError('STORAGE_CORRUPT', `the records cannot be used: ${path}: ${fault}`, {
    hint:
      'nothing was changed. Put back the data directory from a backup, ' +
      'or move it out of the way to begin with no records',
  })
}

/** Segments are made from the records, so that those that are not whole are moved out of the way, all together. */
function checkSegments(directory: string, note: Note): void {
  const [folder, columnsFolder] = segmentFolders(directory)
  const inspect = (path: string) => noteMended(path, inspectFile(path), note)
  const main = inspect(join(folder, dataFile))
  const columns = inspect(join(columnsFolder, dataFile))
  const fault = faultOf(main, columns)
  if (fault === undefined) return
  const aside = `${folder}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  renameSync(folder, aside)
  syncPathSync(directory)
  note(
    `${folder} ${fault}: it was moved to ${aside}, which may be deleted, ` +
      'and the segments are made again from the records',
  )
}

function faultOf(main: Inspection, columns: Inspection): string | undefined {
  if (main.state === 'damaged') return `is damaged (${dataFile}: ${main.fault})`
  if (columns.state === 'damaged') return `is damaged (columns/${dataFile}: ${columns.fault})`
  if (main.state === 'whole') {
    // Before columns had a file of their own they were in this one.
    const needsColumns = hasSegments(main) && !main.databases.has('segments')
    const isWhole = columns.state === 'whole' || !(needsColumns || isCut(columns))
    return isWhole ? undefined : `has no columns/${dataFile}, or it was cut off`
  }
  const isNew = !isCut(main) && columns.state !== 'whole' && !isCut(columns)
  return isNew ? undefined : `has no ${dataFile}, or it was cut off`
}

/** LMDB takes an empty file for a new one. */
function isCut(inspection: Inspection): boolean {
  return inspection.state === 'unwritten' && inspection.bytes > 0
}

function hasSegments({ databases }: Extract<Inspection, { state: 'whole' }>): boolean {
  return (databases.get('metadata')?.entries ?? 0) > 0
}

function noteNetwork(directory: string, note: Note): void {
  const name = networkFileSystems.get(statfsSync(directory).type)
  if (name === undefined) return
  note(
    `${directory} is on a network file system (${name}), where files that are mapped and locks ` +
      'are not safe: keep the data on a disk of this machine',
  )
}
