/** V8 ends the process when a list that one of its own steps makes of a text does not fit into the heap of a thread. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'

const megabyte = 2 ** 20
let thread: Worker

beforeAll(() => {
  const file = new URL('../support/long-text-thread.ts', import.meta.url)
  thread = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: 256 } })
})

afterAll(async () => {
  await thread.terminate()
})

test.each([
  ['split', 'LIMIT_MEMORY'],
  ['split into characters', 'LIMIT_MEMORY'],
  ['parse_json', 'LIMIT_MEMORY'],
  ['levenshtein', 'LIMIT_MEMORY'],
  ['split_part', 1],
  ['part beyond the last', 4],
  ['trim', 0],
  ['reverse', 32 * megabyte],
  ['replace', 16 * megabyte],
  ['encode halves of pairs', 6 * megabyte],
])('%s of 32 MB in a heap of 256 MB: %s', async (name, result) => {
  thread.postMessage(name)
  expect((await once(thread, 'message'))[0]).toBe(result)
})
