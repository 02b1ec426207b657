/**
 * What is known of ids: the newest version of each record.
 *
 * The database `ids` holds those of small requests, by their texts. A large request writes a run of
 * its own (`id-run.ts`); maintenance folds both into longer runs (`fold-ids.ts`). So an id may stand
 * in several places, of which the newest version counts.
 */
import { compareRowKeys } from '../type/transaction.ts'
import type { ReadTransaction, RecordsEnvironment } from './environment.ts'
import { chunkKey, findInChunk, fullHash, hashId, type IdHash, runOf } from './id-run.ts'
import type { IdRun, IdRunList } from './id-run-list.ts'
import { type CurrentVersion, decodeCurrentVersion, recordIdKey } from './record-key.ts'

type IdDatabases = Pick<RecordsEnvironment, 'ids' | 'idRuns'>

/** The newest version of the record `id`, deleted perhaps. */
export function currentVersion(
  databases: IdDatabases,
  { runs }: IdRunList,
  object: number,
  id: string,
  transaction?: ReadTransaction,
): CurrentVersion | undefined {
  const hash = fullHash(object, hashId(id))
  return newest(
    recentVersion(databases, object, id, transaction),
    versionInRuns(databases, runs, hash, transaction),
  )
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

/** What runs know. */
export function versionInRuns(
  { idRuns }: IdDatabases,
  runs: readonly IdRun[],
  hash: IdHash,
  transaction?: ReadTransaction,
): CurrentVersion | undefined {
  const options = transaction ? { transaction } : {}
  let found: CurrentVersion | undefined
  for (const { id } of runs) {
    const keys = idRuns.getKeys({
      start: chunkKey(id, hash),
      end: chunkKey(id, ''),
      reverse: true,
      limit: 1,
      ...options,
    })
    for (const key of keys) {
      // Read where LMDB puts it, and done with before the next value: a copy costs 5 µs.
      const value = runOf(key) === id ? idRuns.getBinaryFast(key, options) : undefined
      if (value) found = newest(found, findInChunk(value, hash))
    }
  }
  return found
}

export function newest(
  a: CurrentVersion | undefined,
  b: CurrentVersion | undefined,
): CurrentVersion | undefined {
  if (!a || !b) return a ?? b
  return compareRowKeys(a.version, b.version) < 0 ? b : a
}
