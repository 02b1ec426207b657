/** How long pages of a long list take, over HTTP, and what opening and changing a large catalog takes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { system } from '../../src/catalog/audit-trail.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { startService } from '../../src/cli/service.ts'
import { readConfig } from '../../src/config.ts'
import { createLogger } from '../../src/server/logger.ts'
import { openRecords } from '../../src/storage/environment.ts'
import { formatMs, formatTable, median } from '../table.ts'

const experimentCount = 100_000
const perChange = 5_000
const pages = 100
const key = 'sk-bench-0123456789'

export interface CatalogResult {
  readonly request: string
  /** Median and slowest, in milliseconds. */
  readonly median: number
  readonly slowest: number
  /** Milliseconds of processor time each, of the client as well. */
  readonly processor: number
}

export async function runCatalog(): Promise<CatalogResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'assay-bench-catalog-'))
  const config = readConfig(
    { port: '0', dataDir: directory, workers: '0', logLevel: 'silent' },
    { ASSAY_BOOTSTRAP_KEY: key },
  )
  const logger = createLogger(config.logLevel)
  try {
    await (await startService(config, logger)).close()
    const project = await fill(directory)
    const opened = performance.now()
    const service = await startService(config, logger)
    console.log(`opened in ${formatMs(performance.now() - opened)} ms`)
    try {
      return await measure(service.url, project)
    } finally {
      await service.close()
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Half of the experiments are in one project, which is returned; the rest is in a hundred. */
async function fill(directory: string): Promise<string> {
  const records = openRecords(directory, { readOnly: false })
  const catalog = new Catalog(records)
  const [organization] = catalog.list('organization')
  const projects = await catalog.change(system, (change) =>
    Array.from({ length: 101 }, (_, n) => {
      return change.create('project', { org_id: organization!.id, name: `project ${n}` }).id
    }),
  )
  for (let from = 0; from < experimentCount; from += perChange) {
    await catalog.change(system, (change) => {
      for (let n = from; n < from + perChange; n++) {
        const project_id = projects[n % 2 === 0 ? 0 : 1 + (n % 100)]!
        const metadata = { model: `model-${n % 7}`, run: n }
        change.create('experiment', { project_id, name: `experiment ${n}`, metadata })
      }
    })
  }
  await records.root.close()
  return projects[0]!
}

async function measure(url: string, project: string): Promise<CatalogResult[]> {
  let last: string | undefined
  const get = async (query: string) => {
    const response = await fetch(`${url}/v1/experiment?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const { objects } = (await response.json()) as { objects: { id: string }[] }
    last = objects.at(-1)?.id
    return objects.length
  }
  const next = () => (last === undefined ? '' : `&starting_after=${last}`)
  const requests: readonly (readonly [name: string, query: (n: number) => string])[] = [
    ['100 of the organization, page by page', () => `limit=100${next()}`],
    ['100 of a project, page by page', () => `project_id=${project}&limit=100${next()}`],
    ['1,000 of a project, page by page', () => `project_id=${project}&limit=1000${next()}`],
    ['by name in a project', (n) => `project_id=${project}&experiment_name=experiment ${n * 2}`],
    ['by name in the organization', (n) => `experiment_name=experiment ${n}`],
  ]
  const results: CatalogResult[] = []
  const measured = [
    // The first pages of a process that has just started are those of code that is not compiled yet.
    [`${requests[0]![0]}, at first`, requests[0]![1], 10] as const,
    ...requests.map(([request, query]) => [request, query, pages] as const),
  ]
  for (const [request, query, count] of measured) {
    const times: number[] = []
    last = undefined
    const before = process.cpuUsage()
    for (let n = 0; n < count; n++) {
      const started = performance.now()
      const found = await get(query(n))
      times.push(performance.now() - started)
      if (found === 0) last = undefined
    }
    const { user, system } = process.cpuUsage(before)
    const processor = (user + system) / 1000 / count
    results.push({ request, median: median(times), slowest: Math.max(...times), processor })
  }
  console.log(
    formatTable([
      ['request', 'median ms', 'slowest ms', 'processor ms'],
      ...results.map((one) => [
        one.request,
        ...[one.median, one.slowest, one.processor].map(formatMs),
      ]),
    ]),
  )
  return results
}
