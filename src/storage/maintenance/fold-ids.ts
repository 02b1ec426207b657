/**
 * Keeps the ids in few places: those that small requests wrote become a run, and runs of like length
 * become one. All of it in short transactions, so that requests never wait for long; a run counts
 * from the transaction on that lists it, and in the same the runs that it is made of count no more.
 *
 * Millions of ids take seconds, for which nothing is flushed. So a fold may be left and gone on with: what it
 * has written counts for nothing until then, and the runs that it reads never change. Meanwhile shorter runs are folded.
 *
 * When many ids are of records that were removed for good, all runs become one without these. That takes all of them: an
 * older run may have an older version of such a record, which would count again without the newer one.
 */
import { AssayError } from '../../error.ts'
import type { RecordsEnvironment } from '../environment.ts'
import { goneIds, noteGoneIds } from '../id/gone-ids.ts'
import { entryCount } from '../id/id-chunk.ts'
import {
  encodeRun,
  fullHash,
  hashIdKey,
  type IdEntry,
  type IdHash,
  mergeChunks,
  objectOfHash,
  type RunChunk,
  runOf,
  runRange,
} from '../id/id-run.ts'
import { type IdRun, isRunListDamaged, readRunList, writeRunList } from '../id/id-run-list.ts'
import { damageError, isRecordDamage } from '../record-damage.ts'
import { decodeCurrentVersion, objectOf, objectRange } from '../record-key.ts'
import { StoredRows } from '../row/stored-rows.ts'

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
/** Of each run that is folded, what is held in memory. */
const chunksRead = 16
/** Runs up to this length are alike. */
const shortRun = 1024
/** Ids that are gone are left out once they are so many of all. */
const worthwhileShare = 1 / 32
/** Of rows that are looked for, what is kept in memory. */
const rowCacheBytes = 8 * 2 ** 20

/** What was begun, in steps of one transaction each. */
interface Fold {
  /** The runs that it puts into one, and about how long they are. */
  readonly runs: readonly IdRun[]
  readonly level: number
  readonly steps: Iterator<void>
}

/** By who folds: the last of them goes on first, and its runs are the shortest. */
const begun = new WeakMap<RecordsEnvironment, Fold[]>()

/** Runs of which some part is damaged: they stay as they are. */
const unreadable = new WeakMap<RecordsEnvironment, Set<number>>()

/**
 * Folds once, or goes on with what was begun; false when there is nothing to fold.
 *
 * @param forMs a fold that takes longer is left, for the next call to go on with
 */
export function foldIds(
  records: RecordsEnvironment,
  limits = defaultFoldLimits,
  forMs = Number.POSITIVE_INFINITY,
): boolean {
  const until = performance.now() + forMs
  records.root.resetReadTxn()
  const folds = begun.get(records) ?? []
  begun.set(records, folds)
  const next = nextFold(records, limits, folds)
  if (next) folds.push(next)
  const fold = folds.at(-1)
  if (!fold) return false
  try {
    while (!fold.steps.next().done) if (performance.now() >= until) return true
    folds.pop()
  } catch (thrown) {
    folds.pop()
    if (!isDamage(thrown)) throw thrown
  }
  return true
}

function isDamage(thrown: unknown): boolean {
  return thrown instanceof AssayError && thrown.code === 'STORAGE_CORRUPT'
}

function unreadableOf(records: RecordsEnvironment): Set<number> {
  const known = unreadable.get(records) ?? new Set()
  unreadable.set(records, known)
  return known
}

/** Undefined when none is shorter than those that were begun. */
function nextFold(
  records: RecordsEnvironment,
  { recentIds, fanIn }: FoldLimits,
  begun: readonly Fold[],
): Fold | undefined {
  const most = begun.at(-1)?.level ?? Number.POSITIVE_INFINITY
  const recent = (records.ids.getStats() as { readonly entryCount: number }).entryCount
  if (recent >= recentIds && most >= 0) {
    return { runs: [], level: -1, steps: foldRecent(records) }
  }
  const taken = new Set(begun.flatMap(({ runs }) => runs.map(({ id }) => id)))
  for (const run of unreadableOf(records)) taken.add(run)
  const all = readRunList(records.progress).runs
  const free = all.filter(({ id }) => !taken.has(id))
  const isWhole = begun.length === 0 && unreadableOf(records).size === 0
  if (isWhole && areManyGone(records, all)) {
    return { runs: all, level: Number.POSITIVE_INFINITY, steps: dropGone(records, all) }
  }
  const chosen = chooseRuns(free, fanIn)
  if (!chosen || chosen.level >= most) return undefined
  return { ...chosen, steps: mergeRuns(records, chosen.runs) }
}

/** Removes what a process that was killed left of runs that do not count. */
export function removeUnlistedRuns(records: RecordsEnvironment): void {
  if (restoreRunList(records)) return
  const listed = new Set(readRunList(records.progress).runs.map(({ id }) => id))
  for (let run = 0; ; run++) {
    const found = Array.from(records.idRuns.getKeys({ ...runRange(run, 2 ** 32 - 1), limit: 1 }))[0]
    if (!found) return
    run = runOf(found)
    if (!listed.has(run)) for (const _ of removeRuns(records, [run]));
  }
}

/**
 * Lists all runs if the list is damaged: those that should not be in it have nothing that is newer than what the others
 * have of the same ids, unless it was damaged before what a kill had left of a fold of all runs was removed. False when it
 * is not damaged.
 */
export function restoreRunList(records: RecordsEnvironment): boolean {
  const { root, progress, idRuns } = records
  if (!isRunListDamaged(progress)) return false
  const entries = new Map<number, number>()
  for (const { key, value } of idRuns.getReadable({}, () => undefined)) {
    const run = runOf(key)
    entries.set(run, (entries.get(run) ?? 0) + entryCount(value))
  }
  const runs = Array.from(entries, ([id, count]) => ({ id, entries: count }))
  const next = runs.reduce((most, { id }) => Math.max(most, id), 0) + 1
  root.transactionSync(() => writeRunList(progress, { next, runs }))
  root.resetReadTxn()
  return true
}

function* foldRecent(records: RecordsEnvironment): Generator<void> {
  // What is damaged stays where it is, and is told of to who asks for it.
  const range = { limit: foldedAtOnce }
  const recent = Array.from(records.ids.getReadable(range, () => undefined))
  if (recent.length === 0) return
  const entries = recent.map(({ key, value }): IdEntry => {
    return { hash: fullHash(objectOf(key), hashIdKey(key)), ...decodeCurrentVersion(value) }
  })
  entries.sort((a, b) => (a.hash < b.hash ? -1 : 1))
  yield* writeRun(records, [], (run) => encodeRun(run, entries))
  for (const removed of batches(recent, removalsPerTransaction)) {
    records.root.transactionSync(() => {
      for (const { key, value } of removed) {
        // A version that was written meanwhile is in no run.
        if (records.ids.get(key)?.equals(value)) records.ids.removeSync(key)
      }
    })
    yield
  }
}

function* mergeRuns(records: RecordsEnvironment, merged: readonly IdRun[]): Generator<void> {
  const runs = merged.map(({ id }) => chunksOf(records, id))
  yield* writeRun(records, merged, (run) => mergeChunks(run, runs))
  yield* removeRuns(
    records,
    merged.map(({ id }) => id),
  )
}

function areManyGone({ progress }: RecordsEnvironment, runs: readonly IdRun[]): boolean {
  const all = runs.reduce((sum, { entries }) => sum + entries, 0)
  return all > 0 && goneIds(progress) >= all * worthwhileShare
}

/** All runs become one, without ids of which nothing is stored. What is in no run yet, or comes meanwhile, stays. */
function* dropGone(records: RecordsEnvironment, merged: readonly IdRun[]): Generator<void> {
  const noted = goneIds(records.progress)
  const isGone = goneFrom(records)
  const runs = merged.map(({ id }) => chunksOf(records, id))
  yield* writeRun(
    records,
    merged,
    (run) => mergeChunks(run, runs, isGone),
    () => noteGoneIds(records.progress, -noted),
  )
  yield* removeRuns(
    records,
    merged.map(({ id }) => id),
  )
}

/** Whether the newest entry of an id in all runs is of a record of which nothing is stored. */
function goneFrom(records: RecordsEnvironment): (entry: IdEntry) => boolean {
  const { ids, rows } = records
  // A deletion that a large request wrote may be all that says that these versions do not count.
  const recent = new Set<IdHash>()
  for (const key of ids.getKeys()) recent.add(fullHash(objectOf(key), hashIdKey(key)))
  const stored = new StoredRows(records, rowCacheBytes)
  const isEmpty = new Map<number, boolean>()
  return ({ hash, version, isDeleted }) => {
    if (recent.has(hash)) return false
    const object = objectOfHash(hash)
    if (!isEmpty.has(object)) {
      isEmpty.set(
        object,
        Array.from(rows.getKeys({ ...objectRange(object), limit: 1 })).length === 0,
      )
    }
    if (isEmpty.get(object)) return true
    try {
      return isDeleted && stored.keptRowAt(object, version) === undefined
    } catch (thrown) {
      if (isRecordDamage(thrown)) return false
      throw thrown
    }
  }
}

/** The shortest runs of like length, if they are enough. */
function chooseRuns(
  runs: readonly IdRun[],
  fanIn: number,
): Pick<Fold, 'runs' | 'level'> | undefined {
  const levels = new Map<number, IdRun[]>()
  for (const run of runs) {
    const level = Math.floor(Math.log(Math.max(1, run.entries / shortRun)) / Math.log(fanIn))
    levels.set(level, [...(levels.get(level) ?? []), run])
  }
  const enough = [...levels].filter(([, alike]) => alike.length >= fanIn)
  const [shortest] = enough.sort(([a], [b]) => a - b)
  return shortest && { level: shortest[0], runs: shortest[1] }
}

/**
 * Writes a run, then lists it in the place of those that it is made of.
 *
 * @param listed called in the transaction that lists it
 */
function* writeRun(
  records: RecordsEnvironment,
  replaced: readonly IdRun[],
  chunksOf: (run: number) => Iterable<RunChunk>,
  listed?: () => void,
): Generator<void> {
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
    yield
  }
  const dropped = new Set(replaced.map(({ id }) => id))
  root.transactionSync(() => {
    const { next, runs } = readRunList(progress)
    const kept = runs.filter(({ id }) => !dropped.has(id))
    const written = entries > 0 ? [{ id: run, entries }] : []
    writeRunList(progress, { next, runs: [...kept, ...written] })
    listed?.()
  })
  root.resetReadTxn()
}

/** Most runs are of one commit and have few chunks: a transaction waits for the disk, and removes many of them. */
function* removeRuns(records: RecordsEnvironment, runs: readonly number[]): Generator<void> {
  const { root, idRuns } = records
  for (const keys of batches(keysOf(records, runs), removalsPerTransaction)) {
    root.transactionSync(() => {
      for (const key of keys) idRuns.removeSync(key)
    })
    yield
  }
}

function* keysOf({ root, idRuns }: RecordsEnvironment, runs: readonly number[]): Generator<Buffer> {
  for (const run of runs) {
    root.resetReadTxn()
    yield* Array.from(idRuns.getKeys(runRange(run)))
  }
}

/** Without a transaction, which would keep LMDB from using freed pages for as long as the fold takes. */
function* chunksOf(records: RecordsEnvironment, run: number): Generator<Buffer> {
  const { root, idRuns } = records
  const range = runRange(run)
  let after: Buffer | undefined
  while (true) {
    root.resetReadTxn()
    const start = after ?? range.start
    const part = { ...range, start, exclusiveStart: after !== undefined, limit: chunksRead }
    const chunks = Array.from(
      idRuns.getReadable(part, (damage) => {
        unreadableOf(records).add(run)
        throw damageError(damage)
      }),
    )
    for (const { value } of chunks) yield value
    if (chunks.length < chunksRead) return
    after = chunks.at(-1)!.key
  }
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
