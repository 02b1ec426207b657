/**
 * The demonstration: a service with generated records, some queries with their answers, and what is
 * needed to try more. The data stays; a second run finds it complete and writes nothing.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SingleBar } from 'cli-progress'
import { type Config, readConfig } from '../config.ts'
import { encodeBatches } from '../demo/batch.ts'
import { evaluatedModels, generateEvaluation } from '../demo/evaluation.ts'
import { generateDataset, generateSpans, type SpanOptions } from '../demo/generate.ts'
import type { SpanRecord } from '../demo/record.ts'
import { AssayError } from '../error.ts'
import { createLogger, type Logger } from '../server/logger.ts'
import { makeFolderSync, writeDurablySync } from '../storage/durable-file.ts'
import { Client } from './client.ts'
import { type DemoObjects, demoQueries } from './demo-queries.ts'
import { answerTable, type QueryAnswer } from './query.ts'
import { type Service, startService, stopOnSignal } from './service.ts'

export interface DemoFlags {
  readonly port: string
  readonly dataDir: string
}

/** What the demonstration keeps beside the store, so that it can go on with it. */
interface DemoState {
  readonly key: string
  readonly objects?: DemoObjects
}

const projectName = 'Demo'
const dayMs = 86_400_000
/** What the following come to. */
const approximateRecords = 98_000
/** Some three weeks of them. */
const logs = { seed: 1, count: 60_000, kind: 'logs', userCount: 4_000, pauseMs: 110_000 } as const
const questions = { seed: 100, count: 1_500 } as const
/** The dataset is this old, and the last experiment some days younger. */
const datasetAgeMs = 40 * dayMs
const experimentEveryMs = 9 * dayMs
const rowsPerBatch = 1000

export async function runDemo(flags: DemoFlags): Promise<void> {
  const state = new StateFile(flags.dataDir)
  const logger = createLogger('warn')
  const config = readConfig(
    { port: flags.port, otlpGrpcPort: 'off', dataDir: flags.dataDir },
    { ...process.env, ASSAY_BOOTSTRAP_KEY: state.value.key, ASSAY_HOST: '' },
  )
  let service: Service | undefined
  stopOnSignal(() => service, logger)
  service = await startOnFreePort(config, logger)
  const client = new Client({ url: service.url, key: state.value.key })
  const objects = state.value.objects ?? (await writeRecords(client))
  state.save({ ...state.value, objects })
  await showQueries(client, objects)
  print(invitation(service.url, state.value.key, objects))
}

/** The key is kept in the clear: it opens nothing but generated records. */
class StateFile {
  value: DemoState
  readonly #path: string

  constructor(directory: string) {
    makeFolderSync(resolve(directory))
    this.#path = resolve(directory, 'demo.json')
    this.value = existsSync(this.#path)
      ? this.#read()
      : { key: `sk-demo-${randomBytes(16).toString('base64url')}` }
    this.save(this.value)
  }

  #read(): DemoState {
    try {
      const state = JSON.parse(readFileSync(this.#path, 'utf8')) as DemoState | null
      if (typeof state?.key === 'string') return state
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError)) throw thrown
    }
    throw new AssayError(
      'COMMAND_FAILED',
      `${this.#path} is not what the demonstration has written`,
      {
        hint: 'delete the directory of the demonstration, which is made again',
      },
    )
  }

  save(value: DemoState): void {
    this.value = value
    writeDurablySync(this.#path, JSON.stringify(value))
  }
}

async function startOnFreePort(config: Config, logger: Logger): Promise<Service> {
  for (let port = config.port; ; port++) {
    try {
      return await startService({ ...config, port }, logger)
    } catch (error) {
      const taken = error instanceof AssayError && error.code === 'SERVER_CANNOT_LISTEN'
      if (!taken || port >= config.port + 100) throw error
    }
  }
}

/** Logs that end now, a dataset, and an experiment over it for each of some models. */
async function writeRecords(client: Client): Promise<DemoObjects> {
  const now = Date.now()
  const project = await client.findOrCreate('project', { name: projectName })
  const progress = new WriteProgress()
  await write(client, `/v1/project_logs/${project.id}`, spansUntil(logs, now), progress)

  const fields = { project_id: project.id, name: 'support questions' }
  const dataset = await client.findOrCreate('dataset', fields)
  const start = now - datasetAgeMs
  const records = [...generateDataset({ ...questions, start })]
  await write(client, `/v1/dataset/${dataset.id}`, records, progress)

  const experiments: string[] = []
  for (const [index, model] of evaluatedModels.entries()) {
    const [base] = experiments
    const { id } = await client.findOrCreate('experiment', {
      project_id: project.id,
      name: model,
      dataset_id: dataset.id,
      metadata: { model },
      ...(base !== undefined && { base_exp_id: base }),
    })
    const options = { seed: 2 + index, start: start + (index + 1) * experimentEveryMs, model }
    const spans = generateEvaluation({ ...options, records, dataset: dataset.id })
    await write(client, `/v1/experiment/${id}`, spans, progress)
    experiments.push(id)
  }
  progress.finish()
  return { logs: project.id, experiments, dataset: dataset.id }
}

/** Spans of which the last one was created at `end`; made twice, which takes less than keeping them. */
function spansUntil(options: Omit<SpanOptions, 'start'>, end: number): Iterable<SpanRecord> {
  let last = 0
  for (const { created } of generateSpans({ ...options, start: 0 })) last = Date.parse(created)
  return generateSpans({ ...options, start: end - last })
}

/** One request after the other, so that the newest records are the ones written last. */
async function write(
  client: Client,
  path: string,
  records: Iterable<object>,
  progress: WriteProgress,
): Promise<void> {
  for (const { rowCount, bytes } of encodeBatches(records, { rowsPerBatch, form: 'events' })) {
    await client.postWithRetries(`${path}/insert`, bytes)
    progress.wrote(rowCount)
  }
}

/** A count on a terminal; one line at the end either way. */
class WriteProgress {
  readonly #bar: SingleBar | undefined
  readonly #startedAt = performance.now()
  #count = 0

  constructor() {
    print(
      `Writing about ${approximateRecords.toLocaleString('en')} generated records through the API.`,
    )
    if (!process.stderr.isTTY) return
    this.#bar = new SingleBar({
      format: '{bar} {percentage}% | {value} records',
      clearOnComplete: true,
      hideCursor: true,
    })
    this.#bar.start(approximateRecords, 0)
  }

  wrote(count: number): void {
    this.#count += count
    this.#bar?.update(Math.min(this.#count, approximateRecords))
  }

  finish(): void {
    this.#bar?.stop()
    const seconds = (performance.now() - this.#startedAt) / 1000
    const rate = Math.round(this.#count / seconds).toLocaleString('en')
    print(`Wrote ${this.#count.toLocaleString('en')} in ${seconds.toFixed(1)} s, ${rate} a second.`)
  }
}

async function showQueries(client: Client, objects: DemoObjects): Promise<void> {
  for (const { title, query } of demoQueries(objects)) {
    const startedAt = performance.now()
    const response = await client.post('/btql', JSON.stringify({ query }))
    const answer = (await response.json()) as QueryAnswer
    const ms = (performance.now() - startedAt).toFixed(0)
    const indented = query.replaceAll('\n', '\n  ')
    print(`\n${title}\n\n  ${indented}\n`)
    print(`${answerTable(answer, process.stdout.columns || 100)}\n(${ms} ms)`)
  }
}

function invitation(url: string, key: string, { experiments }: DemoObjects): string {
  const query = `select: id, scores | from: experiment('${experiments[0]}') | limit: 3`
  const body = JSON.stringify({ query }).replaceAll("'", "'\\''")
  return [
    '',
    `Open ${url}/#key=${key}`,
    '',
    `Assay is listening on ${url}. The key is ${key}. Or try:`,
    '',
    `  curl ${url}/btql -H 'Authorization: Bearer ${key}' \\`,
    `    -d '${body}'`,
    '',
    'Ctrl-C stops it. The data stays for the next run.',
  ].join('\n')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
