import { SingleBar } from 'cli-progress'
import { AssayError } from '../error.ts'
import type { ObjectReference } from '../type/record.ts'
import { Checksum } from './checksum.ts'
import { Client, type ConnectionOptions } from './client.ts'
import type { ImportFormat } from './import-format.ts'
import { type ImportRow, readRow } from './import-row.ts'
import { ImportSender } from './import-sender.ts'
import { type Line, type LineSource, openSource } from './import-source.ts'
import { type ImportPlace, ImportState } from './import-state.ts'
import { RemoteSource } from './remote-source.ts'

export interface ImportOptions extends ConnectionOptions {
  readonly project: string
  readonly experiment?: string
  readonly dataset?: string
  readonly logs?: boolean
  readonly format?: ImportFormat
  /** Another service to read from; what is imported are objects of it then. */
  readonly fromUrl?: string
  readonly fromKey?: string
  /** File that remembers how far an import from another service has come. */
  readonly state?: string
}

/** Bad lines that are reported one by one; of more than that, only the count is told. */
const reportedLines = 1000

const defaultState = '.assay-import.json'

/**
 * Imports files, or objects of another service. Ends with exit code 1 when some records could not be
 * imported.
 */
export async function runImport(paths: readonly string[], options: ImportOptions): Promise<void> {
  const target = targetOf(options)
  const client = new Client(options)
  const { fromUrl, fromKey = process.env.ASSAY_FROM_KEY } = options
  const remote = fromUrl === undefined ? undefined : connectionOf(fromUrl, fromKey)
  const sources = paths.map((path) =>
    remote ? new RemoteSource(remote, path) : openSource(path, options.format),
  )
  const object = await findObject(client, options.project, target)

  const progress = new Progress(await sizesOf(sources), remote !== undefined)
  const sender = new ImportSender({
    client,
    path: `/v1/${object.type}/${object.id}/insert`,
    onSent: (rows) => progress.sent(rows),
    onRefused: (row, reason) => progress.bad(row.source, row.line, reason),
  })
  try {
    for (const source of sources) {
      if (source instanceof RemoteSource) {
        const names = [fromUrl!, source.name, client.url, object.type, object.id]
        const state = new ImportState(options.state ?? defaultState, names)
        await importRemote(source, sender, progress, state)
      } else await importSource(source, sender, progress)
    }
    await sender.finish()
  } finally {
    progress.stop()
  }
  progress.summarize()
  process.stderr.write(`query them with from: ${object.type}('${object.id}')\n`)
  if (progress.badCount > 0) process.exitCode = 1
}

function connectionOf(url: string, key: string | undefined): Client {
  if (key === undefined || key === '') {
    throw new AssayError(
      'COMMAND_INVALID',
      'no key of the other service; give one with --from-key or ASSAY_FROM_KEY',
    )
  }
  return new Client({ url, key })
}

/** Of a file its bytes, of an object of another service its records. */
function sizesOf(sources: readonly (LineSource | RemoteSource)[]): Promise<(number | undefined)[]> {
  return Promise.all(
    sources.map((source) => (source instanceof RemoteSource ? source.count() : source.size)),
  )
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
  for await (const line of linesOf(source, progress))
    await importLine(source, line, sender, progress)
}

/** A page is done when all of it has been answered; the next run begins after the last that was. */
async function importRemote(
  source: RemoteSource,
  sender: ImportSender,
  progress: Progress,
  state: ImportState,
): Promise<void> {
  const place = state.read()
  if (place) {
    progress.goOn(place)
    process.stderr.write(`going on after ${place.rows.toLocaleString('en')} rows\n`)
  }
  for await (const { lines, cursor } of source.pages(place?.cursor)) {
    for (const line of lines) await importLine(source, line, sender, progress)
    await sender.finish()
    progress.read(lines.length)
    state.write(cursor === undefined ? undefined : { cursor, ...progress.total })
  }
}

async function importLine(
  source: Pick<LineSource, 'label' | 'name'>,
  line: Line,
  sender: ImportSender,
  progress: Progress,
): Promise<void> {
  let row: ReturnType<typeof readRow>
  try {
    row = readRow(source, line)
  } catch (error) {
    progress.bad(source, line.number, error instanceof Error ? error.message : String(error))
    return
  }
  if (row) await sender.add(row)
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
  readonly #sources: string
  #checksum = new Checksum()
  #rowCount = 0
  #readSize = 0

  /** @param sizes of the sources, in what `read` counts; undefined where not known */
  constructor(sizes: readonly (number | undefined)[], areObjects: boolean) {
    const noun = areObjects ? 'object' : 'file'
    this.#sources = sizes.length === 1 ? `1 ${noun}` : `${sizes.length} ${noun}s`
    if (!process.stderr.isTTY) return
    const known = sizes.every((size) => size !== undefined)
    const total = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
    const format = known
      ? '{bar} {percentage}% | {rows} rows | {eta_formatted} left'
      : '{rows} rows | {duration_formatted}'
    this.#bar = new SingleBar({ format, stream: process.stderr, hideCursor: true })
    this.#bar.start(Math.max(total, 1), 0, { rows: 0 })
  }

  /** What has been sent, in this run and those before. */
  get total(): Pick<ImportPlace, 'rows' | 'checksum'> {
    return { rows: this.#rowCount, checksum: this.#checksum.toString() }
  }

  /** Counts what an earlier run has sent. */
  goOn({ rows, checksum }: ImportPlace): void {
    this.#rowCount += rows
    this.#checksum = new Checksum(checksum)
    this.read(rows)
  }

  read(size: number): void {
    this.#readSize += size
    this.#update()
  }

  sent(rows: readonly ImportRow[]): void {
    this.#rowCount += rows.length
    for (const { bytes } of rows) this.#checksum.add(bytes)
    this.#update()
  }

  bad(source: Pick<LineSource, 'label'>, line: number, reason: string): void {
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
    const bad = this.badCount === 0 ? '' : `; ${this.badCount} bad lines left out`
    process.stderr.write(
      `imported ${rows} of ${this.#sources} in ${seconds.toFixed(1)} s (${rate} a second)${bad}\n` +
        `checksum ${this.#checksum}\n`,
    )
  }

  #update(): void {
    this.#bar?.update(this.#readSize, { rows: this.#rowCount.toLocaleString('en') })
  }
}
