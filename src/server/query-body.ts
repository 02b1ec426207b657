/** Reads the body of a query request. */
import type { Gate } from '../access/gate.ts'
import type { QueryRequest } from '../engine.ts'
import { AssayError } from '../error.ts'
import {
  formatOfAccept,
  isOutputFormat,
  type OutputFormat,
  outputFormats,
} from '../format/output-format.ts'
import { faultText, type GivenQuery, JsonQuery } from '../parser/given-query.ts'
import { parseRequest } from '../parser/parse-request.ts'
import { suggest } from '../parser/suggest.ts'
import type { QueryWarning } from '../planner/lint.ts'
import { Highlighter, lookedFor } from '../search/looked-for.ts'
import { isJsonObject } from '../type/exact-json.ts'
import type { AsyncRequest } from './async/async-queries.ts'
import { jsonBodyOf } from './ignored-fields.ts'
import {
  booleanField,
  type JsonBody,
  numberField,
  objectField,
  parseJsonBody,
  stringField,
} from './json-body.ts'
import type { RouteRequest } from './route.ts'

export interface QueryBody {
  readonly request: QueryRequest
  readonly format: OutputFormat
  /** What was asked for and is not done. */
  readonly warnings: readonly QueryWarning[]
  /** Whether warnings are wanted at all. */
  readonly showsWarnings: boolean
  /** Whether a plan that is asked for is to be run and measured. */
  readonly isAnalyzed: boolean
  /** Finds what the query looks for in the rows of a JSON answer, if that is asked for. */
  readonly highlighter: Highlighter | undefined
}

type Reader = (body: JsonBody, name: string) => unknown

/**
 * Every field that a body may have, with what checks its type. Those that nothing below asks for
 * choose between ways that are all the same here: there is one backend, it sees every write at once,
 * and there is no limit but the query's.
 */
const fields: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['query', () => undefined],
  ['from', stringField],
  ['project_id', stringField],
  ['project_name', stringField],
  ['fmt', stringField],
  ['escape_formulas', booleanField],
  ['api_version', numberField],
  ['tz_offset', numberField],
  ['version', stringField],
  ['audit_log', booleanField],
  ['analyze', booleanField],
  ['use_columnstore', booleanField],
  ['use_brainstore', booleanField],
  ['brainstore_realtime', booleanField],
  ['brainstore_skip_backfill_check', booleanField],
  ['brainstore_ephemeral_wal', booleanField],
  ['disable_limit', booleanField],
  ['force_push_limit', booleanField],
  ['relaxed_search_mode', booleanField],
  ['overflow_results', booleanField],
  ['expected_cost', numberField],
  ['inference_depth', numberField],
  ['scope_to_root_span_id', stringField],
  ['custom_column_scope', objectField],
  ['lint_mode', stringField],
  ['strict_lint_mode', booleanField],
  ['query_timeout_seconds', numberField],
  ['query_source', stringField],
  ['highlights', booleanField],
  ['client_version', stringField],
])

const noFields: ReadonlySet<string> = new Set()

/** What the body of a query may have that nobody waits for. */
const asyncFields: ReadonlySet<string> = new Set(['format', 'batch_size'])

/** Rows of a page of the result of a query that nobody waits for. */
const defaultBatchSize = 1000

/** Fields that would change the answer, and do not yet. */
const withoutEffect = ['custom_column_scope']

/** Throws the first fault of the body; the query's own faults are found later. */
export async function readQueryBody(
  request: RouteRequest,
  view: Gate,
  known?: ReadonlySet<string>,
): Promise<QueryBody> {
  return queryBodyOf(request, await request.body, view, known)
}

/** The same of a body that is there. */
export function queryBodyOf(
  request: RouteRequest,
  bytes: Uint8Array,
  view: Gate,
  known = noFields,
): QueryBody {
  const body = jsonBodyOf(request, bytes)
  const query = givenQuery(body, bytes)
  request.queryText = faultText(query)
  const given = queryBody(body, query, view, { accept: request.headers.get('accept'), known })
  return {
    ...given,
    request: {
      ...given.request,
      // Made when it is asked for: most queries are answered before they could be cancelled.
      get signal() {
        return request.signal
      },
      onCancelled: request.cancel,
    },
  }
}

export interface QueryBodyOptions {
  /** The header of that name. */
  readonly accept?: string | undefined
  /** Further fields that the body may have. */
  readonly known?: ReadonlySet<string>
}

/** The body of a query that is known. */
export function queryBody(
  body: JsonBody,
  query: GivenQuery,
  view: Gate,
  { accept, known = noFields }: QueryBodyOptions,
): QueryBody {
  for (const [name, read] of fields) read(body, name)
  for (const name of known) body.has(name)
  const format = formatOf(body, accept)
  const lint = lintOf(body)
  const from = stringField(body, 'from')
  const project = projectOf(body)
  const tzOffset = numberField(body, 'tz_offset')
  const version = stringField(body, 'version')
  const useColumnstore = booleanField(body, 'use_columnstore')
  const auditLog = booleanField(body, 'audit_log')
  const rootSpanId = stringField(body, 'scope_to_root_span_id')
  const timeoutSeconds = timeoutOf(body)
  const inferenceDepth = inferenceDepthOf(body)
  return {
    request: {
      query,
      view,
      format,
      separator: format === 'jsonl' ? '\n' : ',\n',
      escapesFormulas: booleanField(body, 'escape_formulas') === true,
      strictLint: lint === 'strict',
      ...(from !== undefined && { from }),
      ...(project !== undefined && { project }),
      ...(tzOffset !== undefined && { tzOffset }),
      ...(version !== undefined && { version }),
      ...(useColumnstore !== undefined && { useColumnstore }),
      ...(auditLog !== undefined && { auditLog }),
      ...(rootSpanId !== undefined && { rootSpanId }),
      ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      ...(inferenceDepth !== undefined && { inferenceDepth }),
    },
    format,
    warnings: requestWarnings(body, known),
    showsWarnings: lint !== 'off',
    isAnalyzed: booleanField(body, 'analyze') === true,
    highlighter: highlighterOf(body, query, from, format),
  }
}

/** The project that sources without an id are of, by id or name. */
export function projectOf(body: JsonBody): string | undefined {
  return stringField(body, 'project_id') ?? stringField(body, 'project_name')
}

function highlighterOf(
  body: JsonBody,
  query: GivenQuery,
  from: string | undefined,
  format: OutputFormat,
): Highlighter | undefined {
  if (booleanField(body, 'highlights') !== true) return undefined
  if (format === 'json') return new Highlighter(lookedFor(parseRequest(query, from)))
  throw invalidOption('highlights', 'true', `has no place in ${format}`, 'leave out "fmt"')
}

/** Of a query that nobody waits for: `format` names the format of its result, JSON lines if not said. */
export async function readAsyncBody(request: RouteRequest, view: Gate): Promise<AsyncRequest> {
  const { request: asked } = await readQueryBody(request, view, asyncFields)
  const { signal: _, onCancelled: __, ...query } = asked
  const body = parseJsonBody(await request.body)
  const given = stringField(body, 'format') ?? stringField(body, 'fmt') ?? 'jsonl'
  const named = readFormat('format', given)
  const format = named === 'json' ? 'jsonl' : named
  const batchSize = numberField(body, 'batch_size') ?? defaultBatchSize
  if (!Number.isInteger(batchSize) || batchSize < 1) {
    throw invalidOption('batch_size', String(batchSize), 'is no number of rows', 'give 1 or more')
  }
  return { request: { ...query, format, separator: '\n' }, format, batchSize }
}

/** The query of a body, which came in these bytes. */
export function givenQuery(body: JsonBody, bytes: Uint8Array): GivenQuery {
  const query = body.get('query')
  if (typeof query === 'string') return query
  if (isJsonObject(query)) return new JsonQuery(query, { bytes: bytes.length })
  const problem = query === undefined ? 'is missing' : 'must be a string or an object'
  throw new AssayError('REQUEST_INVALID', `"query" ${problem}`, {
    path: 'query',
    hint: 'send {"query": "select: * | from: experiment(\'<id>\') | limit: 10"}',
  })
}

function inferenceDepthOf(body: JsonBody): number | undefined {
  const depth = numberField(body, 'inference_depth')
  if (depth === undefined || (Number.isInteger(depth) && depth >= 0 && depth <= 100)) return depth
  throw new AssayError('REQUEST_INVALID', `inference_depth ${depth} is not a number of levels`, {
    path: 'inference_depth',
    hint: 'give a whole number from 0 to 100',
  })
}

/** What the body says goes before what the headers say. */
function formatOf(body: JsonBody, accept: string | undefined): OutputFormat {
  const given = stringField(body, 'fmt')
  return given === undefined ? (formatOfAccept(accept ?? '') ?? 'json') : readFormat('fmt', given)
}

function readFormat(name: string, given: string): OutputFormat {
  const format = given.toLowerCase()
  if (isOutputFormat(format)) return format
  throw invalidOption(name, given, 'is not a format', `use one of ${outputFormats.join(', ')}`)
}

/** `strict_lint_mode` is the older way to ask for `strict`. */
function lintOf(body: JsonBody): 'off' | 'default' | 'strict' {
  const mode = stringField(body, 'lint_mode')
  const isStrict = booleanField(body, 'strict_lint_mode') === true
  if (mode === undefined || mode === 'default') return isStrict ? 'strict' : 'default'
  if (mode === 'strict' || mode === 'off') return mode
  throw invalidOption('lint_mode', mode, 'is not a mode', 'use "default", "strict" or "off"')
}

function timeoutOf(body: JsonBody): number | undefined {
  const seconds = numberField(body, 'query_timeout_seconds')
  if (seconds === undefined || seconds > 0) return seconds
  throw invalidOption(
    'query_timeout_seconds',
    String(seconds),
    'is no time',
    'give seconds above 0',
  )
}

function invalidOption(name: string, value: string, problem: string, hint: string): AssayError {
  const message = `${name} "${value.slice(0, 100)}" ${problem}`
  return new AssayError('BIND_INVALID_OPTION', message, { path: name, hint })
}

function requestWarnings(body: JsonBody, known: ReadonlySet<string>): QueryWarning[] {
  const warnings: QueryWarning[] = []
  for (const name of body.keys()) {
    if (fields.has(name) || known.has(name)) continue
    const near = suggest(name, fields.keys())
    warnings.push({
      code: 'unknownOption',
      message: `the request has an option that is unknown: ${name.slice(0, 100)}`,
      stage: 'request',
      severity: 'warning',
      ...(near !== undefined && { hint: `did you mean ${near}?` }),
    })
  }
  for (const name of withoutEffect) {
    if (!body.has(name) || body.get(name) === false) continue
    const message = `${name} has no effect here`
    warnings.push({ code: 'optionWithoutEffect', message, stage: 'request', severity: 'info' })
  }
  return warnings
}
