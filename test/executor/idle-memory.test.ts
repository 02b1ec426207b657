import { expect, it } from 'vitest'
import { releaseWhenIdle } from '../../src/executor/thread/idle-memory.ts'

it('what others have made and queries have let go of is collected once the thread is idle', async () => {
  const shared = new WeakRef(structuredClone(new SharedArrayBuffer(1024)))
  for (let query = 0; query < 4; query++) releaseWhenIdle(32 * 2 ** 20)
  await expect.poll(() => shared.deref() === undefined, { timeout: 20_000 }).toBe(true)
}, 30_000)
