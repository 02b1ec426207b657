import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  closeSegments,
  openRecords,
  openSegments,
  type RecordsEnvironment,
} from '../../src/storage/environment.ts'
import { RecordReader } from '../../src/storage/read/record-reader.ts'
import { SegmentStore } from '../../src/storage/segment/segment-store.ts'
import type { RowKey } from '../../src/type/transaction.ts'
import { crashRows, recordId } from '../support/crash-rows.ts'
import { temporaryDirectory } from '../support/temporary-records.ts'

const kills = 50
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

/** What a child said before it was killed. */
interface Run {
  readonly name: string
  readonly begun: ReadonlySet<number>
  /** Transactions of the acknowledged requests. */
  readonly done: ReadonlyMap<number, number>
}

/** Lets a child write to the directory and kills it some time after it first said `what`. */
async function runAndKill(directory: string, name: string, what: string): Promise<Run> {
  const process = spawn('node', [child, directory, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  let timer: NodeJS.Timeout | undefined
  onTestFinished(() => void process.kill('SIGKILL'))
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
  const begun = new Set<number>()
  const done = new Map<number, number>()
  // The line that the kill cut off, if any, was never told.
  for (const line of output.split('\n').slice(0, -1)) {
    const [event, number, value] = line.split(' ')
    if (event === 'begin') begun.add(Number(number))
    else done.set(Number(number), Number(value))
  }
  return { name, begun, done }
}

/** Checks what a run left: all of each acknowledged request, all or nothing of the others. */
function checkRun(reader: RecordReader, { name, begun, done }: Run): void {
  const shared = JSON.parse(
    reader.latest(1, 'shared')?.view.fieldText('metadata') ?? '{}',
  ) as object
  for (const number of begun) {
    const rows = crashRows(name, number).slice(0, -1)
    const found = rows.map((_, i) => reader.latest(1, recordId(name, number, i)))
    const isThere = found[0] !== undefined
    expect(isThere || !done.has(number), `request ${number} of run ${name} is lost`).toBe(true)
    expect(Object.hasOwn(shared, `${name}.${number}`)).toBe(isThere)
    found.forEach((version, i) => {
      expect(version !== undefined, `row ${i} of request ${number} of run ${name}`).toBe(isThere)
      if (!version) return
      expect(JSON.parse(version.view.fieldText('input')!)).toBe(rows[i]!.input)
      if (done.has(number)) expect(version.view.transaction).toBe(done.get(number))
    })
  }
}

/** Checks that the segments hold exactly the row versions that they should. */
function checkSegments(records: RecordsEnvironment, store: SegmentStore): number {
  const { flushedThrough, segments } = store.manifest()
  const name = (key: RowKey) => `${key.transaction}/${key.index}`
  const reader = new RecordReader(records)
  const stored = Array.from(reader.readDelta(1, 0, flushedThrough), ({ key }) => name(key))
  const inSegments: string[] = []
  for (const { id } of segments) {
    const { keys, rowCount } = store.open(id)
    for (let row = 0; row < rowCount; row++) {
      inSegments.push(name({ transaction: keys.transaction[row]!, index: keys.index[row]! }))
    }
  }
  expect(inSegments.sort()).toEqual(stored.sort())
  return segments.length
}

test(`${kills} kills in the middle of writes and flushes lose nothing and leave no halves`, async () => {
  const directory = temporaryDirectory()
  const runs: Run[] = []
  for (let i = 0; i < kills; i++) {
    // Now and then the kill comes before the first commit.
    runs.push(await runAndKill(directory, `run${i}`, i % 5 === 4 ? 'begin' : 'done'))
    const records = openRecords(directory, { readOnly: true })
    const segments = openSegments(directory, { readOnly: true })
    const reader = new RecordReader(records)
    checkRun(reader, runs.at(-1)!)
    checkSegments(records, new SegmentStore(segments))
    await records.root.close()
    await closeSegments(segments)
  }

  const records = openRecords(directory, { readOnly: true })
  const segments = openSegments(directory, { readOnly: true })
  const reader = new RecordReader(records)
  for (const run of runs) checkRun(reader, run)
  const acknowledged = runs.flatMap(({ done }) => [...done.values()])
  expect(new Set(acknowledged).size).toBe(acknowledged.length)
  expect(acknowledged.length).toBeGreaterThan(kills)
  const logged = Array.from(reader.log(0), ({ transaction }) => transaction)
  expect(logged).toEqual(expect.arrayContaining(acknowledged))
  expect(checkSegments(records, new SegmentStore(segments))).toBeGreaterThan(0)
  await records.root.close()
  await closeSegments(segments)
}, 600_000)
