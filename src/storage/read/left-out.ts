/**
 * Row versions that a flush has left out of segments, as some of them are damaged: queries read them of the row store
 * for good, and so are told of the damage.
 *
 *     note = { object u32, 0 u16, after u48, through u48, 0 u16 }*   under `left out` in the database `progress`
 */
import type { RecordDatabase, RecordsEnvironment } from '../environment.ts'

/** Row versions of an object by transactions later than `after`, and up to `through`. */
export interface LeftOut {
  readonly object: number
  readonly after: number
  readonly through: number
}

const noteKey = Buffer.from('left out')
const entryBytes = 20

export function readLeftOut(progress: RecordDatabase): LeftOut[] {
  const note = progress.get(noteKey)
  if (!note) return []
  return Array.from({ length: note.length / entryBytes }, (_, i) => {
    const at = i * entryBytes
    const [after, through] = [note.readUIntBE(at + 6, 6), note.readUIntBE(at + 12, 6)]
    return { object: note.readUInt32BE(at), after, through }
  })
}

/** Replaces the note. */
export function writeLeftOut(
  { root, progress }: RecordsEnvironment,
  all: readonly LeftOut[],
): void {
  const note = Buffer.alloc(all.length * entryBytes)
  all.forEach(({ object, after, through }, i) => {
    const at = i * entryBytes
    note.writeUInt32BE(object, at)
    note.writeUIntBE(after, at + 6, 6)
    note.writeUIntBE(through, at + 12, 6)
  })
  root.transactionSync(() => {
    if (all.length === 0) progress.removeSync(noteKey)
    else progress.putSync(noteKey, note)
  })
}
