/**
 * What a backup consists of. Like all files of a store of backups it never changes once it is there.
 *
 *     backups/<time>-<transaction>.json   a backup: all ranges of transactions from the first one on
 *     archive/<time>-<transaction>.json   one range more, after a backup or another such file
 *     pieces/<2 digits>/<hash>            what both name
 *     unfinished.json                     how far a backup is that was not ended
 *
 * A file of the first three lines: JSON, and then the SHA-256 of that line.
 */
import { z } from 'zod'
import { AssayError } from '../error.ts'
import { contentHash } from '../storage/content-hash.ts'
import { formatTransaction } from '../type/transaction.ts'
import type { BackupStore } from './backup-store.ts'

const reference = z.object({ hash: z.string(), storedBytes: z.number(), bytes: z.number() })

/** Rows and log entries of the transactions after `after` and up to `through`. */
const range = z.object({
  after: z.number(),
  through: z.number(),
  /** A piece that lists the pieces: see `RangePieces`. */
  pieces: reference,
  /** Of the log's entries: see `LogDigest`. */
  digest: z.string(),
  rows: z.number(),
  bytes: z.number(),
  /** Rows that could not be read, or that the log tells of and that were not there. */
  missing: z.number(),
})

const manifestSchema = z.object({
  format: z.literal(1),
  kind: z.enum(['backup', 'archive']),
  /** Of the data directory that it is of. */
  source: z.string(),
  version: z.string(),
  /** When the catalog was read, in ms since 1970. */
  time: z.number(),
  /** When the backup that it goes back to, which read everything, was taken. */
  fullTime: z.number(),
  /** The last one that it has. */
  transaction: z.number(),
  /** What tells that transaction from another one with its number. */
  entry: z.string().nullable(),
  /** Of an archive, what it goes on from. */
  previous: z.string().nullable(),
  ranges: z.array(range),
  /** Of the service, with which all ranges are what it had; undefined when entries of the log changed at the end. */
  logState: z.string().optional(),
  /** A piece that lists the chunks of the catalog. */
  catalog: reference,
  /** A piece that lists those that list files. */
  files: reference,
  /** Undefined for a backup without secrets. */
  secrets: reference.optional(),
})

export type Manifest = Readonly<z.infer<typeof manifestSchema>>
export type BackupRange = Manifest['ranges'][number]

export interface NamedManifest {
  readonly path: string
  readonly manifest: Manifest
}

const folders = { backup: 'backups/', archive: 'archive/' } as const

export function manifestPath({ kind, time, transaction }: Manifest): string {
  const stamp = new Date(time).toISOString().replace(/[-:.]/g, '')
  return `${folders[kind]}${stamp}-${formatTransaction(transaction)}.json`
}

export async function writeManifest(store: BackupStore, manifest: Manifest): Promise<string> {
  const path = manifestPath(manifest)
  const text = JSON.stringify(manifest)
  await store.write(path, Buffer.from(`${text}\n${contentHash(Buffer.from(text))}\n`))
  return path
}

/** Throws STORAGE_CORRUPT when it is damaged. */
export async function readManifest(store: BackupStore, path: string): Promise<Manifest> {
  const bytes = await store.read(path)
  const lines = bytes?.toString('latin1').split('\n')
  const [text = '', hash] = lines ?? []
  const isWhole = lines?.length === 3 && hash === contentHash(Buffer.from(text, 'latin1'))
  const checked = isWhole ? manifestSchema.safeParse(JSON.parse(text)) : undefined
  if (checked?.success) return checked.data
  const fault = !bytes ? 'is missing' : isWhole ? 'is of another version of Assay' : 'is damaged'
  throw new AssayError('STORAGE_CORRUPT', `${path} ${fault}`, {
    hint: '"assay backup verify" names all that is damaged; other backups can be used',
  })
}

/** Of all that can be read, the oldest first. */
export function readManifests(
  store: BackupStore,
  onDamage: (path: string, error: AssayError) => void = () => {},
): Promise<NamedManifest[]> {
  return readUnknown(store, new Map(), onDamage)
}

/** By store: what was read of it. */
const readBefore = new WeakMap<BackupStore, ReadonlyMap<string, Manifest>>()

/** The same for who writes to a store all the while: a manifest never changes, and there may be ten thousands of archives. */
export async function readNewManifests(store: BackupStore): Promise<NamedManifest[]> {
  const manifests = await readUnknown(store, readBefore.get(store) ?? new Map(), () => {})
  readBefore.set(store, new Map(manifests.map(({ path, manifest }) => [path, manifest])))
  return manifests
}

async function readUnknown(
  store: BackupStore,
  known: ReadonlyMap<string, Manifest>,
  onDamage: (path: string, error: AssayError) => void,
): Promise<NamedManifest[]> {
  const found: NamedManifest[] = []
  for (const folder of Object.values(folders)) {
    for (const path of await store.list(folder)) {
      try {
        found.push({ path, manifest: known.get(path) ?? (await readManifest(store, path)) })
      } catch (thrown) {
        if (!(thrown instanceof AssayError)) throw thrown
        onDamage(path, thrown)
      }
    }
  }
  return found.sort((a, b) => a.manifest.time - b.manifest.time)
}

/** All ranges of a manifest, from the first transaction on. Throws STORAGE_CORRUPT where one is missing in between. */
export function allRanges(
  named: NamedManifest,
  manifests: readonly NamedManifest[],
): BackupRange[] {
  const byPath = new Map(manifests.map((each) => [each.path, each]))
  const chain = [named]
  for (let last = named; last.manifest.previous !== null; chain.push(last)) {
    const before = byPath.get(last.manifest.previous)
    if (!before) throw withoutPrevious(last)
    last = before
  }
  const ranges = chain.toReversed().flatMap(({ manifest }) => manifest.ranges)
  requireContiguous(named, ranges, 0)
  return ranges
}

/**
 * Those that are in no other manifest. Throws STORAGE_CORRUPT where one is missing behind the manifest that this one
 * goes on from, or that is not there.
 */
export function ownRanges(
  named: NamedManifest,
  manifests: ReadonlyMap<string, NamedManifest>,
): readonly BackupRange[] {
  const { previous, ranges } = named.manifest
  const before = previous === null ? undefined : manifests.get(previous)
  if (previous !== null && !before) throw withoutPrevious(named)
  requireContiguous(named, ranges, before?.manifest.transaction ?? 0)
  return ranges
}

function requireContiguous(
  { path, manifest }: NamedManifest,
  ranges: readonly BackupRange[],
  after: number,
): void {
  let through = after
  for (const range of ranges) {
    if (range.after !== through) throw incomplete(path)
    through = range.through
  }
  if (through !== manifest.transaction) throw incomplete(path)
}

function withoutPrevious({ path, manifest: { previous } }: NamedManifest): AssayError {
  return new AssayError('STORAGE_CORRUPT', `${path} needs ${previous}, which is missing or damaged`)
}

function incomplete(path: string): AssayError {
  return new AssayError('STORAGE_CORRUPT', `${path} does not have all transactions before its last`)
}
