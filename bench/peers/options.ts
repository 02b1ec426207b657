/** The command line of `npm run bench:peers`. */
import { parseArgs } from 'node:util'
import type { Turns } from './measure/alternate.ts'
import type { Layout } from './systems/system.ts'

export const usage = `npm run bench:peers -- [options]

  --rows N[,N…]         rows, one suite after another                (1000000)
  --dir DIRECTORY       keeps the data there, for the next run with as many rows;
                        without it the data is made in a temporary directory and removed
  --only SYSTEM[,…]     assay, duckdb, duckdb-json, clickhouse, clickhouse-json    (all)
  --filter TEXT[,…]     queries whose name has one of the texts
  --warm-ups N          asks of a query until it counts as warm                   (100)
  --runs N              asks that count where more than one does                    (7)
  --loaded              asks what an earlier run has loaded: no first asks after a load
  --workers N[,N…]      threads of each system; several are compared               (2)
  --insert-rate N       MB/s that the clients send while Assay is loaded     (as fast as they can)
  --beside-inserts      asks queries while Assay is loaded: no first asks after a load
  --cold                measures first queries after a start, without the page cache (root)
  --scaling             a handful of queries at 0.1, 1 and 10 M rows, or at --rows
  --adversarial         Assay alone over rows of mixed types, 5,000 paths and long texts, all updated
                        twice, beside as many usual rows
  --server FILE         the main.js to start, in place of one that is built now
  --help

Results are written to bench/results/ unless --filter is given, or --only without assay.`

export interface Options {
  readonly rows: readonly number[]
  readonly directory: string | undefined
  readonly layouts: readonly Layout[]
  readonly filter: readonly string[] | undefined
  readonly turns: Turns
  readonly workers: readonly number[]
  readonly insertRate: number | undefined
  readonly loads: 'once' | 'anew'
  readonly asksBesideInserts: boolean
  readonly cold: boolean
  readonly scaling: boolean
  readonly adversarial: boolean
  readonly server: string | undefined
  /** Whether too little is measured to be kept. */
  readonly isPart: boolean
}

const allLayouts: readonly Layout[] = [
  'assay',
  'duckdb',
  'clickhouse',
  'duckdb-json',
  'clickhouse-json',
]

/** Undefined when help was asked for. */
export function readOptions(): Options | undefined {
  const { values: flags } = parseArgs({
    options: {
      rows: { type: 'string' },
      dir: { type: 'string' },
      only: { type: 'string' },
      filter: { type: 'string' },
      'warm-ups': { type: 'string', default: '100' },
      runs: { type: 'string', default: '7' },
      workers: { type: 'string', default: '2' },
      'insert-rate': { type: 'string' },
      loaded: { type: 'boolean', default: false },
      'beside-inserts': { type: 'boolean', default: false },
      cold: { type: 'boolean', default: false },
      scaling: { type: 'boolean', default: false },
      adversarial: { type: 'boolean', default: false },
      server: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (flags.help) return undefined
  const { cold, scaling, adversarial, server } = flags
  const only = flags.only?.split(',')
  for (const name of only ?? []) {
    if (allLayouts.some((layout) => layout === name)) continue
    throw new Error(`--only knows ${allLayouts.join(', ')}, not "${name}"`)
  }
  const rows = flags.rows ?? (scaling ? '100000,1000000,10000000' : '1000000')
  return {
    rows: positives('rows', rows),
    directory: flags.dir,
    layouts: allLayouts.filter((layout) => only?.includes(layout) ?? true),
    filter: flags.filter?.split(','),
    turns: {
      warmUps: positives('warm-ups', flags['warm-ups'])[0]!,
      runs: positives('runs', flags.runs)[0]!,
    },
    workers: positives('workers', flags.workers),
    insertRate: positives('insert-rate', flags['insert-rate'] ?? '')[0],
    loads: flags.loaded ? 'once' : 'anew',
    asksBesideInserts: flags['beside-inserts'],
    cold,
    scaling,
    adversarial,
    server,
    isPart: flags.filter !== undefined || only?.includes('assay') === false,
  }
}

function positives(flag: string, list: string): number[] {
  if (list === '') return []
  return list.split(',').map((text) => {
    const number = Number(text)
    if (Number.isSafeInteger(number) && number > 0) return number
    throw new Error(`--${flag} takes positive integers, not "${text}"`)
  })
}
