/**
 * Pieces of a backup: bytes that never change, under the name of their own hash. So a backup is damaged where a piece
 * has another hash than its name, and pieces that backups share are stored once.
 *
 *     piece = codec u8, content          0: as it is, 1: deflated
 */
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { AssayError } from '../error.ts'
import { contentHash } from '../storage/content-hash.ts'
import type { BackupStore } from './backup-store.ts'

/** Where a piece is, and how long it is. */
export interface PieceReference {
  /** SHA-256 of what is stored, hexadecimal. */
  readonly hash: string
  readonly storedBytes: number
  readonly bytes: number
}

const codecs = { plain: 0, deflated: 1 } as const
/** What deflating has to save. */
const worthwhile = 0.9
/** A piece has about 8 MiB; one large value makes it larger. */
const mostBytes = 2 ** 31 - 1

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** Stores a piece, unless it is there already; one that is there and damaged is written anew. */
export async function writePiece(store: BackupStore, content: Uint8Array): Promise<PieceReference> {
  const stored = await encode(content)
  const hash = contentHash(stored)
  const path = piecePath(hash)
  if (!(await isWhole(store, path, stored))) await store.write(path, stored)
  return { hash, storedBytes: stored.length, bytes: content.length }
}

async function isWhole(store: BackupStore, path: string, stored: Buffer): Promise<boolean> {
  if (!(await store.has(path))) return false
  // What was written to a stream is on its way.
  return store.isStream === true || (await store.read(path))?.equals(stored) === true
}

/** Throws STORAGE_CORRUPT when it is not there or is not what it was. */
export async function readPiece(store: BackupStore, reference: PieceReference): Promise<Buffer> {
  const fault = await pieceFault(store, reference)
  if (typeof fault !== 'string') return fault
  throw new AssayError('STORAGE_CORRUPT', `the backup cannot be used: ${fault}`, {
    hint: '"assay backup verify" names all that is damaged, and which backups need it',
  })
}

/** Pieces in flight or in memory that were not asked for yet. */
const readAhead = 2

/** The pieces in turn: the next ones are read while one is used. Throws as `readPiece` does, when that piece's turn comes. */
export async function* readPieces(
  store: BackupStore,
  references: readonly PieceReference[],
): AsyncGenerator<Buffer> {
  const reading: Promise<Buffer>[] = []
  for (let next = 0; next < references.length || reading.length > 0; ) {
    while (reading.length <= readAhead && next < references.length) {
      const piece = readPiece(store, references[next++]!)
      piece.catch(() => undefined)
      reading.push(piece)
    }
    yield await reading.shift()!
  }
}

/** The content, or a sentence about what is wrong with the piece. */
export async function pieceFault(
  store: BackupStore,
  { hash, bytes }: PieceReference,
): Promise<Buffer | string> {
  const path = piecePath(hash)
  const stored = await store.read(path)
  if (!stored) return `${path} is missing`
  if (contentHash(stored) !== hash) return `${path} is damaged`
  const content =
    stored[0] === codecs.plain
      ? stored.subarray(1)
      : await inflate(stored.subarray(1), { maxOutputLength: mostBytes })
  return content.length === bytes ? content : `${path} has ${content.length} bytes, not ${bytes}`
}

export const pieceFolder = 'pieces/'

export function piecePath(hash: string): string {
  return `${pieceFolder}${hash.slice(0, 2)}/${hash}`
}

async function encode(content: Uint8Array): Promise<Buffer> {
  const deflated = await deflate(content, { level: 1 })
  if (deflated.length < content.length * worthwhile) {
    return Buffer.concat([Buffer.of(codecs.deflated), deflated])
  }
  return Buffer.concat([Buffer.of(codecs.plain), content])
}
