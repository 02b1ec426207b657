import { expect, it } from 'vitest'
import { isOutOfHeap, poolOf } from '../../src/scheduler/thread/threads.ts'

// So many that what V8 lets lie before it collects, more on a busy machine, is less than half of it.
const tasks = 240
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

it('a thread whose heap is full is ended with a reason, and the next task has another', async () => {
  const module = new URL('../support/filling-thread.ts', import.meta.url)
  const pool = poolOf(module, { data: {}, least: 1, most: 1, heapBytes: 160 * 2 ** 20 })
  try {
    expect(await pool.run(10)).toBe(10)
    const failure = await pool.run(50_000_000).catch((thrown: unknown) => thrown)
    expect(isOutOfHeap(failure)).toBe(true)
    expect(await pool.run(10)).toBe(10)
  } finally {
    await pool.destroy()
  }
})

it('a thread that has nothing to do gives back what its last task has left', async () => {
  const module = new URL('../support/wasting-thread.ts', import.meta.url)
  const pool = poolOf(module, { data: {}, least: 1, most: 1 })
  try {
    const megabytes = 300
    expect(await pool.run(megabytes)).toBeGreaterThan(megabytes * 2 ** 20)
    await expect.poll(() => pool.run(0)).toBeLessThan(100 * 2 ** 20)
  } finally {
    await pool.destroy()
  }
})

it('threads are numbered from 0 within their pool, whatever else was started between them', async () => {
  const module = new URL('../support/numbered-thread.ts', import.meta.url)
  const numbers = async (threads: number) => {
    const pool = poolOf(module, { data: {}, least: threads, most: threads })
    try {
      const arrived = new Int32Array(new SharedArrayBuffer(4))
      const tasks = Array.from({ length: threads }, () => pool.run({ arrived, threads }))
      return (await Promise.all(tasks)) as number[]
    } finally {
      await pool.destroy()
    }
  }
  const [three, two] = await Promise.all([numbers(3), numbers(2)])
  expect(three.sort()).toEqual([0, 1, 2])
  expect(two.sort()).toEqual([0, 1])
})

it('a thread takes tasks in the order in which they were asked for, while others always wait', async () => {
  const module = new URL('../support/numbered-thread.ts', import.meta.url)
  const pool = poolOf(module, { data: {}, least: 1, most: 1 })
  const ended: number[] = []
  let asked = 0
  const askAgain = async () => {
    while (asked < 40) {
      const task = asked++
      await pool.run({ arrived: new Int32Array(new SharedArrayBuffer(4)), threads: 1 })
      ended.push(task)
    }
  }
  try {
    await Promise.all(Array.from({ length: 4 }, askAgain))
  } finally {
    await pool.destroy()
  }
  expect(ended).toEqual(Array.from({ length: 40 }, (_, i) => i))
})

it.each([
  ['from the start', 2],
  ['for a task', 0],
])('threads that are made %s are ended once they have started', async (_, least) => {
  const module = new URL('../support/slow-thread.ts', import.meta.url)
  const started = new Int32Array(new SharedArrayBuffer(4))
  const pool = poolOf(module, { data: { started }, least, most: 2 })
  const task = pool.run(undefined).catch(() => undefined)
  await pool.destroy()
  expect(started[0]).toBe(least || 1)
  await task
})

it('a thread that cannot start does not keep its pool from ending', async () => {
  const module = new URL('../support/no-such-thread.ts', import.meta.url)
  const pool = poolOf(module, { data: {}, least: 1, most: 1 })
  await pool.destroy()
})
