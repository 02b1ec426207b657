/**
 * `npm run golden -- [--update] [--state S] [--workers N] [FILE[:LINE]]`: runs golden files, all or
 * those whose path holds FILE, up to the record at LINE, and prints what differs. With --update it
 * writes what came into the files instead; look at the difference before you keep it. Of a state with a cluster it prints how many
 * scans that one has made as a whole, and with --left the queries of the others.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Cluster } from '../cluster/cluster.ts'
import { type GoldenFile, readGoldenFiles } from './golden-file.ts'
import { type Block, lineMatches, printSlt } from './slt.ts'
import {
  clusterStates,
  GoldenStore,
  type Outcome,
  runBlocks,
  type StorageState,
  startRun,
  storageStates,
} from './slt-runner.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    update: { type: 'boolean', default: false },
    state: { type: 'string', default: 'segment' },
    workers: { type: 'string', default: '0' },
    // Of a state that needs one; no other test has it.
    cluster: { type: 'string', default: '90' },
    left: { type: 'boolean', default: false },
  },
})
const states = [...storageStates, ...clusterStates]
const state = states.find((candidate): candidate is StorageState => candidate === values.state)
if (!state) throw new Error(`--state is one of ${states.join(', ')}`)
const needsCluster = clusterStates.some((each) => each === state)

const [wanted = '', line] = (positionals[0] ?? '').replace(/^test\/golden\//, '').split(':')
const files = readGoldenFiles().filter(({ name }) => `${name}.slt`.includes(wanted))
const number = Number(values.cluster)
const cluster = needsCluster ? await Cluster.up({ shards: 2, replicas: 1, number }) : undefined
const store = await GoldenStore.open({ state, workers: Number(values.workers), cluster })
let passed = 0
let failed = 0
try {
  for (const file of files) await runFile(file)
} finally {
  await store.close()
  cluster?.down()
}
if (values.left) {
  for (const { query, left } of store.scans.left()) process.stdout.write(`${left}: ${query}\n`)
}
if (cluster) process.stdout.write(`${store.scans.summary()}\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed > 0 && !values.update ? 1 : 0

async function runFile(file: GoldenFile): Promise<void> {
  const last = line === undefined ? Number.POSITIVE_INFINITY : Number(line)
  const blocks = file.blocks.filter((block) => block.line <= last)
  const outcomes = await runBlocks(startRun(store, file), blocks)
  const wrong = outcomes.filter(({ passed }) => !passed)
  failed += wrong.length
  passed += outcomes.length - wrong.length
  if (!values.update) for (const outcome of wrong) report(file, outcome)
  else if (wrong.length > 0) writeFileSync(file.path, printSlt(file.blocks.map(updated(wrong))))
}

/** A line that still matches keeps what it ignores. */
function updated(wrong: readonly Outcome[]): (block: Block) => Block {
  return (block) => {
    const outcome = wrong.find((candidate) => candidate.block === block && !candidate.form)
    if (!outcome) return block
    const expected = outcome.actual.map(
      (actual) => block.expected?.find((old) => lineMatches(actual, old)) ?? actual,
    )
    return { ...block, expected }
  }
}

function report(file: GoldenFile, { block, form, actual }: Outcome): void {
  process.stdout.write(
    [
      `\n${file.name}.slt:${block.line}${form ? ` as ${form.name}` : ''}`,
      ...(form ? [form.text] : block.body),
      '---- expected',
      ...(block.expected ?? ['(nothing yet)']),
      '---- actual',
      ...actual,
      '',
    ].join('\n'),
  )
}
