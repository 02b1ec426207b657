/** Removes backups that are not to be kept, and pieces that no backup needs any more. */
import type { BackupStore } from './backup-store.ts'
import { type NamedManifest, readManifests } from './manifest.ts'
import { type PieceReference, pieceFolder, piecePath } from './piece.ts'
import { catalogPieces, filePieces, folderPieces, rangePieces, readList } from './piece-lists.ts'
import { notedPieces, readNote } from './unfinished.ts'

export interface Removal {
  readonly backups: readonly string[]
  readonly pieces: number
}

/**
 * Leaves the newest `keep` backups, and the archives that go on from them. While anything that is left is damaged, or
 * cannot be read, no piece is removed: it may be needed.
 */
export async function removeBackups(store: BackupStore, keep: number): Promise<Removal> {
  let isAnyDamaged = false
  const manifests = await readManifests(store, () => {
    isAnyDamaged = true
  })
  const backups = manifests.filter(({ manifest }) => manifest.kind === 'backup')
  const kept = new Set(backups.slice(-keep).map(({ path }) => path))
  // In the order of time, so that what an archive goes on from comes before it.
  for (const { path, manifest } of manifests) {
    if (manifest.previous !== null && kept.has(manifest.previous)) kept.add(path)
  }
  const removed = manifests.map(({ path }) => path).filter((path) => !kept.has(path))
  // Archives go before what they need.
  for (const path of removed.toReversed()) await store.remove(path)
  if (isAnyDamaged) return { backups: removed, pieces: 0 }
  const left = manifests.filter(({ path }) => kept.has(path))
  return { backups: removed, pieces: await removePieces(store, left) }
}

async function removePieces(store: BackupStore, left: readonly NamedManifest[]): Promise<number> {
  const needed = new Set<string>()
  const need = (pieces: readonly PieceReference[]) => {
    for (const { hash } of pieces) needed.add(piecePath(hash))
  }
  const lists = new Set<string>()
  const isNew = ({ hash }: PieceReference) => !lists.has(hash) && lists.add(hash)
  for (const { manifest } of left) {
    const { ranges, catalog, files, secrets } = manifest
    need([...ranges.map(({ pieces }) => pieces), catalog, files, ...(secrets ? [secrets] : [])])
    for (const { pieces } of ranges.filter(({ pieces }) => isNew(pieces))) {
      const { log, rows } = await readList(store, rangePieces, pieces)
      need([...log, ...rows])
    }
    if (isNew(catalog)) {
      const { chunks } = await readList(store, catalogPieces, catalog)
      need(chunks.map(({ piece }) => piece))
    }
    if (!isNew(files)) continue
    const { folders } = await readList(store, folderPieces, files)
    need(folders.map((folder) => folder.files))
    for (const folder of folders.filter((each) => isNew(each.files))) {
      const stored = await readList(store, filePieces, folder.files)
      for (const { pieces } of stored.files) need(pieces)
    }
  }
  const note = await readNote(store)
  if (note) need(notedPieces(note))
  let removed = 0
  for (const path of await store.list(pieceFolder)) {
    if (needed.has(path)) continue
    await store.remove(path)
    removed++
  }
  return removed
}
