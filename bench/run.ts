/** `npm run bench`: see bench/README.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runAccess } from './access/run-access.ts'
import { runCatalog } from './catalog/run-catalog.ts'
import { runParquetWriters } from './format/parquet-writers.ts'
import { runKernels } from './kernel/run-kernels.ts'
import { describeMachine } from './machine.ts'
import { runPlanning } from './planning/run-planning.ts'
import { runQueries } from './query/run-queries.ts'

const usage = `npm run bench -- [options]

  --only PART              kernels, planning, access, catalog, parquet or queries alone
  --rows N[,N…]            rows of the query bench           (1000000)
  --runs N                 measured runs of each query       (7)
  --workers N              threads, of DuckDB as well        (2)
  --filter TEXT            queries whose name has the text
  --dir DIRECTORY          keeps the data there, for the next run with as many rows
  --help`

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '7' },
    workers: { type: 'string', default: '2' },
    filter: { type: 'string' },
    dir: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function positive(flag: string, text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new Error(`--${flag} must be a positive integer, not "${text}"`)
}

function save(name: string, report: object): void {
  const directory = new URL('results/', import.meta.url)
  mkdirSync(directory, { recursive: true })
  const text = JSON.stringify({ machine: describeMachine(), ...report }, null, 2)
  writeFileSync(new URL(`${name}.json`, directory), `${text}\n`)
}

const parts = ['kernels', 'planning', 'access', 'catalog', 'parquet', 'queries']

if (flags.only !== undefined && !parts.includes(flags.only)) {
  throw new Error(`--only must be one of ${parts.join(', ')}, not "${flags.only}"`)
}
if (flags.help) {
  console.log(usage)
} else {
  const runs = (part: string) => flags.only === undefined || flags.only === part
  if (runs('kernels')) save('kernels', { kernels: await runKernels() })
  if (runs('planning')) save('planning', { queries: await runPlanning() })
  if (runs('access')) save('access', { decisions: await runAccess() })
  if (runs('catalog')) save('catalog', { requests: await runCatalog() })
  if (runs('parquet')) save('parquet', { writers: await runParquetWriters() })
  if (runs('queries')) {
    for (const text of flags.rows.split(',')) {
      const rows = positive('rows', text)
      console.log(`\n== ${rows} rows`)
      const report = await runQueries({
        rows,
        directory: flags.dir,
        runs: positive('runs', flags.runs),
        workers: positive('workers', flags.workers),
        filter: flags.filter,
      })
      if (flags.filter === undefined) save(`queries-${rows}`, report)
      if (report.results.some(({ difference }) => difference !== undefined)) process.exitCode = 1
    }
  }
}
