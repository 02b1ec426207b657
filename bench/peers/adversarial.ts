/** How Assay fares with adversarial rows, beside as many of the usual ones. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatMs } from '../table.ts'
import { type AdversarialRow, adversarialRows } from './generator/adversarial-writer.ts'
import { settle } from './ingest.ts'
import { type Turns, warmTimes } from './measure/alternate.ts'
import { differenceOf } from './measure/same-rows.ts'
import { type PrepareOptions, prepare } from './prepare.ts'
import { type AdversarialQuery, adversarialQueries } from './queries/adversarial-queries.ts'
import { note, showProgress } from './report/progress.ts'
import { formatRatio, markdownTable } from './report/table.ts'
import { Assay } from './systems/assay.ts'

export interface AdversarialResult {
  readonly name: string
  readonly ms: number
  readonly cleanMs: number
  /** How many times as long as over the usual rows. */
  readonly slower: number
  readonly difference: string | undefined
}

export interface AdversarialOptions extends Omit<PrepareOptions, 'layouts'> {
  readonly turns: Turns
}

const versions = 3
/** Smaller than usual: some rows have a megabyte. */
const rowsPerRequest = 500

export async function measureAdversarial(
  options: AdversarialOptions,
): Promise<AdversarialResult[]> {
  const clean = await prepare({ ...options, layouts: ['assay'], loads: 'once' })
  const hard = await openHard(options).catch(async (error: unknown) => {
    await clean.close()
    throw error
  })
  try {
    await settle(clean.assay!)
    await settle(hard)
    const rows = [...adversarialRows(options.rows, versions)]
    const queries = adversarialQueries(rows[rows.length >> 1]!.id, clean.data.middle.id)
    const results: AdversarialResult[] = []
    for (const query of queries) {
      showProgress(query.name)
      const systems = { hard, clean: clean.assay!, turns: options.turns }
      results.push(await measure(query, rows, systems))
    }
    return results
  } finally {
    await hard.close()
    await clean.close()
  }
}

interface Systems {
  readonly hard: Assay
  readonly clean: Assay
  readonly turns: Turns
}

async function measure(
  query: AdversarialQuery,
  rows: readonly AdversarialRow[],
  { hard, clean, turns }: Systems,
): Promise<AdversarialResult> {
  const { name, btql, shape = '', useColumnstore = true } = query
  const request = (assay: Assay, text: string) =>
    JSON.stringify({
      query: `${text}\nfrom: project_logs('${assay.projectId}') ${shape}`,
      use_columnstore: useColumnstore,
    })
  const [hardText, cleanText] = [request(hard, btql), request(clean, query.clean)]
  const first = await hard.run(hardText)
  const compared = { isOrdered: query.isOrdered ?? false }
  const difference = differenceOf(compared, first.rows(), query.answer(rows))
  if (difference !== undefined) note(`${name}: ${difference}`)
  const turn = async () => {
    return [(await hard.run(hardText)).ms, (await clean.run(cleanText)).ms]
  }
  const [timed, cleanTimed] = await warmTimes([hard, clean], turn, turns)
  const [ms, cleanMs] = [timed!.ms, cleanTimed!.ms]
  return { name, ms, cleanMs, slower: ms / cleanMs, difference }
}

/** Starts the service over adversarial rows, each written three times. */
async function openHard({ directory, rows, workers, server }: AdversarialOptions): Promise<Assay> {
  const parent = join(directory, `adversarial-${rows}`)
  const marker = join(parent, 'loaded.json')
  const start = { server, directory: join(parent, 'assay'), workers }
  if (existsSync(marker)) return Assay.start(start)
  rmSync(parent, { recursive: true, force: true })
  mkdirSync(parent, { recursive: true })
  const assay = await Assay.start(start)
  for (let version = 1; version <= versions; version++) {
    let events: AdversarialRow[] = []
    const send = async () => {
      await assay.client.postJson(`/v1/project_logs/${assay.projectId}/insert`, { events })
      events = []
    }
    for (const row of adversarialRows(rows, version)) {
      events.push(row)
      if (events.length === rowsPerRequest) await send()
    }
    if (events.length > 0) await send()
    note(`inserted version ${version} of ${versions}`)
  }
  await settle(assay)
  writeFileSync(marker, JSON.stringify({ rows }))
  return assay
}

export function adversarialTable(results: readonly AdversarialResult[]): string {
  const head = ['query', 'adversarial ms', 'usual ms', 'times slower', 'answer']
  const rows = results.map(({ name, ms, cleanMs, slower, difference }) => [
    name,
    formatMs(ms),
    formatMs(cleanMs),
    formatRatio(slower),
    difference === undefined ? 'right' : 'WRONG',
  ])
  return markdownTable([head, ...rows])
}
