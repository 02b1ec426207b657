import { AssayError } from '../error.ts'
import type { ObjectReference } from '../type/record.ts'
import { Client, type ConnectionOptions } from './client.ts'
import { openFile } from './file-source.ts'
import type { ImportFormat } from './import-format.ts'
import { ImportProgress } from './import-progress.ts'
import { type ImportRow, readRow } from './import-row.ts'
import { ImportSender } from './import-sender.ts'
import type { ImportSource, Line } from './import-source.ts'
import { ImportState } from './import-state.ts'
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
  /** File that remembers how far the import has come. */
  readonly state?: string
}

const defaultState = '.assay-import.json'

/**
 * Imports files, or objects of another service; goes on where an earlier run was broken off. Ends with
 * exit code 1 when some records could not be imported.
 */
export async function runImport(paths: readonly string[], options: ImportOptions): Promise<void> {
  const target = targetOf(options)
  const client = new Client(options)
  const { fromUrl, fromKey = process.env.ASSAY_FROM_KEY } = options
  const remote = fromUrl === undefined ? undefined : connectionOf(fromUrl, fromKey)
  const sources = paths.map((path) =>
    remote ? new RemoteSource(remote, path) : openFile(path, options.format),
  )
  const object = await findObject(client, options.project, target)
  const state = stateOf(sources, [client.url, object.type, object.id], options.state)

  const sizes = await Promise.all(sources.map((source) => source.size()))
  const progress = new ImportProgress(sizes, remote !== undefined)
  const sender = new ImportSender({
    client,
    path: `/v1/${object.type}/${object.id}/insert`,
    onSent: (rows) => progress.sent(rows),
    onRefused: (row, reason) => progress.bad(row.source, row.line, reason),
  })
  const place = state?.read()
  if (place) progress.goOn(place)
  try {
    for (const [index, source] of sources.entries()) {
      if (place && index < place.source) {
        progress.read(sizes[index] ?? 0)
        continue
      }
      const from = index === place?.source ? place.position : undefined
      for await (const line of source.lines(from, (size) => progress.read(size))) {
        const row = rowOf(source, line, progress)
        if (row) await sender.add(row)
        if (line.position === undefined) continue
        await sender.finish()
        state?.write({ source: index, position: line.position, ...progress.total })
      }
      await sender.finish()
      if (index < sources.length - 1) state?.write({ source: index + 1, ...progress.total })
    }
    state?.write(undefined)
  } finally {
    progress.stop()
  }
  progress.summarize()
  process.stderr.write(`query them with from: ${object.type}('${object.id}')\n`)
  if (progress.total.badLines > 0) process.exitCode = 1
}

/** Undefined when a source can be read only once. */
function stateOf(
  sources: readonly ImportSource[],
  target: readonly string[],
  path: string = defaultState,
): ImportState | undefined {
  const names = [...target]
  for (const { identity } of sources) {
    if (identity === undefined) return undefined
    names.push(...identity)
  }
  return new ImportState(path, names)
}

/** Undefined for a blank line, and for one that is no record, which is told. */
function rowOf(source: ImportSource, line: Line, progress: ImportProgress): ImportRow | undefined {
  try {
    return readRow(source, line)
  } catch (error) {
    progress.bad(source, line.number, error instanceof Error ? error.message : String(error))
    return undefined
  }
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
