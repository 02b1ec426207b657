/**
 * Whatever bytes come in a query, a body, a file or a link, they are taken or refused in words: nothing else is
 * thrown, nothing takes long, and nothing takes much memory. Inputs are right ones that were changed; where it pays,
 * those that run new code are changed further. `ASSAY_FUZZ_SECONDS` says for how long, all targets together.
 */
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { type FuzzResult, type FuzzTask, inputStart } from '../support/fuzz/fuzz-task.ts'
import { targets } from '../support/fuzz/targets.ts'
import { isSlow, randomSeed as seed } from '../support/random-seed.ts'

const seconds = Number(process.env.ASSAY_FUZZ_SECONDS ?? (isSlow ? 600 : 6))
const chosen = process.env.ASSAY_FUZZ_TARGET
/** Of the time of the process; an input has 8 KiB. */
const longestMs = 1000
/** Without a next input, whatever else the machine does. */
const hangMs = 60_000
/** More than before. */
const mostMemory = 2 ** 30

const program = new URL('../support/fuzz/fuzz-thread.ts', import.meta.url)

test('bytes from outside are taken, or refused in words', {
  timeout: (seconds + 300) * 1000,
}, async () => {
  const before = process.memoryUsage.rss()
  const results = await fuzz()
  for (const { target, inputs, accepted, corpus, blocks, longestMs } of results) {
    const guided = blocks > 0 ? `; ${blocks} blocks of code, ${corpus} inputs kept` : ''
    console.log(
      `${target}: ${inputs} inputs, ${accepted} taken, longest ${longestMs.toFixed(1)} ms${guided}`,
    )
  }
  const total = results.reduce((sum, { inputs }) => sum + inputs, 0)
  console.log(`ASSAY_SEED=${seed}: ${total} inputs`)
  for (const { target, accepted, longestMs: longest } of results) {
    expect(accepted, target).toBeGreaterThan(0)
    expect(longest, target).toBeLessThan(longestMs)
  }
  expect(process.resourceUsage().maxRSS * 1024 - before).toBeLessThan(mostMemory)
})

/** Rejects with the input that was taken wrongly, or that the thread does not come back from. */
function fuzz(): Promise<FuzzResult[]> {
  const names = chosen ? [chosen] : Object.keys(targets)
  const shared = new SharedArrayBuffer(64 * 1024)
  const head = new Int32Array(shared, 0, 3)
  const task: FuzzTask = { targets: names, seed, ms: (seconds * 1000) / names.length, shared }
  const worker = new Worker(program, {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  const results: FuzzResult[] = []
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      const input = Buffer.from(new Uint8Array(shared, inputStart, head[2]!))
      const shown = `${names[head[1]!]}, input ${head[0]} of seed ${seed}: ${JSON.stringify(input.toString('latin1'))}`
      reject(new Error(`${what}\n${shown}\nbase64: ${input.toString('base64')}`))
    }
    let counted = 0
    const watch = setInterval(() => {
      if (head[0] === counted && counted > 0) {
        fail(`no end after ${hangMs} ms`)
        void worker.terminate()
      }
      counted = head[0]!
    }, hangMs)
    worker.on('message', (result: FuzzResult) => results.push(result))
    worker.on('error', (error) => fail(error.stack ?? String(error)))
    worker.on('exit', () => {
      clearInterval(watch)
      resolve(results)
    })
  })
}
