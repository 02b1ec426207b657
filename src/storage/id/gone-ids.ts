/**
 * How many ids the runs have of records of which nothing is stored any more: about as many entries as a fold of all runs can
 * leave out. It is a note that tells when that is worth its time, and no harm is done when it is lost.
 */
import type { RecordDatabase } from '../environment.ts'

const noteKey = Buffer.from('gone ids')

export function goneIds(progress: RecordDatabase): number {
  return Number(progress.getUnlessDamaged(noteKey)?.toString() ?? 0)
}

/** To be called in the transaction that removes the last of the records; with a negative count, in that which lists other runs. */
export function noteGoneIds(progress: RecordDatabase, count: number): void {
  if (count === 0) return
  const left = goneIds(progress) + count
  if (left > 0) progress.putSync(noteKey, Buffer.from(String(left)))
  else progress.removeSync(noteKey)
}
