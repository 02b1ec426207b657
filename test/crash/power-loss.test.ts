/**
 * The power is lost at random moments: what a child writes is recorded, and of what was not synced by then a part is
 * dropped or torn. What is left is opened as after any end of the process.
 */
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closeSegments, openRecords, openSegments } from '../../src/storage/environment.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { checkFiles, checkRun, checkSegments, parseRun } from '../support/crash-check.ts'
import { compileShim } from '../support/io/io-shim.ts'
import { type Random, readTrace, TracedDisk } from '../support/io/power-loss.ts'
import { isSlow, randomSeed } from '../support/random-seed.ts'

const losses = isSlow ? 1000 : 30
/** A loss may come at any time of a child's life: at its first start, as of a later one. */
const lossesPerTrace = 50

const child = new URL('../support/crash-child.ts', import.meta.url).pathname
const loader = new URL('../support/typescript-loader.js', import.meta.url).href
const shim = compileShim()

/** Lets a child write until so many requests were acknowledged, and kills it. */
async function record(folder: string, requests: number): Promise<void> {
  const process_ = spawn(process.execPath, ['--import', loader, child, join(folder, 'd'), 'run'], {
    env: {
      ...process.env,
      LD_PRELOAD: shim!,
      IO_SHIM_DIRECTORY: join(folder, 'd'),
      IO_SHIM_TRACE: join(folder, 'trace'),
      IO_SHIM_MARKS: join(folder, 'told'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  process_.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const told = join(folder, 'told')
  const timer = setInterval(() => {
    if (existsSync(told) && parseRun('run', readFileSync(told, 'utf8')).done.size >= requests) {
      process_.kill('SIGKILL')
    }
  }, 50)
  const signal = await new Promise((resolve) => process_.on('close', (_, by) => resolve(by)))
  clearInterval(timer)
  expect(signal, errors).toBe('SIGKILL')
}

async function check(directory: string, told: string): Promise<number> {
  const run = parseRun('run', told)
  const records = openRecords(directory, { readOnly: false })
  const segments = openSegments(directory, { readOnly: false })
  try {
    checkRun(records, run)
    checkFiles(directory, run)
    return checkSegments(records, new SegmentStore(segments))
  } finally {
    await records.root.close()
    await closeSegments(segments)
  }
}

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test.runIf(shim)(
  `${losses} losses of power lose nothing that was acknowledged`,
  async () => {
    const random = randomFrom(randomSeed)
    let acknowledged = 0
    let withSegments = 0
    for (let done = 0; done < losses; done += lossesPerTrace) {
      const folder = mkdtempSync(join(tmpdir(), 'power-'))
      mkdirSync(join(folder, 'd'))
      await record(folder, 20 + Math.floor(random() * 300))
      const trace = readTrace(join(folder, 'trace'))
      const disk = new TracedDisk(join(folder, 'd'), join(folder, 'images'))
      const count = Math.min(lossesPerTrace, losses - done)
      const moments = Array.from({ length: count }, () => Math.floor(random() * trace.length))
      moments.sort((a, b) => a - b)
      let taken = 0
      for (const [i, moment] of moments.entries()) {
        for (; taken <= moment; taken++) disk.take(trace[taken]!)
        const left = join(folder, `left${i}`)
        disk.lose(left, random)
        try {
          if ((await check(left, disk.told)) > 0) withSegments++
        } catch (thrown) {
          const kept = mkdtempSync(join(tmpdir(), 'power-kept-'))
          writeFileSync(join(kept, 'told'), disk.told)
          cpSync(left, join(kept, 'left'), { recursive: true })
          throw new Error(`loss ${done + i} of seed ${randomSeed}, kept in ${kept}`, {
            cause: thrown,
          })
        }
        rmSync(left, { recursive: true })
      }
      acknowledged += parseRun('run', disk.told).done.size
      if (isSlow) process.stdout.write(`${done + count} losses of ${losses}, seed ${randomSeed}\n`)
      rmSync(folder, { recursive: true })
    }
    process.stdout.write(
      `${losses} losses of power, seed ${randomSeed}: ${acknowledged} requests acknowledged, ` +
        `${withSegments} times with segments\n`,
    )
    expect(acknowledged).toBeGreaterThan(0)
  },
  7_200_000,
)
