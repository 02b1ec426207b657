import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { closeSegments, openRecords, openSegments } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { type CompiledChild, compileChild } from '../support/compiled-child.ts'
import { checkFiles, checkRun, checkSegments, parseRun, type Run } from '../support/crash-check.ts'
import { isSlow } from '../support/random-seed.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const kills = isSlow ? 50 : 25
/** Each in a directory of its own; the slow suite kills a thousand times. */
const rounds = Array.from({ length: isSlow ? 20 : 1 }, (_, i) => i + 1)
let child: CompiledChild

// Children run JavaScript, as the service does; compiling once saves a second of each start.
beforeAll(async () => {
  child = await compileChild('crash-child')
}, 240_000)

afterAll(() => rmSync(child.folder, { recursive: true, force: true }))

/** Lets a child write to the directory and kills it some time after it first said `what`. */
async function runAndKill(directory: string, name: string, what: string): Promise<Run> {
  const process = spawn('node', [child.path, directory, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  let timer: NodeJS.Timeout | undefined
  onTestFinished(() => void process.kill('SIGKILL'))
  if (what === '') timer = setTimeout(() => process.kill('SIGKILL'), Math.random() * 600)
  process.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    if (!timer && output.includes(what)) {
      timer = setTimeout(() => process.kill('SIGKILL'), Math.random() * 150)
    }
  })
  process.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const signal = await new Promise((resolve) => process.on('close', (_, by) => resolve(by)))
  expect(signal, errors).toBe('SIGKILL')
  return parseRun(name, output)
}

test.each(rounds)(
  `${kills} kills in the middle of all that writes lose nothing and leave no halves (%i)`,
  async () => {
    const directory = temporaryDirectory()
    const runs: Run[] = []
    for (let i = 0; i < kills; i++) {
      // Now and then the kill comes before the first commit, or while it starts.
      const what = i % 10 === 9 ? '' : i % 5 === 4 ? 'begin' : ['done', 'trim', 'change'][i % 3]!
      runs.push(await runAndKill(directory, `run${i}`, what))
      const records = openRecords(directory, { readOnly: true })
      const segments = openSegments(directory, { readOnly: true })
      checkRun(records, runs.at(-1)!)
      checkFiles(directory, runs.at(-1)!)
      checkSegments(records, new SegmentStore(segments))
      await records.root.close()
      await closeSegments(segments)
    }

    const records = openRecords(directory, { readOnly: true })
    const segments = openSegments(directory, { readOnly: true })
    const reader = new RecordReader(records)
    for (const run of runs) checkRun(records, run)
    const acknowledged = runs.flatMap(({ done }) => [...done.values()])
    expect(new Set(acknowledged).size).toBe(acknowledged.length)
    expect(acknowledged.length).toBeGreaterThan(kills)
    const logged = Array.from(reader.log(0), ({ transaction }) => transaction)
    expect(logged).toEqual(expect.arrayContaining(acknowledged))
    expect(checkSegments(records, new SegmentStore(segments))).toBeGreaterThan(0)
    await records.root.close()
    await closeSegments(segments)
  },
  7_200_000,
)
