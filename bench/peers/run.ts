/** `npm run bench:peers`: see bench/README.md. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildServer, installPeers } from './install.ts'
import { MemoryWatch } from './measure/process-status.ts'
import { type Options, readOptions, usage } from './options.ts'
import { prepare } from './prepare.ts'
import { plot } from './report/plot.ts'
import { note } from './report/progress.ts'
import { summarize } from './report/ratios.ts'
import { saveReport } from './report/save.ts'
import { resultTable, summaryText } from './report/table.ts'
import { runSuite } from './suite.ts'

const options = readOptions()
if (options === undefined) console.log(usage)
else await main(options)

async function main(options: Options): Promise<void> {
  installPeers()
  const server = options.server === undefined ? buildServer() : resolve(options.server)
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'assay-peers-'))
  try {
    for (const rows of options.rows) await measure(options, { rows, server, directory })
  } finally {
    if (options.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

interface Place {
  readonly rows: number
  readonly server: string
  readonly directory: string
}

async function measure(options: Options, { rows, server, directory }: Place): Promise<void> {
  const { layouts, runs, filter } = options
  note(`\n${rows} rows`)
  const workers = options.workers[0]!
  const prepared = await prepare({ directory, rows, workers, layouts, server })
  try {
    const { data, systems, assay } = prepared
    const memory = assay && new MemoryWatch(assay.process.pid)
    const results = await runSuite({
      systems,
      projectId: assay?.projectId ?? '',
      data,
      runs,
      filter,
    })
    memory?.stop()
    const sizes = Object.assign({}, ...(await Promise.all(systems.map((system) => system.size()))))
    const summary = summarize(results)
    const title = `Assay and its peers, ${rows.toLocaleString('en')} rows`
    console.log(`\n${resultTable(results)}\n\n${summaryText(summary)}`)
    const report = {
      rows,
      jsonBytes: data.bytes,
      workers,
      clickhouse: prepared.clickhouseVersion,
      summary,
      ingest: prepared.loaded.assay,
      peerLoadSeconds: prepared.loaded.peers,
      sizes,
      peakAnonymousBytes: memory?.peakBytes,
      results,
    }
    if (!options.isPart) saveReport(`peers-${rows}`, report, plot(title, results))
    if (summary.wrong > 0) process.exitCode = 1
  } finally {
    await prepared.close()
  }
}
