/**
 * Takes a backup of a running service.
 *
 * Row versions never change, so those of a range of transactions may be read at any time, a piece at a time. The catalog
 * is read at one moment, after them; what was written until that moment is read then, too. Rows leave the service only
 * once their object is gone from the catalog: all that the catalog has is complete, or is read again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { RemovedObjects } from '../catalog/removed-objects.ts'
import { AssayError } from '../error.ts'
import { entriesOf } from '../storage/backup/entry-list.ts'
import type { BackupSource, SourceState } from './backup-source.ts'
import type { BackupStore } from './backup-store.ts'
import { ChangesReader } from './changes-reader.ts'
import { copyFiles } from './copy-files.ts'
import {
  allRanges,
  type BackupRange,
  type Manifest,
  type NamedManifest,
  readNewManifests,
  writeManifest,
} from './manifest.ts'
import { type PieceReference, readPiece, writePiece } from './piece.ts'
import {
  type CatalogPieces,
  catalogPieces,
  folderPieces,
  readList,
  writeList,
} from './piece-lists.ts'
import { Unfinished } from './unfinished.ts'

export interface BackupOptions {
  readonly kind: Manifest['kind']
  readonly hasSecrets: boolean
  /** Whether all is read, whatever there is of earlier backups. */
  readonly isFull: boolean
  /** Told of the bytes of each answer; resolves when the next question may be asked. */
  readonly onRead: (what: 'rows' | 'catalog' | 'files', bytes: number) => Promise<void>
}

export interface TakenBackup extends NamedManifest {
  readonly previous: NamedManifest | undefined
  /** Whether all is as it was in the previous one: an archive is not written then. */
  readonly isUnchanged: boolean
}

/** How often all is read again because something was removed while rows were read. */
const mostReadings = 10
/** Bytes of pieces that a kill may cost. */
const notedEvery = 64 * 2 ** 20

/** Throws what the service and the store throw. What was read until then is used by the next call. */
export async function takeBackup(
  store: BackupStore,
  source: BackupSource,
  options: BackupOptions,
): Promise<TakenBackup> {
  const run = new BackupRun(store, source, options)
  return run.take()
}

interface ReadChanges {
  readonly changes: ChangesReader
  readonly catalog: ReadCatalog
  /** What of the log was known before it was compared with what was read; nothing when it was not. */
  readonly checked: KnownLog
}

interface ReadCatalog {
  readonly transaction: number
  readonly time: number
  readonly pieces: CatalogPieces
}

class BackupRun {
  readonly #store: BackupStore
  readonly #source: BackupSource
  readonly #options: BackupOptions
  /** Chunks of the catalog that are stored, by the hash of their content. */
  readonly #chunks = new Map<string, PieceReference>()
  /** What the catalog's chunks tell of removed objects, in the order in which they came: of a stream they are not read again. */
  readonly #streamed = new RemovedObjects()

  constructor(store: BackupStore, source: BackupSource, options: BackupOptions) {
    this.#store = store
    this.#source = source
    this.#options = options
  }

  async take(): Promise<TakenBackup> {
    const { kind, hasSecrets } = this.#options
    const state = await this.#source.state(0)
    const manifests = await readNewManifests(this.#store)
    const previous = await this.#previous(state, manifests)
    if (kind === 'archive' && !previous) {
      throw new AssayError('COMMAND_INVALID', 'there is no backup that an archive could go on from')
    }
    if (kind === 'archive' && previous && !isLogAs(previous.manifest, state)) {
      await this.#requireAsRead(allRanges(previous, manifests))
    }
    if (previous) await this.#noteChunks(previous.manifest)
    const before = previous && kind === 'backup' ? allRanges(previous, manifests) : []
    const after = previous?.manifest.transaction ?? 0
    const begun = await this.#begin(state, previous, after)
    const { unfinished } = begun
    await this.#read(begun.changes, unfinished, state.transaction)
    const { changes, catalog, checked } = await this.#readAll(begun.changes, unfinished)
    const isBeforeAsRead = previous !== undefined && isLogAs(previous.manifest, checked)
    const ranges = isBeforeAsRead ? before : await this.#ranges(before, catalog)
    const filesBefore =
      previous && (await readList(this.#store, folderPieces, previous.manifest.files))
    const files = await copyFiles(this.#store, this.#source, filesBefore, this.#options.onRead)
    const added = await this.#rangeOf(changes, after, catalog)
    const end = await this.#source.state(catalog.transaction)
    const manifest: Manifest = {
      format: 1,
      kind,
      source: state.source,
      version: state.version,
      time: catalog.time,
      fullTime: previous?.manifest.fullTime ?? catalog.time,
      transaction: catalog.transaction,
      entry: end.entry,
      previous: kind === 'archive' ? previous!.path : null,
      ranges: kind === 'archive' ? added : [...ranges, ...added],
      ...(isLogAs(this.#knownOf(state, checked), end) && { logState: end.logState }),
      catalog: await writeList(this.#store, catalog.pieces),
      files: await writeList(this.#store, files),
      ...(hasSecrets && { secrets: await this.#secrets() }),
    }
    const isUnchanged = previous !== undefined && isSame(previous.manifest, manifest)
    const path =
      isUnchanged && kind === 'archive' ? previous.path : await writeManifest(this.#store, manifest)
    await unfinished?.end()
    return { path, manifest, previous, isUnchanged }
  }

  /** Of an archive, the ranges before it were compared at its beginning. */
  #knownOf(begun: KnownLog, checked: KnownLog): KnownLog {
    return this.#options.kind === 'backup' || isLogAs(begun, checked) ? checked : {}
  }

  /** What this one goes on from: the last one of the same data, whose last transaction the service has. */
  async #previous(
    state: SourceState,
    manifests: readonly NamedManifest[],
  ): Promise<NamedManifest | undefined> {
    const { kind, isFull, hasSecrets } = this.#options
    if (isFull) return undefined
    for (const each of manifests.toReversed()) {
      const { manifest } = each
      if (manifest.source !== state.source) continue
      if (kind === 'backup' && manifest.kind === 'archive') continue
      if (hasSecrets !== (manifest.secrets !== undefined)) continue
      const { entry } = await this.#source.state(manifest.transaction)
      if (manifest.transaction === 0 || entry === manifest.entry) return each
    }
    return undefined
  }

  /** Those of a backup before, as they are; what has changed in the service since, as rows were removed or mended, is read again. */
  async #ranges(before: readonly BackupRange[], { pieces }: ReadCatalog): Promise<BackupRange[]> {
    const ranges: BackupRange[] = []
    for (const range of before) ranges.push(await this.#asItIs(range, pieces))
    return ranges
  }

  /** Deletions leave with the rows that they deleted: without them, those that were read before would be there again. */
  async #requireAsRead(ranges: readonly BackupRange[]): Promise<void> {
    for (const { after, through, digest } of ranges) {
      if ((await this.#source.logDigest({ after, through })) === digest) continue
      throw new AssayError('COMMAND_INVALID', 'rows were removed for good since the last backup', {
        hint: 'take a backup, from which archives can go on',
      })
    }
  }

  async #asItIs(range: BackupRange, pieces: CatalogPieces): Promise<BackupRange> {
    const { after, through } = range
    let found = range
    for (let reading = 1; reading <= mostReadings; reading++) {
      if ((await this.#source.logDigest({ after, through })) === found.digest) break
      if (reading > 1) await pauseAfter(reading)
      const changes = await this.#reader(after)
      await this.#read(changes, undefined, through)
      found = await this.#rangeThat(changes, through, await this.#removedIn(pieces))
    }
    return found
  }

  async #reader(after: number): Promise<ChangesReader> {
    const { logState } = await this.#source.state(0)
    return new ChangesReader(this.#store, this.#source, { after, logState })
  }

  async #noteChunks({ catalog }: Manifest): Promise<void> {
    const { chunks } = await readList(this.#store, catalogPieces, catalog)
    for (const { hash, piece } of chunks) this.#chunks.set(hash, piece)
  }

  /** Goes on with what a backup that was not ended has read, if it is of the same. */
  async #begin(state: SourceState, previous: NamedManifest | undefined, after: number) {
    const { kind, hasSecrets } = this.#options
    const { logState } = state
    if (kind === 'archive') {
      const changes = new ChangesReader(this.#store, this.#source, { after, logState })
      return { changes, unfinished: undefined }
    }
    const identity = { source: state.source, previous: previous?.path ?? null, hasSecrets }
    const unfinished = await Unfinished.open(this.#store, identity, async (transaction) => {
      return (await this.#source.state(transaction)).entry
    })
    const { progress, chunks } = unfinished
    for (const [hash, piece] of chunks) this.#chunks.set(hash, piece)
    return {
      changes: new ChangesReader(this.#store, this.#source, progress ?? { after, logState }),
      unfinished,
    }
  }

  /** Reads what was written up to a transaction, and notes from time to time how far it is. */
  async #read(
    changes: ChangesReader,
    unfinished: Unfinished | undefined,
    through: number,
  ): Promise<void> {
    let unnoted = 0
    for await (const bytes of changes.read(through)) {
      await this.#options.onRead('rows', bytes)
      unnoted += bytes
      if (unnoted < notedEvery || !unfinished) continue
      unnoted = 0
      await this.#note(changes, unfinished)
    }
    if (unfinished) await this.#note(changes, unfinished)
  }

  async #note(changes: ChangesReader, unfinished: Unfinished): Promise<void> {
    const { through } = changes.progress
    const { entry } = await this.#source.state(through)
    await unfinished.note(changes.progress, entry, this.#chunks)
  }

  /**
   * The catalog, and all rows of what it has. Rows that are removed for good while others are read leave the log, too, in
   * the same transaction: while it is as it was read, so are the rows, and else all is read anew.
   */
  async #readAll(begun: ChangesReader, unfinished: Unfinished | undefined): Promise<ReadChanges> {
    let changes = begun
    for (let reading = 1; ; reading++) {
      const catalog = await this.#readCatalog()
      await this.#read(changes, unfinished, catalog.transaction)
      const checked = await this.#source.state(0)
      if (reading === mostReadings) return { changes, catalog, checked: {} }
      const { after, through, digest } = changes.progress
      const isAsRead =
        isLogAs(changes.progress, checked) ||
        (await this.#source.logDigest({ after, through })) === digest
      if (!isAsRead) {
        await pauseAfter(reading)
        changes = await this.#reader(after)
        await this.#read(changes, unfinished, through)
        continue
      }
      const short = changes.shortObjects()
      if (short.length === 0) return { changes, catalog, checked }
      const removed = await this.#removedIn(catalog.pieces)
      const wanting = short.filter(({ object }) => !removed.has(object))
      // What is damaged stays so, however often it is read.
      if (wanting.length === 0 || reading > 2) return { changes, catalog, checked }
    }
  }

  async #readCatalog(): Promise<ReadCatalog> {
    for (;;) {
      const known = [...this.#chunks.keys()]
      const answer = await this.#source.catalog(known, this.#options.hasSecrets)
      let bytes = 0
      for (const { hash, list } of answer.chunks) {
        if (!list) continue
        bytes += list.length
        if (this.#store.isStream) noteEntries(this.#streamed, list)
        this.#chunks.set(hash, await writePiece(this.#store, list))
      }
      await this.#options.onRead('catalog', bytes)
      const chunks = answer.chunks.map(({ hash }) => ({ hash, piece: this.#chunks.get(hash) }))
      if (chunks.every(({ piece }) => piece !== undefined)) {
        const { transaction, time } = answer
        return { transaction, time, pieces: { chunks } as CatalogPieces }
      }
    }
  }

  async #removedIn({ chunks }: CatalogPieces): Promise<Set<number>> {
    if (this.#store.isStream) return this.#streamed.numbers()
    const removed = new RemovedObjects()
    for (const { piece } of chunks) {
      const list = await readPiece(this.#store, piece)
      noteEntries(removed, list)
    }
    return removed.numbers()
  }

  async #rangeOf(
    changes: ChangesReader,
    after: number,
    { transaction: through, pieces }: ReadCatalog,
  ): Promise<BackupRange[]> {
    if (through === after) return []
    const short = changes.shortObjects()
    const removed = short.length === 0 ? new Set<number>() : await this.#removedIn(pieces)
    return [await this.#rangeThat(changes, through, removed)]
  }

  async #rangeThat(
    changes: ChangesReader,
    through: number,
    removed: ReadonlySet<number>,
  ): Promise<BackupRange> {
    const { after, rows, log, digest, rowCount, bytes } = changes.progress
    const missing = changes
      .shortObjects()
      .filter(({ object }) => !removed.has(object))
      .reduce((sum, { count }) => sum + count, 0)
    const pieces = await writeList(this.#store, { log, rows })
    return { after, through, pieces, digest, rows: rowCount, bytes, missing }
  }

  async #secrets(): Promise<PieceReference> {
    const files = await this.#source.secrets()
    const texts = Object.fromEntries(
      Array.from(files, ([path, bytes]) => [path, bytes.toString('base64')]),
    )
    return writeList(this.#store, texts)
  }
}

function noteEntries(removed: RemovedObjects, list: Buffer): void {
  for (const { key, value } of entriesOf(list)) removed.note(key.toString(), value)
}

type KnownLog = { readonly logState?: string | undefined }

/** Whether no entry was changed in between: all need not be compared. */
function isLogAs(before: KnownLog, now: KnownLog): boolean {
  return before.logState !== undefined && before.logState === now.logState
}

/** Whoever removes rows gets on with it. */
async function pauseAfter(reading: number): Promise<void> {
  await sleep(Math.min(2000, 50 * 2 ** reading))
}

function isSame(before: Manifest, now: Manifest): boolean {
  return (
    before.transaction === now.transaction &&
    before.catalog.hash === now.catalog.hash &&
    before.files.hash === now.files.hash &&
    before.secrets?.hash === now.secrets?.hash
  )
}
