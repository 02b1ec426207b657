/** Opens all systems with the rows in them; loads what an earlier run has not. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DataFile, openDataFile, version } from './generator/data-file.ts'
import { type IngestReport, ingest, ingestConnections } from './ingest.ts'
import { note } from './report/progress.ts'
import { Assay } from './systems/assay.ts'
import { ClickHouse } from './systems/clickhouse.ts'
import { clickhouseTables } from './systems/clickhouse-tables.ts'
import { DuckDB } from './systems/duckdb.ts'
import { duckdbTables } from './systems/duckdb-tables.ts'
import type { Layout, System } from './systems/system.ts'

export interface PrepareOptions {
  /** Where data is kept: a folder in it for each number of rows. */
  readonly directory: string
  readonly rows: number
  readonly workers: number
  readonly layouts: readonly Layout[]
  /** The built `main.js`. */
  readonly server: string
  /** `anew`: Assay is loaded into an empty directory, and the process that was loaded is the one to be asked. */
  readonly loads?: 'once' | 'anew'
  /** MB/s that clients send while Assay is loaded; undefined: as fast as they are answered. */
  readonly insertRate?: number | undefined
  /** Whether a few queries are asked while Assay is loaded. */
  readonly asksBesideInserts?: boolean
}

/** What a folder has been loaded with. */
interface Loaded {
  assay?: IngestReport
  peers: Partial<Record<Layout, LoadedPeer>>
}

export interface LoadedPeer {
  readonly seconds: number
  /** Of the statements that loaded it: others have to load it again. */
  readonly digest: string
}

export interface Prepared {
  readonly data: DataFile
  readonly systems: readonly System[]
  readonly assay: Assay | undefined
  /** Of Assay's project. */
  readonly projectId: string
  readonly clickhouseVersion: string | undefined
  readonly loaded: Readonly<Loaded>
  readonly assayDirectory: string
  close(): Promise<void>
}

export async function prepare(options: PrepareOptions): Promise<Prepared> {
  const directory = join(options.directory, `peers-${options.rows}`)
  mkdirSync(directory, { recursive: true })
  const data = openDataFile(directory, options.rows)
  const marker = join(directory, `loaded-v${version}.json`)
  const loaded: Loaded = existsSync(marker)
    ? JSON.parse(readFileSync(marker, 'utf8'))
    : { peers: {} }
  const save = () => writeFileSync(marker, JSON.stringify(loaded))
  const assayDirectory = join(directory, 'assay')
  const wants = (layout: Layout) => options.layouts.includes(layout)
  const systems: System[] = []
  const closers: (() => void)[] = []

  const threads = { directory, threads: options.workers }
  const isLoaded = (layout: Layout, statements: readonly string[]) =>
    loaded.peers[layout]?.digest === digestOf(statements)
  const load = async (layout: Layout, statements: readonly string[], engine: Loader) => {
    if (isLoaded(layout, statements)) return
    note(`loading ${layout}`)
    const begin = performance.now()
    for (const statement of statements) await engine.execute(statement)
    const seconds = (performance.now() - begin) / 1000
    loaded.peers[layout] = { seconds, digest: digestOf(statements) }
    save()
  }
  const duckdbLayouts = (['duckdb', 'duckdb-json'] as const).filter(wants)
  if (duckdbLayouts.length > 0) {
    for (const layout of duckdbLayouts) {
      if (!isLoaded(layout, duckdbTables[layout](data))) removeDatabase(directory, layout)
    }
    const duckdb = await DuckDB.open(threads)
    closers.push(() => duckdb.close())
    for (const layout of duckdbLayouts) {
      await load(layout, duckdbTables[layout](data), duckdb)
      systems.push(duckdb.system(layout))
    }
  }
  const clickhouseLayouts = (['clickhouse', 'clickhouse-json'] as const).filter(wants)
  let clickhouseVersion: string | undefined
  if (clickhouseLayouts.length > 0) {
    const clickhouse = await ClickHouse.open(threads)
    closers.push(() => clickhouse.close())
    clickhouseVersion = await clickhouse.version()
    for (const layout of clickhouseLayouts) {
      await load(layout, clickhouseTables[layout](data), clickhouse)
      systems.push(clickhouse.system(layout))
    }
  }
  // Last, so that it does not wait for the others between its load and the first ask.
  const place = { directory: assayDirectory, data, loaded, save }
  const assay = wants('assay') ? await openAssay(options, place) : undefined
  if (assay) systems.unshift(assay)
  const close = async () => {
    for (const system of systems) await system.close()
    for (const end of closers) end()
  }
  const projectId = assay?.projectId ?? ''
  return { data, systems, assay, projectId, clickhouseVersion, loaded, assayDirectory, close }
}

interface AssayPlace {
  readonly directory: string
  readonly data: DataFile
  readonly loaded: Loaded
  readonly save: () => void
}

async function openAssay(options: PrepareOptions, place: AssayPlace): Promise<Assay> {
  const { directory, data, loaded, save } = place
  const start = { server: options.server, directory, workers: options.workers }
  if (loaded.assay !== undefined && options.loads !== 'anew') return Assay.start(start)
  // What an interrupted run has left is no beginning to go on from.
  delete loaded.assay
  save()
  rmSync(directory, { recursive: true, force: true })
  const filled = await Assay.start(start, ingestConnections)
  loaded.assay = await ingest(filled, data, options)
  save()
  if (options.loads === 'anew') return filled
  await filled.close()
  return Assay.start(start)
}

interface Loader {
  execute(statement: string): Promise<unknown>
}

function digestOf(statements: readonly string[]): string {
  return createHash('sha256').update(statements.join(';')).digest('hex')
}

function removeDatabase(directory: string, layout: 'duckdb' | 'duckdb-json'): void {
  const name = layout === 'duckdb' ? 'typed' : 'json'
  for (const ending of ['duckdb', 'duckdb.wal']) {
    rmSync(join(directory, `${name}.${ending}`), { force: true })
  }
}
