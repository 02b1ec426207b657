/** How many row versions of an object were removed for good, of which the log goes on to tell. */
import type { RecordsEnvironment } from '../environment.ts'

function countKey(object: number): Buffer {
  return Buffer.from(`purged ${object}`)
}

export function readPurgedCount(
  { progress }: Pick<RecordsEnvironment, 'progress'>,
  object: number,
): number {
  const value = progress.getUnlessDamaged(countKey(object))
  return value ? value.readDoubleBE() : 0
}

/** To be called in the transaction that removes them. */
export function addPurgedCount(
  records: Pick<RecordsEnvironment, 'progress'>,
  object: number,
  count: number,
): void {
  const value = Buffer.alloc(8)
  value.writeDoubleBE(readPurgedCount(records, object) + count)
  records.progress.putSync(countKey(object), value)
}
