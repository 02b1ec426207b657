import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

test('a text that does not fit into the heap of a thread is refused, and the thread goes on', async () => {
  const thread = new Worker(new URL('../support/decode-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  })
  const decode = async (bytes: number): Promise<unknown> => {
    thread.postMessage(bytes)
    return (await once(thread, 'message'))[0]
  }
  const megabyte = 2 ** 20
  try {
    // What was decoded before is let go of, whenever there is no room for the next one.
    for (let i = 0; i < 20; i++) expect(await decode(16 * megabyte)).toBe(16 * megabyte)
    expect(await decode(200 * megabyte)).toBe('LIMIT_MEMORY')
    expect(await decode(16 * megabyte)).toBe(16 * megabyte)
  } finally {
    await thread.terminate()
  }
})
