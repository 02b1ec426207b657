/**
 * Reads what a data directory keeps of records beside their rows: hashes of ids, what is superseded, and names of fields. Who
 * takes it over needs no bodies to make them of. Each piece is read in a transaction of its own, while others write.
 */
import { beginRead, type ReadTransaction, type RecordsEnvironment } from '../environment.ts'
import { letQueriesPass } from '../give-way.ts'
import { runOf, runRange } from '../id/id-run.ts'
import { type IdRunList, readRunList } from '../id/id-run-list.ts'
import { EntryListWriter, type ListedEntry } from './entry-list.ts'

export type KeptEntries = 'supersessions' | 'field paths'

/** Ids that are in no run, and the runs that count beside them: all that is known at one moment. */
export interface IdsKept extends IdRunList {
  readonly list: Buffer
}

export interface KeptPiece {
  readonly list: Buffer
  /** Where to go on; undefined behind the last. */
  readonly next: string | undefined
}

export function idsKept(records: RecordsEnvironment): IdsKept {
  return reading(records, (transaction) => {
    const list = new EntryListWriter()
    for (const { key, value } of records.ids.getRange({ transaction })) list.add(key, value)
    return { ...readRunList(records.progress, transaction), list: list.take() }
  })
}

/**
 * About `bytes` of the runs, in the order of their numbers. A run never changes while it is listed; of one that is not any more
 * there may be a part, or nothing.
 */
export function idRunPiece(
  records: RecordsEnvironment,
  runs: readonly number[],
  after: string | undefined,
  bytes: number,
): KeptPiece {
  const last = keyOf(after)
  return reading(records, (transaction) => {
    const list = new EntryListWriter()
    for (const run of runs.toSorted((a, b) => a - b)) {
      if (last && run < runOf(last)) continue
      const isBegun = last !== undefined && run === runOf(last)
      const { start, end } = runRange(run)
      const range = { start: isBegun ? last : start, exclusiveStart: isBegun, end, transaction }
      const next = fill(list, records.idRuns.getRange(range), bytes)
      if (next !== undefined) return { list: list.take(), next }
      letQueriesPass()
    }
    return { list: list.take(), next: undefined }
  })
}

/** About `bytes` of what is superseded, with its transaction, or of the names of fields: of all objects. */
export function entryPiece(
  records: RecordsEnvironment,
  of: KeptEntries,
  after: string | undefined,
  bytes: number,
): KeptPiece {
  const last = keyOf(after)
  return reading(records, (transaction) => {
    const list = new EntryListWriter()
    const range = { ...(last && { start: last, exclusiveStart: true }), transaction }
    const entries =
      of === 'supersessions'
        ? records.supersessions.getRange(range)
        : // What is damaged is known again when a row has the field.
          records.fieldPaths.getReadable(range, () => undefined)
    const next = fill(list, entries, bytes)
    return { list: list.take(), next }
  })
}

/** Where to go on once the list has so many bytes; undefined behind the last entry. */
function fill(
  list: EntryListWriter,
  entries: Iterable<ListedEntry>,
  bytes: number,
): string | undefined {
  for (const { key, value } of entries) {
    list.add(key, value)
    if (list.length >= bytes) return key.toString('hex')
  }
  return undefined
}

function keyOf(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'hex')
}

function reading<Result>(
  { root }: Pick<RecordsEnvironment, 'root'>,
  read: (transaction: ReadTransaction) => Result,
): Result {
  root.resetReadTxn()
  const transaction = beginRead(root)
  try {
    return read(transaction)
  } finally {
    transaction.done()
  }
}
