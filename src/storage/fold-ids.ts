/**
 * Keeps the ids in few places: those that small requests wrote become a run, and runs of like length
 * become one. All of it in short transactions, so that requests never wait for long; a run counts
 * from the transaction on that lists it, and in the same the runs that it is made of count no more.
 */
import type { ReadTransaction, RecordsEnvironment } from './environment.ts'
import {
  encodeRun,
  fullHash,
  hashIdKey,
  type IdEntry,
  mergeChunks,
  type RunChunk,
  runOf,
  runRange,
} from './id-run.ts'
import { type IdRun, readRunList, writeRunList } from './id-run-list.ts'
import { decodeCurrentVersion, objectOf } from './record-key.ts'

export interface FoldLimits {
  /** Ids that `ids` may have before they become a run. */
  readonly recentIds: number
  /** As many runs of like length become one. */
  readonly fanIn: number
}

export const defaultFoldLimits: FoldLimits = { recentIds: 4096, fanIn: 4 }

/** Ids of `ids` that are folded at once: what is held in memory. */
const foldedAtOnce = 32_768
/** Changes of one transaction: some ten milliseconds. */
const chunksPerTransaction = 64
const removalsPerTransaction = 1000
/** Runs up to this length are alike. */
const shortRun = 1024

/** Folds once; false when there is nothing to fold. */
export function foldIds(records: RecordsEnvironment, limits = defaultFoldLimits): boolean {
  records.root.resetReadTxn()
  const recent = (records.ids.getStats() as { readonly entryCount: number }).entryCount
  return (recent >= limits.recentIds && foldRecent(records)) || mergeRuns(records, limits)
}

/** Removes what a process that was killed left of runs that do not count. */
export function removeUnlistedRuns(records: RecordsEnvironment): void {
  const listed = new Set(readRunList(records.progress).runs.map(({ id }) => id))
  for (let run = 0; ; run++) {
    const found = Array.from(records.idRuns.getKeys({ ...runRange(run, 2 ** 32 - 1), limit: 1 }))[0]
    if (!found) return
    run = runOf(found)
    if (!listed.has(run)) removeRun(records, run)
  }
}

function foldRecent(records: RecordsEnvironment): boolean {
  const recent = Array.from(records.ids.getRange({ limit: foldedAtOnce }))
  const entries = recent.map(({ key, value }): IdEntry => {
    return { hash: fullHash(objectOf(key), hashIdKey(key)), ...decodeCurrentVersion(value) }
  })
  entries.sort((a, b) => (a.hash < b.hash ? -1 : 1))
  writeRun(records, [], (run) => encodeRun(run, entries))
  for (let from = 0; from < recent.length; from += removalsPerTransaction) {
    records.root.transactionSync(() => {
      for (const { key, value } of recent.slice(from, from + removalsPerTransaction)) {
        // A version that was written meanwhile is in no run.
        if (records.ids.get(key)?.equals(value)) records.ids.removeSync(key)
      }
    })
  }
  return true
}

function mergeRuns(records: RecordsEnvironment, { fanIn }: FoldLimits): boolean {
  const merged = chooseRuns(readRunList(records.progress).runs, fanIn)
  if (!merged) return false
  records.root.resetReadTxn()
  const transaction = records.root.useReadTransaction()
  try {
    const runs = merged.map(({ id }) => chunksOf(records, id, transaction))
    writeRun(records, merged, (run) => mergeChunks(run, runs))
  } finally {
    transaction.done()
  }
  for (const { id } of merged) removeRun(records, id)
  return true
}

/** The shortest runs of like length, if they are enough. */
function chooseRuns(runs: readonly IdRun[], fanIn: number): readonly IdRun[] | undefined {
  const levels = new Map<number, IdRun[]>()
  for (const run of runs) {
    const level = Math.floor(Math.log(Math.max(1, run.entries / shortRun)) / Math.log(fanIn))
    levels.set(level, [...(levels.get(level) ?? []), run])
  }
  const enough = [...levels].filter(([, alike]) => alike.length >= fanIn)
  return enough.sort(([a], [b]) => a - b)[0]?.[1]
}

/** Writes a run, then lists it in the place of those that it is made of. */
function writeRun(
  records: RecordsEnvironment,
  replaced: readonly IdRun[],
  chunksOf: (run: number) => Iterable<RunChunk>,
): void {
  const { root, progress, idRuns } = records
  const run = root.transactionSync(() => {
    const list = readRunList(progress)
    writeRunList(progress, { ...list, next: list.next + 1 })
    return list.next
  })
  let entries = 0
  for (const chunks of batches(chunksOf(run), chunksPerTransaction)) {
    root.transactionSync(() => {
      for (const { key, value } of chunks) idRuns.putSync(key, value)
    })
    for (const chunk of chunks) entries += chunk.entries
  }
  const dropped = new Set(replaced.map(({ id }) => id))
  root.transactionSync(() => {
    const { next, runs } = readRunList(progress)
    const kept = runs.filter(({ id }) => !dropped.has(id))
    writeRunList(progress, { next, runs: [...kept, { id: run, entries }] })
  })
  root.resetReadTxn()
}

function removeRun({ root, idRuns }: RecordsEnvironment, run: number): void {
  root.resetReadTxn()
  for (const keys of batches(Array.from(idRuns.getKeys(runRange(run))), removalsPerTransaction)) {
    root.transactionSync(() => {
      for (const key of keys) idRuns.removeSync(key)
    })
  }
}

function* chunksOf(
  { idRuns }: RecordsEnvironment,
  run: number,
  transaction: ReadTransaction,
): Generator<Buffer> {
  for (const { value } of idRuns.getRange({ ...runRange(run), transaction })) yield value
}

function* batches<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length === size) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
