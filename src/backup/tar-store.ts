import { once } from 'node:events'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AssayError } from '../error.ts'
import { DurableFile } from '../storage/durable-file.ts'
import type { BackupStore } from './backup-store.ts'
import { blockBytes, endOfArchive, paddingOf, readTarHead, tarHead } from './tar-format.ts'
import { unfinishedPath } from './unfinished.ts'

/** A stream to which one backup is written, from its first piece to its manifest. Nothing of it can be read again. */
export class TarWriter implements BackupStore {
  readonly name: string
  readonly isStream = true
  readonly #write: (bytes: Uint8Array) => Promise<void>
  readonly #end: (isWhole: boolean) => Promise<void>
  #isEnded = false
  readonly #written = new Set<string>()
  /** What is still being written: bytes of two files do not mix. */
  #last: Promise<void> = Promise.resolve()

  private constructor(
    name: string,
    write: (bytes: Uint8Array) => Promise<void>,
    end: (isWhole: boolean) => Promise<void>,
  ) {
    this.name = name
    this.#write = write
    this.#end = end
  }

  static toStream(name: string, stream: Writable): TarWriter {
    const write = async (bytes: Uint8Array) => {
      if (!stream.write(bytes)) await once(stream, 'drain')
    }
    return new TarWriter(name, write, async () => {})
  }

  /** The file gets its name once it is whole. */
  static async toFile(path: string): Promise<TarWriter> {
    const file = await DurableFile.create(path)
    const write = async (bytes: Uint8Array) => {
      await file.handle.writeFile(bytes)
    }
    return new TarWriter(path, write, (isWhole) => (isWhole ? file.keep() : file.abandon()))
  }

  async has(path: string): Promise<boolean> {
    return this.#written.has(path)
  }

  async read(path: string): Promise<Buffer | undefined> {
    if (!this.#written.has(path)) return undefined
    throw new AssayError('INTERNAL', 'a file was read from a stream that is written')
  }

  /** Notes for the next backup are for no stream. */
  write(path: string, bytes: Uint8Array): Promise<void> {
    if (path === unfinishedPath) return Promise.resolve()
    this.#written.add(path)
    this.#last = this.#last.then(async () => {
      await this.#write(tarHead(path, bytes.length, Date.now()))
      await this.#write(bytes)
      await this.#write(Buffer.alloc(paddingOf(bytes.length)))
    })
    return this.#last
  }

  async list(): Promise<string[]> {
    return []
  }

  async remove(): Promise<void> {}

  /** What has not been closed by then was broken off, and no file is left of it. */
  async lock(): Promise<() => Promise<void>> {
    return async () => {
      if (!this.#isEnded) await this.#end(false)
    }
  }

  async close(): Promise<void> {
    await this.#write(endOfArchive)
    this.#isEnded = true
    await this.#end(true)
  }
}

type Places = ReadonlyMap<string, { readonly start: number; readonly bytes: number }>

/** The files of an archive, which is read once to find them. */
export class TarReader implements BackupStore {
  readonly name: string
  readonly #file: FileHandle
  readonly #places: Places

  private constructor(name: string, file: FileHandle, places: Places) {
    this.name = name
    this.#file = file
    this.#places = places
  }

  static async open(path: string): Promise<TarReader> {
    const file = await open(path, 'r')
    const places = new Map<string, { start: number; bytes: number }>()
    const { size } = await file.stat()
    const head = Buffer.alloc(blockBytes)
    for (let at = 0; at < size; ) {
      await file.read(head, 0, blockBytes, at)
      const found = readTarHead(head)
      if (!found) break
      const start = at + blockBytes
      places.set(found.name, { start, bytes: found.bytes })
      at = start + found.bytes + paddingOf(found.bytes)
    }
    return new TarReader(path, file, places)
  }

  /** A stream, which is kept in a file until the reader is closed. */
  static async fromStream(stream: Readable, path: string): Promise<TarReader> {
    const file = await open(path, 'w', 0o600)
    await pipeline(stream, file.createWriteStream())
    return TarReader.open(path)
  }

  async has(path: string): Promise<boolean> {
    return this.#places.has(path)
  }

  async read(path: string): Promise<Buffer | undefined> {
    const place = this.#places.get(path)
    if (!place) return undefined
    const bytes = Buffer.alloc(place.bytes)
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, place.start)
    return bytes.subarray(0, bytesRead)
  }

  async list(prefix: string): Promise<string[]> {
    return [...this.#places.keys()].filter((path) => path.startsWith(prefix)).sort()
  }

  async write(): Promise<void> {
    throw new AssayError('COMMAND_INVALID', `${this.name} is an archive, which is not changed`)
  }

  async remove(): Promise<void> {
    await this.write()
  }

  async lock(): Promise<() => Promise<void>> {
    return async () => {}
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
