/**
 * What is known of ids: the newest version of each record.
 *
 * The database `ids` holds those of small requests, by their texts. A large request writes a run of
 * its own (`id-run.ts`); maintenance folds both into longer runs (`fold-ids.ts`). So an id may stand
 * in several places, of which the newest version counts.
 */
import { compareRowKeys } from '../../type/transaction.ts'
import type { ReadTransaction, RecordDatabase, RecordsEnvironment } from '../environment.ts'
import { type CurrentVersion, decodeCurrentVersion, recordIdKey } from '../record-key.ts'
import type { HashNumbers } from './id-chunk.ts'
import {
  chunkKey,
  findInChunk,
  fullHash,
  hashId,
  hashNumbers,
  type IdHash,
  runOf,
} from './id-run.ts'
import type { IdRun, IdRunList } from './id-run-list.ts'
import type { RunChunks } from './run-chunks.ts'

type IdDatabases = Pick<RecordsEnvironment, 'ids' | 'idRuns'>

/**
 * The newest version of the record `id`, deleted perhaps.
 *
 * @param hasRecent false if nothing is in `ids`
 */
export function currentVersion(
  databases: IdDatabases,
  { runs }: IdRunList,
  object: number,
  id: string,
  transaction?: ReadTransaction,
  chunks?: RunChunks,
  hasRecent = true,
): CurrentVersion | undefined {
  const hash = fullHash(object, hashId(id))
  const inRuns = versionInRuns(databases, runs, hash, transaction, chunks)
  return hasRecent ? newest(recentVersion(databases, object, id, transaction), inRuns) : inRuns
}

/** What `ids` knows. */
export function recentVersion(
  { ids }: IdDatabases,
  object: number,
  id: string,
  transaction?: ReadTransaction,
): CurrentVersion | undefined {
  const value = ids.get(recordIdKey(object, id), transaction ? { transaction } : {})
  return value && decodeCurrentVersion(value)
}

/**
 * What runs know.
 *
 * @param chunks has parts of runs in memory
 */
export function versionInRuns(
  { idRuns }: IdDatabases,
  runs: readonly IdRun[],
  hash: IdHash,
  transaction?: ReadTransaction,
  chunks?: RunChunks,
): CurrentVersion | undefined {
  const wanted = hashNumbers(hash)
  chunks?.keep(runs)
  let found: CurrentVersion | undefined
  for (const run of runs) {
    const known = chunks ? chunks.find(idRuns, run, wanted, transaction) : 'unknown'
    const inRun = known === 'unknown' ? search(idRuns, run, hash, wanted, transaction) : known
    if (inRun) found = newest(found, inRun)
  }
  return found
}

function search(
  idRuns: RecordDatabase,
  run: IdRun,
  hash: IdHash,
  wanted: HashNumbers,
  transaction: ReadTransaction | undefined,
): CurrentVersion | undefined {
  const key = lastKey(idRuns, run.id, hash, transaction)
  // Read where LMDB puts it, and done with before the next value: a copy costs 5 µs.
  const value = key && idRuns.getBinaryFast(key, transaction ? { transaction } : undefined)
  return value && findInChunk(value, 0, value.length, wanted)
}

/** The key of the last part of the run that does not begin after the hash. */
function lastKey(
  idRuns: RecordDatabase,
  run: number,
  hash: IdHash,
  transaction: ReadTransaction | undefined,
): Buffer | undefined {
  const keys = idRuns.getKeys({
    start: chunkKey(run, hash),
    end: chunkKey(run, ''),
    reverse: true,
    limit: 1,
    ...(transaction && { transaction }),
  })
  for (const key of keys) return runOf(key) === run ? key : undefined
  return undefined
}

export function newest(
  a: CurrentVersion | undefined,
  b: CurrentVersion | undefined,
): CurrentVersion | undefined {
  if (!a || !b) return a ?? b
  return compareRowKeys(a.version, b.version) < 0 ? b : a
}
