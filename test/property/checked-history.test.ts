/**
 * Clients on connections of their own write, merge, delete, read, ask for versions and listen to live
 * queries, while the service flushes, compacts, removes objects, is stopped and is killed. A checker, which
 * `check-history.test.ts` tests, then says whether all of it was as if requests had come one by one.
 */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CompiledChild, compileChild } from '../support/compiled-child.ts'
import { checkHistory } from '../support/history/check-history.ts'
import { runHistory } from '../support/history/run-history.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'
import { makeTemporaryDirectory } from '../support/temporary-directory.ts'

const seconds = Number(process.env.ASSAY_HISTORY_SECONDS ?? (isSlow ? 300 : 8))
const restarts = Math.max(2, Math.floor(seconds / 20))

let child: CompiledChild
beforeAll(async () => {
  child = await compileChild('history-child')
})
afterAll(() => rmSync(child.folder, { recursive: true }))

test('each read is the state after some beginning of the writes, and streams tell all of them', {
  timeout: (seconds + 300) * 1000,
}, async () => {
  const directory = await makeTemporaryDirectory('checked-history')
  const history = await runHistory({
    program: child.path,
    directory,
    seed,
    seconds,
    clients: 6,
    restarts,
  })
  const { writes, reads, streams, traces } = history
  const unknown = writes.filter(({ outcome }) => outcome === 'unknown').length
  const versions = reads.filter(({ version }) => version !== undefined).length
  const rounds = streams.reduce((sum, stream) => sum + stream.rounds.length, 0)
  console.log(
    `ASSAY_SEED=${seed}: ${writes.length} writes (${unknown} without an answer), ` +
      `${reads.length} reads (${versions} of versions), ${rounds} rounds of live queries, ` +
      `${traces.length} versions of records, ${restarts} restarts`,
  )
  expect(checkHistory(history).slice(0, 10)).toEqual([])
  rmSync(directory, { recursive: true })
})
