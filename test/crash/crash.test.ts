import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { closeSegments, openRecords, openSegments } from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import { checkFiles, checkRun, checkSegments, parseRun, type Run } from '../support/crash-check.ts'
import { isSlow } from '../support/random-seed.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const kills = 50
/** Each in a directory of its own; the slow suite kills a thousand times. */
const rounds = Array.from({ length: isSlow ? 20 : 1 }, (_, i) => i + 1)
const repository = fileURLToPath(new URL('../..', import.meta.url))
let build: string
let child: string

// Children run JavaScript, as the service does; compiling once saves a second of each start.
beforeAll(() => {
  build = mkdtempSync(join(tmpdir(), 'assay-crash-'))
  const tsc = join(repository, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(tsc, ['--noEmit', 'false', '--outDir', build], { cwd: repository })
  child = join(build, 'test/support/crash-child.js')
  expect(existsSync(child), String(stdout)).toBe(true)
  for (const loops of ['src/kernel/kernels.wasm', 'src/kernel/rows.wasm']) {
    cpSync(join(repository, loops), join(build, loops))
  }
  writeFileSync(join(build, 'package.json'), '{"type":"module"}')
  symlinkSync(join(repository, 'node_modules'), join(build, 'node_modules'))
}, 240_000)

afterAll(() => rmSync(build, { recursive: true, force: true }))

/** Lets a child write to the directory and kills it some time after it first said `what`. */
async function runAndKill(directory: string, name: string, what: string): Promise<Run> {
  const process = spawn('node', [child, directory, name], {
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
