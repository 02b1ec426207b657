import { expect, it } from 'vitest'
import { poolOf } from '../../src/scheduler/threads.ts'

const tasks = 60
const blocks = 50

it('a thread that always has a task gives back the memory of native buffers', async () => {
  const module = new URL('../support/compressing-thread.ts', import.meta.url)
  const pool = poolOf(module, { data: {}, least: 1, most: 1 })
  try {
    await pool.run(blocks)
    const before = process.memoryUsage.rss()
    let bytes = 0
    for (let i = 0; i < tasks; i++) bytes += (await pool.run(blocks)) as number
    const kept = process.memoryUsage.rss() - before
    expect(kept).toBeLessThan(bytes / 2)
  } finally {
    await pool.destroy()
  }
})
