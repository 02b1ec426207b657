/**
 * How a query node begins that reads its home's cluster: it takes over what the home keeps of rows whose bodies have left, some
 * 30 bytes of each. No body is read for that, neither of the home nor of the cluster.
 */
import type { ServiceSource } from '../../backup/service-source.ts'
import { AssayError } from '../../error.ts'
import type { IdsKept, KeptPiece } from '../../storage/backup/read-kept.ts'
import { BackupReader, type RowPlace } from '../../storage/backup/read-rows.ts'
import { KeptRestore } from '../../storage/backup/restore-kept.ts'
import { lockDirectory } from '../../storage/directory-lock.ts'
import { openRecords } from '../../storage/environment.ts'
import type { EvictedMark } from '../../storage/read/evicted-mark.ts'

/** What is asked of the home. */
export type KeptSource = Pick<
  ServiceSource,
  'log' | 'rows' | 'ids' | 'idRuns' | 'entries' | 'logDigest'
>

/**
 * Writes a data directory as the home's was at the transaction that its bodies have left through; what is newer is copied by
 * who opens it. Throws HOME_AHEAD when rows were removed at the home meanwhile.
 *
 * @param directory has no records yet
 * @returns how many row versions these are
 */
export async function takeOver(
  source: KeptSource,
  mark: EvictedMark,
  directory: string,
): Promise<number> {
  const lock = await lockDirectory(directory)
  try {
    const records = openRecords(directory, { readOnly: false })
    try {
      const restore = new KeptRestore(records, mark)
      const range = { after: 0, through: mark.through }
      await copyLog(source, mark.through, restore)
      let rows = 0
      for (let from: RowPlace | undefined, isFirst = true; isFirst || from; isFirst = false) {
        const piece = await source.rows(range, from, true)
        rows += restore.writeRows(piece.list)
        from = piece.next
      }
      await copyPieces(
        (after) => source.entries('supersessions', after),
        (list) => restore.writeSupersessions(list),
      )
      await copyPieces(
        (after) => source.entries('field paths', after),
        (list) => restore.writeFieldPaths(list),
      )
      restore.finish(await copyIds(source, restore))
      const here = new BackupReader(records).logDigest(range)
      if (here !== (await source.logDigest(range))) {
        throw new AssayError('HOME_AHEAD', 'rows were removed at the home meanwhile')
      }
      await restore.noteFlushed()
      return rows
    } finally {
      await records.root.close()
    }
  } finally {
    await lock.release()
  }
}

async function copyLog(source: KeptSource, through: number, restore: KeptRestore): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { list, next } = await source.log({ after, through })
    restore.writeLog(list)
    after = next
  }
}

async function copyPieces(
  ask: (after: string | undefined) => Promise<KeptPiece>,
  write: (list: Buffer) => void,
): Promise<void> {
  for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const { list, next } = await ask(after)
    write(list)
    after = next
  }
}

/** The home makes long runs of short ones meanwhile, until all that it lists at one moment are here. */
async function copyIds(source: KeptSource, restore: KeptRestore): Promise<IdsKept> {
  const copied = new Set<number>()
  for (;;) {
    const kept = await source.ids()
    const missing = kept.runs.map(({ id }) => id).filter((id) => !copied.has(id))
    if (missing.length === 0) return kept
    await copyPieces(
      (after) => source.idRuns(missing, after),
      (list) => restore.writeIdRuns(list),
    )
    for (const run of missing) copied.add(run)
  }
}
