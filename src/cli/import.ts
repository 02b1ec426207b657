import { AssayError } from '../error.ts'
import { readColumnTypes } from '../import/column-types.ts'
import { checkEncoding } from '../import/encoding.ts'
import type { ImportFormat } from '../import/file-format.ts'
import { isBadLine, reasonOf } from '../import/file-record.ts'
import type { ObjectReference } from '../type/record.ts'
import { Client, type ConnectionOptions } from './client.ts'
import { type FileOptions, openFile } from './file-source.ts'
import { ImportProgress } from './import-progress.ts'
import { type ImportRow, readRow } from './import-row.ts'
import { ImportSender } from './import-sender.ts'
import type { ImportSource, SourceRecord } from './import-source.ts'
import { ImportState } from './import-state.ts'
import { RemoteSource } from './remote-source.ts'

export interface ImportOptions extends ConnectionOptions {
  readonly project: string
  readonly experiment?: string
  readonly dataset?: string
  readonly logs?: boolean
  readonly format?: ImportFormat
  /** Of CSV: one character, or `tab`. */
  readonly delimiter?: string
  readonly escapedFormulas?: boolean
  readonly encoding?: string
  /** What cells of texts are taken for; see `readColumnTypes`. */
  readonly types?: string
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
  const files = fileOptions(options)
  const sources = paths.map((path) =>
    remote ? new RemoteSource(remote, path) : openFile(path, files),
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
      for await (const read of source.records(from, (size) => progress.read(size))) {
        const row = rowOf(source, read, progress)
        if (row) await sender.add(row)
        if (read.position === undefined) continue
        await sender.finish()
        state?.write({ source: index, position: read.position, ...progress.total })
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

/** Throws for what is none of the choices. */
function fileOptions(options: ImportOptions): FileOptions {
  const { format, delimiter, encoding, types, escapedFormulas } = options
  try {
    if (encoding !== undefined) checkEncoding(encoding)
    return {
      format,
      delimiter: delimiterOf(delimiter),
      encoding,
      types: readColumnTypes(types),
      hasEscapedFormulas: escapedFormulas,
    }
  } catch (error) {
    throw new AssayError('COMMAND_INVALID', reasonOf(error))
  }
}

function delimiterOf(given: string | undefined): string | undefined {
  const delimiter = given === 'tab' || given === '\\t' ? '\t' : given
  if (delimiter === undefined) return delimiter
  if (delimiter.length === 1 && delimiter.charCodeAt(0) < 0x80) return delimiter
  throw new Error(`"${given}" is no delimiter; give one character of ASCII, or "tab"`)
}

/** Undefined for what is no record, which is told. */
function rowOf(
  source: ImportSource,
  { record }: SourceRecord,
  progress: ImportProgress,
): ImportRow | undefined {
  if (isBadLine(record)) {
    progress.bad(source, record.line, record.fault)
    return undefined
  }
  try {
    return readRow(source, record)
  } catch (error) {
    progress.bad(source, record.line, reasonOf(error))
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
