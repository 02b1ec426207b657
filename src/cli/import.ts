import { SingleBar } from 'cli-progress'
import { AssayError } from '../error.ts'
import type { ObjectReference } from '../type/record.ts'
import { Client, type ConnectionOptions } from './client.ts'
import { readRow } from './import-row.ts'
import { ImportSender } from './import-sender.ts'
import { type Line, type LineSource, openSource } from './import-source.ts'

export interface ImportOptions extends ConnectionOptions {
  readonly project: string
  readonly experiment?: string
  readonly dataset?: string
  readonly logs?: boolean
}

/** Bad lines that are reported one by one; of more than that, only the count is told. */
const reportedLines = 1000

/** Imports files of JSON lines. Ends with exit code 1 when some lines could not be imported. */
export async function runImport(paths: readonly string[], options: ImportOptions): Promise<void> {
  const target = targetOf(options)
  const client = new Client(options)
  const sources = paths.map(openSource)
  const object = await findObject(client, options.project, target)

  const progress = new Progress(sources)
  const sender = new ImportSender({
    client,
    path: `/v1/${object.type}/${object.id}/insert`,
    onSent: (rowCount) => progress.sent(rowCount),
    onRefused: (row, reason) => progress.bad(row.source, row.line, reason),
  })
  try {
    for (const source of sources) await importSource(source, sender, progress)
    await sender.finish()
  } finally {
    progress.stop()
  }
  progress.summarize()
  process.stderr.write(`query them with from: ${object.type}('${object.id}')\n`)
  if (progress.badCount > 0) process.exitCode = 1
}

type Target = { readonly type: 'experiment' | 'dataset'; readonly name: string } | 'logs'

function targetOf({ experiment, dataset, logs }: ImportOptions): Target {
  const targets: Target[] = []
  if (experiment !== undefined) targets.push({ type: 'experiment', name: experiment })
  if (dataset !== undefined) targets.push({ type: 'dataset', name: dataset })
  if (logs) targets.push('logs')
  if (targets.length !== 1) {
    throw new AssayError(
      'COMMAND_INVALID',
      'say where to import to: --experiment E, --dataset D or --logs',
    )
  }
  return targets[0]!
}

async function findObject(
  client: Client,
  projectName: string,
  target: Target,
): Promise<ObjectReference> {
  const project = await client.findOrCreate('project', { name: projectName })
  if (target === 'logs') return { type: 'project_logs', id: project.id }
  const { type, name } = target
  const { id } = await client.findOrCreate(type, { project_id: project.id, name })
  return { type, id }
}

async function importSource(source: LineSource, sender: ImportSender, progress: Progress) {
  for await (const line of linesOf(source, progress)) {
    let row: ReturnType<typeof readRow>
    try {
      row = readRow(source, line)
    } catch (error) {
      progress.bad(source, line.number, error instanceof Error ? error.message : String(error))
      continue
    }
    if (row) await sender.add(row)
  }
}

async function* linesOf(source: LineSource, progress: Progress): AsyncGenerator<Line> {
  try {
    yield* source.lines((bytes) => progress.read(bytes))
  } catch (error) {
    throw new AssayError(
      'COMMAND_FAILED',
      `${source.label} cannot be read: ${(error as Error).message}`,
    )
  }
}

/** What has been read and sent so far; a bar on a terminal. */
class Progress {
  badCount = 0
  readonly #bar: SingleBar | undefined
  readonly #startedAt = performance.now()
  readonly #sourceCount: number
  #rowCount = 0
  #readBytes = 0

  constructor(sources: readonly LineSource[]) {
    this.#sourceCount = sources.length
    if (!process.stderr.isTTY) return
    const known = sources.every(({ size }) => size !== undefined)
    const total = sources.reduce((sum, { size }) => sum + (size ?? 0), 0)
    const format = known
      ? '{bar} {percentage}% | {rows} rows | {eta_formatted} left'
      : '{rows} rows | {duration_formatted}'
    this.#bar = new SingleBar({ format, stream: process.stderr, hideCursor: true })
    this.#bar.start(Math.max(total, 1), 0, { rows: 0 })
  }

  read(bytes: number): void {
    this.#readBytes += bytes
    this.#update()
  }

  sent(rowCount: number): void {
    this.#rowCount += rowCount
    this.#update()
  }

  bad(source: LineSource, line: number, reason: string): void {
    this.badCount++
    if (this.badCount > reportedLines) return
    const end = this.#bar ? '\x1b[K\n' : '\n'
    process.stderr.write(`${source.label}, line ${line}: ${reason.split('\n')[0]}${end}`)
  }

  stop(): void {
    this.#bar?.stop()
  }

  summarize(): void {
    const seconds = (performance.now() - this.#startedAt) / 1000
    const rate = Math.round(this.#rowCount / seconds).toLocaleString('en')
    const rows = `${this.#rowCount.toLocaleString('en')} ${this.#rowCount === 1 ? 'row' : 'rows'}`
    const files = this.#sourceCount === 1 ? '1 file' : `${this.#sourceCount} files`
    const bad = this.badCount === 0 ? '' : `; ${this.badCount} bad lines left out`
    process.stderr.write(
      `imported ${rows} of ${files} in ${seconds.toFixed(1)} s (${rate} a second)${bad}\n`,
    )
  }

  #update(): void {
    this.#bar?.update(this.#readBytes, { rows: this.#rowCount.toLocaleString('en') })
  }
}
