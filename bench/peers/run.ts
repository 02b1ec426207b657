/** `npm run bench:peers`: see bench/README.md. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { adversarialTable, measureAdversarial } from './adversarial.ts'
import { compareWorkers, workersTable } from './compare-workers.ts'
import { buildServer, installPeers } from './install.ts'
import { measurePeers } from './measure-peers.ts'
import { type Options, readOptions, usage } from './options.ts'
import { plot } from './report/plot.ts'
import { phases } from './report/query-result.ts'
import { isWrong } from './report/ratios.ts'
import { saveReport } from './report/save.ts'
import { titles } from './report/table.ts'
import { reportText } from './report/text.ts'
import { measureScaling, scalingTable } from './scaling.ts'

const options = readOptions()
if (options === undefined) console.log(usage)
else await main(options)

async function main(options: Options): Promise<void> {
  installPeers()
  const server = options.server === undefined ? buildServer() : resolve(options.server)
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'assay-peers-'))
  const place = { directory, server }
  try {
    if (options.adversarial) await adversarial(options, place)
    else if (options.scaling) await scaling(options, place)
    else if (options.workers.length > 1) await workers(options, place)
    else for (const rows of options.rows) await suite(options, place, rows)
  } finally {
    if (options.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

interface Place {
  readonly directory: string
  readonly server: string
}

async function suite(options: Options, place: Place, rows: number): Promise<void> {
  const report = await measurePeers({ ...options, ...place, rows, workers: options.workers[0]! })
  console.log(`\n${reportText(report)}`)
  const { results } = report
  const title = `Assay and its peers, ${rows.toLocaleString('en')} rows`
  const pictures = phases
    .filter((phase) => results.every((result) => result.phases[phase]))
    .map((phase) => [phase, plot(`${title}, ${titles[phase]}`, results, phase)])
  if (!options.isPart) saveReport(`peers-${rows}`, report, Object.fromEntries(pictures))
  if (results.some(isWrong)) process.exitCode = 1
}

async function workers(options: Options, place: Place): Promise<void> {
  for (const rows of options.rows) {
    const comparison = await compareWorkers({ ...options, ...place, rows })
    console.log(`\n${workersTable(options.workers, comparison)}`)
    const report = { rows, workers: options.workers, ...comparison }
    if (!options.isPart) saveReport(`peers-workers-${rows}`, report)
  }
}

async function scaling(options: Options, place: Place): Promise<void> {
  // The JSON layouts would take most of the time and say nothing about scaling that one size does not.
  const layouts = options.layouts.filter((layout) => !layout.endsWith('-json'))
  const points = await measureScaling({
    ...options,
    ...place,
    layouts,
    workers: options.workers[0]!,
  })
  console.log(`\n${scalingTable(points, layouts)}`)
  if (!options.isPart) saveReport('peers-scaling', { points })
}

async function adversarial(options: Options, place: Place): Promise<void> {
  const workers = options.workers[0]!
  for (const rows of options.rows) {
    const results = await measureAdversarial({ ...options, ...place, rows, workers })
    console.log(`\n${adversarialTable(results)}`)
    saveReport(`peers-adversarial-${rows}`, { rows, workers, results })
    if (results.some(({ difference }) => difference !== undefined)) process.exitCode = 1
  }
}
