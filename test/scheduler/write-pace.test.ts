import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { allowedRate, WritePace } from '../../src/scheduler/maintenance/write-pace.ts'

const mebibyte = 2 ** 20

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

test('writes may come the slower the more is in no segment, but never stand still', () => {
  const flushRate = 1000
  let last = Number.POSITIVE_INFINITY
  for (let unflushed = 0; unflushed < 1024 * mebibyte; unflushed += mebibyte) {
    const rate = allowedRate(unflushed, flushRate)
    expect(rate).toBeLessThanOrEqual(last)
    expect(rate).toBeGreaterThanOrEqual(flushRate / 16)
    last = rate
  }
  expect(allowedRate(64 * mebibyte, flushRate)).toBe(Number.POSITIVE_INFINITY)
  expect(allowedRate(100 * mebibyte, flushRate)).toBeGreaterThan(flushRate)
  expect(allowedRate(112 * mebibyte, flushRate)).toBe(flushRate)
  expect(allowedRate(130 * mebibyte, flushRate)).toBeLessThan(flushRate)
})

/** Clients that write as fast as they may, and a thread that flushes `flushRate` bytes in a millisecond. */
async function load(flushRate: (flush: number) => number, flushes: number) {
  const flushBytes = 64 * mebibyte
  const [clients, writeBytes] = [4, mebibyte]
  let unflushed = 0
  let written = 0
  const waits: number[] = []
  let isOver = false
  const pace = new WritePace(() => unflushed)
  const client = async () => {
    while (!isOver) {
      const asked = performance.now()
      await pace.enter(writeBytes)
      waits.push(performance.now() - asked)
      await new Promise((done) => setTimeout(done, 10))
      unflushed += writeBytes
      written += writeBytes
    }
  }
  const flusher = async () => {
    for (let flush = 0; flush < flushes; flush++) {
      while (unflushed < flushBytes) await new Promise((done) => setTimeout(done, 1))
      pace.flushBegins(flushBytes)
      await new Promise((done) => setTimeout(done, flushBytes / flushRate(flush)))
      unflushed -= flushBytes
      pace.flushEnds(true, unflushed >= flushBytes)
    }
    isOver = true
    pace.open()
  }
  const begun = performance.now()
  const all = Promise.all([flusher(), ...Array.from({ length: clients }, client)])
  let mostUnflushed = 0
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(10)
    mostUnflushed = Math.max(mostUnflushed, unflushed)
  }
  const rate = written / (performance.now() - begun)
  await vi.advanceTimersByTimeAsync(1000)
  await all
  const most = Math.max(...waits)
  const median = waits.sort((a, b) => a - b)[waits.length >> 1]!
  return { most, median, mostUnflushed, rate }
}

test('writes that come faster than they are flushed all wait a little', async () => {
  for (const rate of [5_000, 20_000, 80_000]) {
    const { most, median, mostUnflushed, rate: written } = await load(() => rate, 30)
    // Until the first flush has ended nobody knows the rate.
    expect(median).toBeLessThan((4 * mebibyte) / rate + 20)
    expect(most).toBeLessThan((3 * 4 * mebibyte) / rate + 300)
    expect(mostUnflushed).toBeLessThan(240 * mebibyte)
    expect(written).toBeGreaterThan(0.95 * rate)
  }
})

test('a flush that takes far longer than those before it stops no write', async () => {
  const { most, mostUnflushed } = await load((flush) => (flush === 10 ? 4_000 : 20_000), 30)
  expect(most).toBeLessThan(6000)
  expect(mostUnflushed).toBeLessThan(256 * mebibyte)
})

test('writes begin in the order in which they ask, whatever their size', async () => {
  const pace = new WritePace(() => 150 * mebibyte)
  const begun: number[] = []
  const sizes = [100 * mebibyte, 1, mebibyte, 10, 50 * mebibyte, 5, 5, 5]
  const all = sizes.map(async (bytes, place) => {
    await pace.enter(bytes)
    begun.push(place)
  })
  await vi.advanceTimersByTimeAsync(500)
  expect(begun).toEqual([0])
  await vi.advanceTimersByTimeAsync(10_000)
  await Promise.all(all)
  expect(begun).toEqual(sizes.map((_, place) => place))
})

test('what waits goes on when it is no longer necessary', async () => {
  for (const end of ['flushed', 'failed', 'closed']) {
    let unflushed: number | undefined = 500 * mebibyte
    const pace = new WritePace(() => unflushed)
    const begun: number[] = []
    const all = Array.from({ length: 100 }, async (_, place) => {
      await pace.enter(mebibyte)
      begun.push(place)
    })
    await vi.advanceTimersByTimeAsync(10)
    expect(begun).toEqual([0])
    if (end === 'flushed') unflushed = 0
    else if (end === 'failed') unflushed = undefined
    else pace.open()
    pace.update()
    await Promise.all(all)
  }
})

test('a flush of nobody knows how much, as after a start, stops no write', async () => {
  for (const bytes of [0, -400 * mebibyte]) {
    const pace = new WritePace(() => 300 * mebibyte)
    pace.flushBegins(bytes)
    const all = Array.from({ length: 20 }, () => pace.enter(mebibyte))
    await vi.advanceTimersByTimeAsync(20_000)
    await Promise.all(all)
    pace.flushEnds(true, true)
    const next = pace.enter(mebibyte)
    await vi.advanceTimersByTimeAsync(1100)
    await next
  }
})
