/** Ids are found in runs by where their parts begin, just as by LMDB's own search. */
import { expect, test } from 'vitest'
import { encodeRun, fullHash, hashId, type IdEntry } from '../../src/storage/id/id-run.ts'
import { currentVersion } from '../../src/storage/id/known-ids.ts'
import { RunChunks } from '../../src/storage/id/run-chunks.ts'
import { TemporaryRecords } from '../support/temporary-records.ts'

const objects = [1, 2, 70_000]
const ids = Array.from({ length: 1000 }, (_, i) => `record ${i}`)

function entriesOf(run: number): IdEntry[] {
  const entries = objects.flatMap((object) =>
    ids
      .filter((_, i) => i % run === 0)
      .map((id, index): IdEntry => {
        const version = { transaction: run * 1000, index }
        const hash = fullHash(object, hashId(id))
        return { hash, version, paginationKey: version, isDeleted: index % 7 === 0 }
      }),
  )
  return entries.sort((a, b) => (a.hash < b.hash ? -1 : 1))
}

/** No room, room for one part, and for all of them. */
test.each([0, 8168, 2 ** 20])(
  'every id is found in the newest run that has it, and no other, with %i bytes',
  (bytes) => {
    const records = new TemporaryRecords().environment
    const runs = [3, 5, 2].map((id) => ({ id, entries: entriesOf(id).length }))
    records.root.transactionSync(() => {
      for (const { id } of runs) {
        for (const { key, value } of encodeRun(id, entriesOf(id)))
          records.idRuns.putSync(key, value)
      }
    })
    const chunks = new RunChunks(bytes)
    for (const listed of [runs, runs.slice(1), runs]) {
      const list = { next: 9, runs: listed }
      for (const object of [...objects, 3]) {
        for (const id of [...ids, 'not there']) {
          const searched = currentVersion(records, list, object, id)
          const found = currentVersion(records, list, object, id, undefined, chunks)
          expect(found, `${object} ${id}`).toEqual(searched)
        }
      }
      const newest = currentVersion(records, list, 1, ids[0]!, undefined, chunks)?.version
      expect(newest).toEqual({ transaction: 5000, index: 0 })
    }
  },
)
