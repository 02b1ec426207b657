/** With each version of Node, threads read the columns of large segments where LMDB has them. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { closeSegments, openSegments } from '../../src/storage/environment.ts'
import { segmentKey } from '../support/segment-values.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const module = new URL('../support/reading-thread.ts', import.meta.url)
const length = 64 * 2 ** 20

test('threads copy no large segment into memory of their own, and end without taking the process with them', async () => {
  const directory = temporaryDirectory()
  const environment = openSegments(directory, { readOnly: false })
  environment.columnsRoot.transactionSync(() => {
    environment.columns.putSync(segmentKey(0), Buffer.alloc(length, 7))
  })
  const threads = Array.from({ length: 3 }, () => new Worker(module, { workerData: directory }))
  await Promise.all(
    threads.map(async (thread) => {
      const ended = once(thread, 'exit')
      const [read] = (await once(thread, 'message')) as [{ readonly grown: number }]
      expect(read).toMatchObject({ length, last: 7 })
      expect(read.grown).toBeLessThan(2 ** 20)
      expect(await ended).toEqual([0])
    }),
  )
  await closeSegments(environment)
})
