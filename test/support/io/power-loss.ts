/**
 * What a power loss may leave of what a process has written below a directory, made of the trace that `io-shim.c` has
 * kept: what was synced is there; each later write is there, is not, or is there in part; later changes of a folder's names
 * are there up to some one of them.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

const operations = [
  'none',
  'create',
  'write',
  'sync-begin',
  'sync-end',
  'write-synced',
  'truncate',
  'punch',
  'rename',
  'link',
  'unlink',
  'mkdir',
  'rmdir',
  'mark',
] as const

export interface TraceRecord {
  readonly operation: (typeof operations)[number]
  readonly path: string
  readonly inode: number
  /** Of a sync, its number. */
  readonly offset: number
  /** Of the end of a sync, 1 if it succeeded. */
  readonly length: number
  readonly data: Buffer
}

const headBytes = 40

export function readTrace(path: string): TraceRecord[] {
  const bytes = readFileSync(path)
  const records: TraceRecord[] = []
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const pathStart = at + headBytes
    const pathEnd = pathStart + bytes.readUInt32LE(at + 4)
    const end = pathEnd + Number(bytes.readBigUInt64LE(at + 32))
    // The process was killed in the middle of it.
    if (end > bytes.length) break
    records.push({
      operation: operations[bytes.readUInt32LE(at)]!,
      path: bytes.toString('utf8', pathStart, pathEnd),
      inode: Number(bytes.readBigUInt64LE(at + 8)),
      offset: Number(bytes.readBigUInt64LE(at + 16)),
      length: Number(bytes.readBigUInt64LE(at + 24)),
      data: bytes.subarray(pathEnd, end),
    })
    at = end
  }
  return records
}

/** A change of a file, or of the names in a folder, that is not known to be on disk. */
interface Pending {
  readonly number: number
  readonly record: TraceRecord
}

/** From 0 to less than 1. */
export type Random = () => number

const sectorBytes = 512

/** A disk that takes a trace, record by record, and can lose its power after each. */
export class TracedDisk {
  /** What was told to have been acknowledged. */
  told = ''
  readonly #directory: string
  /** Files that hold what is on disk of each inode. */
  readonly #images: string
  readonly #names = new Map<string, number>()
  readonly #folders = new Set<string>()
  readonly #changes = new Map<number, Pending[]>()
  readonly #nameChanges = new Map<string, Pending[]>()
  readonly #syncs = new Map<number, number>()
  /** Where names are at the moment, to tell what a renamed file is. */
  readonly #seen = new Map<string, number>()
  #number = 0

  constructor(directory: string, images: string) {
    this.#directory = directory
    this.#images = images
    mkdirSync(images, { recursive: true })
  }

  take(record: TraceRecord): void {
    const number = ++this.#number
    const { operation, path, inode, offset } = record
    switch (operation) {
      case 'mark':
        this.told += record.data.toString()
        break
      case 'create':
        this.#seen.set(path, inode)
        // A number may be that of a file that is gone.
        this.#changes.delete(inode)
        rmSync(this.#image(inode), { force: true })
        this.#noteName(path, { number, record })
        break
      case 'write':
      case 'truncate':
      case 'punch':
        this.#pendingOf(inode).push({ number, record })
        break
      case 'write-synced':
        this.#syncWrite(record)
        break
      case 'sync-begin':
        this.#syncs.set(offset, number)
        break
      case 'sync-end':
        if (record.length === 1) this.#sync(inode, this.#syncs.get(offset)!)
        break
      case 'rename':
      case 'link': {
        const moved = this.#seen.get(path)
        const to = record.data.toString()
        if (moved !== undefined) {
          this.#seen.set(to, moved)
          this.#noteName(to, { number, record: { ...record, inode: moved } })
        }
        if (operation === 'rename') this.#seen.delete(path)
        break
      }
      case 'unlink':
        this.#seen.delete(path)
        this.#noteName(path, { number, record })
        break
      case 'mkdir':
      case 'rmdir':
        this.#noteName(path, { number, record })
        break
    }
    if (operation === 'sync-begin') this.#folderSyncs.set(offset, path)
    if (operation === 'sync-end' && record.length === 1) {
      const folder = this.#folderSyncs.get(offset)!
      this.#syncNames(folder, this.#syncs.get(offset)!)
      this.#syncs.delete(offset)
      this.#folderSyncs.delete(offset)
    }
  }

  readonly #folderSyncs = new Map<number, string>()

  /** Writes what the loss leaves to another directory. */
  lose(to: string, random: Random): void {
    const names = new Map(this.#names)
    const folders = new Set(this.#folders)
    for (const pending of this.#nameChanges.values()) {
      const kept = Math.floor(random() * (pending.length + 1))
      for (const { record } of pending.slice(0, kept)) applyName(record, names, folders)
    }
    const isThere = (folder: string): boolean =>
      folder === this.#directory || (folders.has(folder) && isThere(dirname(folder)))
    mkdirSync(to, { recursive: true })
    const place = (path: string) => join(to, path.slice(this.#directory.length))
    for (const folder of folders) {
      if (isThere(folder)) mkdirSync(place(folder), { recursive: true })
    }
    for (const [path, inode] of names) {
      if (!isThere(dirname(path)) || basename(path).startsWith('socket-')) continue
      this.#leave(inode, place(path), random)
    }
  }

  #leave(inode: number, path: string, random: Random): void {
    closeSync(openSync(this.#image(inode), 'a'))
    copyFileSync(this.#image(inode), path, constants.COPYFILE_FICLONE)
    const file = openSync(path, 'r+')
    // Often all, or nothing, of what was written last.
    const share = [0, 1, random(), random()][Math.floor(random() * 4)]!
    for (const { record } of this.#changes.get(inode) ?? []) {
      if (random() < share) applyChange(file, record)
      else if (record.operation === 'write' && random() < 0.3) tear(file, record, random)
    }
    closeSync(file)
  }

  #sync(inode: number, before: number): void {
    const pending = this.#changes.get(inode)
    if (!pending) return
    const synced = pending.filter(({ number }) => number < before)
    if (synced.length === 0) return
    this.#changes.set(inode, pending.slice(synced.length))
    const file = openSync(this.#image(inode), constants.O_RDWR | constants.O_CREAT)
    for (const { record } of synced) applyChange(file, record)
    closeSync(file)
  }

  /** One write is on disk, and no other. */
  #syncWrite({ inode, offset, length }: TraceRecord): void {
    const pending = this.#pendingOf(inode)
    const place = pending.findLastIndex(
      ({ record }) => record.offset === offset && record.data.length === length,
    )
    const [written] = pending.splice(place, 1)
    // What it has overwritten can come back no more.
    const left = pending.filter(({ number, record }) => {
      const end = record.offset + record.data.length
      const isCovered = record.offset >= offset && end <= offset + length
      return record.operation !== 'write' || number > written!.number || !isCovered
    })
    this.#changes.set(inode, left)
    const file = openSync(this.#image(inode), constants.O_RDWR | constants.O_CREAT)
    applyChange(file, written!.record)
    closeSync(file)
  }

  #syncNames(folder: string, before: number): void {
    const pending = this.#nameChanges.get(folder)
    if (!pending) return
    const synced = pending.filter(({ number }) => number < before)
    this.#nameChanges.set(folder, pending.slice(synced.length))
    for (const { record } of synced) applyName(record, this.#names, this.#folders)
  }

  #pendingOf(inode: number): Pending[] {
    let pending = this.#changes.get(inode)
    if (!pending) {
      pending = []
      this.#changes.set(inode, pending)
    }
    return pending
  }

  #noteName(path: string, pending: Pending): void {
    const folder = dirname(path)
    const changes = this.#nameChanges.get(folder) ?? []
    changes.push(pending)
    this.#nameChanges.set(folder, changes)
  }

  #image(inode: number): string {
    return join(this.#images, String(inode))
  }
}

function applyName(record: TraceRecord, names: Map<string, number>, folders: Set<string>): void {
  const { operation, path, inode } = record
  const to = record.data.toString()
  if (operation === 'create') names.set(path, inode)
  else if (operation === 'mkdir') folders.add(path)
  else if (operation === 'unlink') names.delete(path)
  else if (operation === 'rmdir') folders.delete(path)
  else names.set(to, inode)
  if (operation === 'rename') names.delete(path)
}

function applyChange(file: number, { operation, offset, length, data }: TraceRecord): void {
  if (operation === 'write') writeSync(file, data, 0, data.length, offset)
  // The form with an offset makes a file longer, not shorter.
  else if (operation === 'truncate') ftruncateSync(file, length)
  else writeSync(file, new Uint8Array(length), 0, length, offset)
}

/** Some sectors of a write, or its beginning up to any byte. */
function tear(file: number, { data, offset }: TraceRecord, random: Random): void {
  if (random() < 0.5) {
    writeSync(file, data, 0, Math.floor(random() * data.length), offset)
    return
  }
  for (let at = 0; at < data.length; ) {
    const end = Math.min(data.length, at + sectorBytes - ((offset + at) % sectorBytes))
    if (random() < 0.5) writeSync(file, data, at, end - at, offset + at)
    at = end
  }
}
