/** Pieces that name other pieces, as JSON. */
import { z } from 'zod'
import { AssayError } from '../error.ts'
import type { BackupStore } from './backup-store.ts'
import { type PieceReference, readPiece, writePiece } from './piece.ts'

export const pieceReference = z.object({
  hash: z.string(),
  storedBytes: z.number(),
  bytes: z.number(),
})

/** Of a range of transactions. */
export const rangePieces = z.object({
  log: z.array(pieceReference),
  rows: z.array(pieceReference),
})

/** In the order of the catalog's keys. `hash` is that of the content, by which the service knows a chunk. */
export const catalogPieces = z.object({
  chunks: z.array(z.object({ hash: z.string(), piece: pieceReference })),
})

export const folderPieces = z.object({
  folders: z.array(z.object({ name: z.string(), modifiedMs: z.number(), files: pieceReference })),
})

/** A file has pieces of its own, or is in one with others, as an entry with its name. */
export const filePieces = z.object({
  files: z.array(
    z.object({
      name: z.string(),
      bytes: z.number(),
      modifiedMs: z.number(),
      isWithOthers: z.boolean(),
      pieces: z.array(pieceReference),
    }),
  ),
})

export type RangePieces = z.infer<typeof rangePieces>
export type CatalogPieces = z.infer<typeof catalogPieces>
export type FolderPieces = z.infer<typeof folderPieces>
export type FilePieces = z.infer<typeof filePieces>
export type StoredFile = FilePieces['files'][number]

export function writeList(store: BackupStore, list: object): Promise<PieceReference> {
  return writePiece(store, Buffer.from(JSON.stringify(list)))
}

export async function readList<Schema extends z.ZodType>(
  store: BackupStore,
  schema: Schema,
  reference: PieceReference,
): Promise<z.infer<Schema>> {
  const content = await readPiece(store, reference)
  const checked = schema.safeParse(JSON.parse(content.toString()))
  if (checked.success) return checked.data
  throw new AssayError('STORAGE_CORRUPT', 'a piece of the backup is not what its manifest says', {
    hint: 'a newer version of Assay may have written it',
  })
}
