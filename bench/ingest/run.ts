/** `npm run bench:ingest`: see bench/README.md. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../machine.ts'
import { openDataFile } from '../peers/generator/data-file.ts'
import { formatMs, formatTable, median } from '../table.ts'
import { type Beside, besides } from './beside.ts'
import { type IngestResult, type LoadReport, measureIngest } from './measure.ts'

const usage = `npm run bench:ingest -- [options]

  --rows N             rows of large batches; a quarter as many come in small ones   (100000)
  --rounds N           of each server, in turns                                      (3)
  --server FILE[,…]    built main.js files that are compared             (dist/src/main.js)
  --beside masking,backup   each server also with ten rules of masking, and while backups are taken
  --dir DIRECTORY      keeps the generated rows there, for the next run
  --help`

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    server: { type: 'string', default: 'dist/src/main.js' },
    beside: { type: 'string' },
    dir: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (flags.help) process.stdout.write(`${usage}\n`)
else await measure()

async function measure(): Promise<void> {
  const rows = Number(flags.rows)
  const loads = flags.server
    .split(',')
    .flatMap((server) =>
      besidesAsked().map((beside) => ({ server, beside, results: [] as IngestResult[] })),
    )
  const directory = flags.dir ?? mkdtempSync(join(tmpdir(), 'assay-ingest-'))
  mkdirSync(directory, { recursive: true })
  try {
    const data = openDataFile(directory, rows + Math.ceil(rows / 4))
    for (let round = 0; round < Number(flags.rounds); round++) {
      for (const { server, beside, results } of loads) {
        const store = mkdtempSync(join(directory, 'store-'))
        try {
          const result = await measureIngest({ server, directory: store, data, rows, beside })
          results.push(result)
          process.stdout.write(`${server}, beside ${beside}\n${table([result])}\n`)
        } finally {
          rmSync(store, { recursive: true })
          rmSync(`${store}-backups`, { recursive: true, force: true })
        }
      }
    }
    for (const { server, beside, results } of loads) {
      process.stdout.write(`\n${server}, beside ${beside}, medians\n${table(results)}\n`)
    }
    save(rows, loads)
  } finally {
    if (flags.dir === undefined) rmSync(directory, { recursive: true })
  }
}

function table(results: readonly IngestResult[]): string {
  const of = (value: (result: IngestResult) => number) => median(results.map(value))
  const load = (name: string, report: (result: IngestResult) => LoadReport) => [
    name,
    of((result) => report(result).megabytesPerSecond).toFixed(1),
    formatMs(of((result) => report(result).p50Ms)),
    formatMs(of((result) => report(result).p99Ms)),
    formatMs(of((result) => report(result).maxMs)),
    of((result) => report(result).cpuMsPerMegabyte).toFixed(1),
    of((result) => report(result).clientMsPerMegabyte).toFixed(1),
    formatMs(of((result) => report(result).longestTurnMs)),
  ]
  const head = ['', 'MB/s', 'p50 ms', 'p99 ms', 'max ms', 'cpu ms/MB', 'client', 'longest turn ms']
  const loads = formatTable([
    head,
    load('4 clients, 1,000 rows', ({ large }) => large),
    load('100 clients, 25 rows', ({ small }) => small),
  ])
  const ratio = of(({ large, small }) => small.megabytesPerSecond / large.megabytesPerSecond)
  const parts = Object.keys(results[0]!.share)
    .map((part) => `${part} ${of(({ share }) => share[part] ?? 0).toFixed(3)}`)
    .join(', ')
  return (
    `${loads}\nsmall by large: ${ratio.toFixed(2)}; then idle after ` +
    `${of(({ settleSeconds }) => settleSeconds).toFixed(1)} s, ` +
    `${of(({ settleMsPerMegabyte }) => settleMsPerMegabyte).toFixed(1)} ms/MB; ` +
    `on disk by JSON: ${parts}\n${besideText(results)}`
  )
}

/** How many times longer queries take beside backups. */
function besideText(results: readonly IngestResult[]): string {
  const pairs = results.flatMap(({ queries }) => queries ?? [])
  const lines = (pairs[0]?.atRest ?? []).map(({ name }, i) => {
    const times = (of: 'p50Ms' | 'p99Ms') =>
      median(pairs.map(({ atRest, beside }) => beside[i]![of] / atRest[i]![of])).toFixed(2)
    const p99 = median(pairs.map(({ beside }) => beside[i]!.p99Ms))
    return `${name}: p50 ${times('p50Ms')} times, p99 ${times('p99Ms')} (${formatMs(p99)} ms)`
  })
  return lines.length === 0 ? '' : `queries beside backups: ${lines.join('; ')}\n`
}

function besidesAsked(): Beside[] {
  const asked = (flags.beside ?? '').split(',').filter((word) => word !== '')
  const wrong = asked.find((word) => !besides.some((each) => each === word))
  if (wrong !== undefined) throw new Error(`--beside takes ${besides.join(', ')}, not ${wrong}`)
  return ['nothing', ...besides.filter((each) => each !== 'nothing' && asked.includes(each))]
}

interface MeasuredLoad {
  readonly server: string
  readonly beside: Beside
  readonly results: readonly IngestResult[]
}

function save(rows: number, loads: readonly MeasuredLoad[]): void {
  const path = new URL(`../results/ingest-${rows}.json`, import.meta.url)
  mkdirSync(new URL('.', path), { recursive: true })
  const report = { machine: describeMachine(), rows, loads }
  writeFileSync(path, `${JSON.stringify(report, undefined, 2)}\n`)
}
