/** The list of the runs of ids that count: one small entry, which the writer and maintenance change. */
import type { ReadTransaction, RecordDatabase } from '../environment.ts'

export interface IdRun {
  readonly id: number
  readonly entries: number
}

export interface IdRunList {
  /** The id of the next run. No id is given twice, so what a run without an entry left is never read. */
  readonly next: number
  readonly runs: readonly IdRun[]
}

const listKey = Buffer.from('runs')
const runBytes = 8

/** From the database `progress`. */
export function readRunList(list: RecordDatabase, transaction?: ReadTransaction): IdRunList {
  return readRunListAgain(list, undefined, transaction)
}

export function isRunListDamaged(list: RecordDatabase): boolean {
  const isThere = list.getKeysCount({ start: listKey, end: Buffer.concat([listKey, Buffer.of(0)]) })
  return isThere > 0 && list.getUnlessDamaged(listKey) === undefined
}

/** As `readRunList`, where the list was read before: mostly it is still the same. */
export function readRunListAgain(
  list: RecordDatabase,
  known: IdRunList | undefined,
  transaction?: ReadTransaction,
): IdRunList {
  const value = list.getBinaryFast(listKey, transaction ? { transaction } : undefined)
  if (!value) return { next: 1, runs: [] }
  return known && isSame(known, value) ? known : decodeRunList(value)
}

function isSame({ next, runs }: IdRunList, value: Buffer): boolean {
  if (value.length !== 4 + runs.length * runBytes || value.readUInt32BE(0) !== next) return false
  return runs.every(({ id, entries }, i) => {
    const at = 4 + i * runBytes
    return value.readUInt32BE(at) === id && value.readUInt32BE(at + 4) === entries
  })
}

function decodeRunList(value: Buffer): IdRunList {
  const runs: IdRun[] = []
  for (let at = 4; at < value.length; at += runBytes) {
    runs.push({ id: value.readUInt32BE(at), entries: value.readUInt32BE(at + 4) })
  }
  return { next: value.readUInt32BE(0), runs }
}

/** Must be called in the write transaction that the list was read in. */
export function writeRunList(list: RecordDatabase, { next, runs }: IdRunList): void {
  const value = Buffer.allocUnsafe(4 + runs.length * runBytes)
  let at = value.writeUInt32BE(next, 0)
  for (const { id, entries } of runs) {
    at = value.writeUInt32BE(id, at)
    at = value.writeUInt32BE(entries, at)
  }
  list.putSync(listKey, value)
}
