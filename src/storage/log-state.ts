/**
 * Tells whether entries of the log are what they were: they change when rows leave for good, are set aside or are repaired. It
 * is a random value, not a count, so that a directory that was put back to an older copy of itself never has one twice.
 */
import { randomUUID } from 'node:crypto'
import type { RecordsEnvironment } from './environment.ts'

export const logStateKey = Buffer.from('log_state')
const neverChanged = 'new'

/** To be called in each transaction that changes entries that others may have read. */
export function noteLogChange({ progress }: Pick<RecordsEnvironment, 'progress'>): void {
  progress.putSync(logStateKey, Buffer.from(randomUUID()))
}

/** Equal values say that no entry was changed in between; entries may have been added. One that is damaged equals none. */
export function readLogState({ progress }: Pick<RecordsEnvironment, 'progress'>): string {
  if (!progress.has(logStateKey)) return neverChanged
  return progress.getUnlessDamaged(logStateKey)?.toString() ?? randomUUID()
}
