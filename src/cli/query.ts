import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { AssayError } from '../error.ts'
import {
  formatNames,
  isOutputFormat,
  type OutputFormat,
  outputFormats,
} from '../format/output-format.ts'
import { fileFault } from '../storage/directory/file-fault.ts'
import { DurableFile } from '../storage/durable-file.ts'
import { parseExactJson } from '../type/exact-json.ts'
import { Client, type ConnectionOptions } from './client.ts'
import { formatTable, type TableRow } from './table.ts'

export interface QueryOptions extends ConnectionOptions {
  readonly analyze?: boolean
  readonly explain?: boolean
  readonly from?: string
  readonly project?: string
  readonly tzOffset?: string
  readonly versionId?: string
  readonly format?: string
  readonly output?: string
  readonly escapeFormulas?: boolean
}

/**
 * Runs a query (`-`: from standard input): a table on a terminal, otherwise JSON lines, or whatever
 * format is asked for.
 */
export async function runQuery(given: string, options: QueryOptions): Promise<void> {
  const request = {
    query: given === '-' ? await text(process.stdin) : given,
    ...(options.from !== undefined && { from: options.from }),
    ...(options.project !== undefined && projectField(options.project)),
    ...(options.tzOffset !== undefined && { tz_offset: minutes(options.tzOffset) }),
    ...(options.versionId !== undefined && { version: options.versionId }),
    ...(options.escapeFormulas && { escape_formulas: true }),
  }
  const client = new Client(options)
  if (options.analyze) await explain(client, { ...request, analyze: true })
  else if (options.explain) await explain(client, request)
  else if (options.output !== undefined) {
    await saveAnswer(client, { ...request, fmt: formatOf(options) }, options.output)
  } else if (options.format !== undefined) {
    await printAnswer(client, { ...request, fmt: formatOf(options) })
  } else if (process.stdout.isTTY) await printTable(client, request)
  else await printAnswer(client, { ...request, fmt: 'jsonl' })
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function projectField(project: string): object {
  return uuid.test(project) ? { project_id: project } : { project_name: project }
}

/** Of files of lines, whatever these are. */
const plainEndings: ReadonlySet<string> = new Set(['', 'txt', 'log', 'ndjson'])

/** What is said, or what the ending of the file's name says; JSON lines where that says nothing. */
function formatOf({ format, output }: QueryOptions): OutputFormat {
  if (format === undefined) {
    const ending = output === undefined ? '' : extname(output).slice(1).toLowerCase()
    const named = outputFormats.find(
      (each) => each === ending || formatNames[each].ending === ending,
    )
    if (named) return named
    if (plainEndings.has(ending)) return 'jsonl'
    throw new AssayError(
      'COMMAND_INVALID',
      `a file that ends in ".${ending.slice(0, 100)}" is of no format that there is: ` +
        `end it in ${outputFormats.map((each) => `.${formatNames[each].ending}`).join(', ')}, ` +
        'or say its format by --format',
    )
  }
  if (!isOutputFormat(format)) {
    throw new AssayError(
      'COMMAND_INVALID',
      `--format must be one of ${outputFormats.join(', ')}, not "${format.slice(0, 100)}"`,
    )
  }
  if (
    output === undefined &&
    process.stdout.isTTY &&
    (format === 'arrow' || format === 'parquet')
  ) {
    throw new AssayError(
      'COMMAND_INVALID',
      `${format} is nothing for a terminal; add --output FILE`,
    )
  }
  return format
}

/** The part of an answer that a table shows. */
export interface QueryAnswer {
  readonly data: readonly TableRow[]
  readonly schema: { readonly items: { readonly properties: object } }
}

/** Columns in the order of the query, then the rows, as a table. */
export function answerTable({ data, schema }: QueryAnswer, width: number): string {
  return formatTable(Object.keys(schema.items.properties), data, width)
}

async function explain(client: Client, request: object): Promise<void> {
  const response = await client.post('/btql/explain', JSON.stringify(request))
  const { plan } = (await response.json()) as { plan: string }
  process.stdout.write(plan.endsWith('\n') ? plan : `${plan}\n`)
}

async function printTable(client: Client, request: object): Promise<void> {
  const startedAt = performance.now()
  const response = await client.post('/btql', JSON.stringify(request))
  const text = await response.text().catch(cutOff)
  const answer = parsedAnswer(text)
  const ms = performance.now() - startedAt
  const rows = answer.data.length === 1 ? '1 row' : `${answer.data.length} rows`
  process.stdout.write(`${answerTable(answer, process.stdout.columns)}\n`)
  process.stdout.write(`${rows} in ${ms.toFixed(0)} ms\n`)
}

function parsedAnswer(text: string): QueryAnswer {
  try {
    return parseExactJson(text) as QueryAnswer
  } catch (error) {
    return cutOff(error)
  }
}

async function printAnswer(client: Client, request: object): Promise<void> {
  const response = await client.post('/btql', JSON.stringify(request))
  if (!response.body) return
  await pipeline(Readable.fromWeb(response.body), process.stdout, { end: false }).catch(cutOff)
}

/** For whoever the user lets read new files. */
const fileForAll = 0o666

/** Writes an answer to a file as it comes. The file is there when all of it is. */
async function saveAnswer(client: Client, request: object, path: string): Promise<void> {
  const file = await DurableFile.create(path, fileForAll).catch((thrown) => {
    throw fileFault(thrown, `cannot write ${path}`) ?? thrown
  })
  try {
    const response = await client.post('/btql', JSON.stringify(request))
    const body = Readable.fromWeb(response.body!)
    await pipeline(body, async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) await file.handle.writeFile(chunk)
    }).catch((thrown) => {
      if (fileFault(thrown, path)) throw thrown
      return cutOff(thrown)
    })
    await file.keep()
  } catch (thrown) {
    await file.abandon()
    throw fileFault(thrown, `cannot write ${path}`) ?? thrown
  }
}

/** The service breaks the connection when a query fails after its first rows were sent. */
function cutOff(error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'EPIPE') process.exit(0)
  throw new AssayError(
    'COMMAND_FAILED',
    'the answer broke off: the query failed on the way, or the connection did',
  )
}

function minutes(text: string): number {
  if (/^-?\d{1,4}$/.test(text)) return Number(text)
  throw new AssayError(
    'COMMAND_INVALID',
    `--tz-offset must be a number of minutes, not "${text.slice(0, 100)}"`,
  )
}
