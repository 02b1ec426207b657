/**
 * What assistants can do here: look around, ask, and read. Every tool sees what the key's owner may
 * read, changes nothing, and ends at caps of rows, bytes and time.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { Engine } from '../../engine.ts'
import { AssayError, toAssayError } from '../../error.ts'
import { renderError } from '../../parser/error-location.ts'
import { printString } from '../../parser/print.ts'
import { writeExactJson } from '../../type/exact-json.ts'
import { summarizeExperiment } from '../experiment-summary.ts'
import { baseExperiment } from '../route/app/base-experiment.ts'
import { version } from '../version.ts'
import { type CappedRows, readCapped } from './capped-rows.ts'

const listedPerProject = 100
const listedProjects = 100
const traceRows = 500

const language =
  'BTQL: clauses on lines or between "|", such as\n' +
  "select: id, input, output | from: experiment('<id>') | filter: scores.exact < 1 | limit: 10\n" +
  "dimensions: metadata.model | measures: count(1) as n, avg(scores.exact) as exact | from: project_logs('<id>')\n" +
  'or SQL: SELECT … FROM … WHERE … GROUP BY …. Sources: experiment, project_logs, dataset, ' +
  'playground_logs, project_prompts, by id or name; shapes spans (default), traces, summary.'

const source = z
  .string()
  .max(10_000)
  .describe("What to read, as in a query: experiment('<id>'), project_logs('my project')")

const caps = {
  max_rows: z.number().int().min(1).max(1000).default(100).describe('Rows to return at most'),
  max_bytes: z
    .number()
    .int()
    .min(1000)
    .max(1_000_000)
    .default(100_000)
    .describe('Bytes of rows to return at most'),
  timeout_seconds: z.number().min(0.1).max(60).default(20).describe('Time that the query may take'),
}

/** A server for one request: nothing is kept between two of them. */
export function toolServer(engine: Engine, gate: Gate, signal: AbortSignal): McpServer {
  const server = new McpServer(
    { name: 'assay', version },
    { instructions: `Records of LLM evaluations and logs, queried in ${language}` },
  )
  const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false }

  server.registerTool(
    'list_sources',
    {
      description:
        'Lists projects with their experiments and datasets, newest first, with the ids that queries name.',
      inputSchema: { project: z.string().optional().describe('Only this project, by name or id') },
      annotations: readOnly,
    },
    ({ project }) => answered(undefined, () => Promise.resolve(listSources(gate, project))),
  )
  server.registerTool(
    'infer_schema',
    {
      description: 'Describes the fields that records of a source have, with types and top values.',
      inputSchema: { source, timeout_seconds: caps.timeout_seconds },
      annotations: readOnly,
    },
    ({ source, timeout_seconds }) => {
      const query = `infer: *\nfrom: ${source}`
      return answered(query, async () =>
        shown(
          await readCapped(
            engine,
            { query, view: gate, signal, timeoutSeconds: timeout_seconds },
            { rows: 1000, bytes: 300_000 },
          ),
        ),
      )
    },
  )
  server.registerTool(
    'validate_query',
    {
      description: `Says whether a query is right, and how it would run, without running it. ${language}`,
      inputSchema: { query: z.string().max(100_000) },
      annotations: readOnly,
    },
    ({ query }) =>
      answered(query, async () => ({
        valid: true,
        plan: await engine.explain({ query, view: gate }),
      })),
  )
  server.registerTool(
    'run_query',
    {
      description: `Runs a query and returns its rows. ${language}`,
      inputSchema: { query: z.string().max(100_000), ...caps },
      annotations: readOnly,
    },
    ({ query, max_rows, max_bytes, timeout_seconds }) =>
      answered(query, async () =>
        shown(
          await readCapped(
            engine,
            { query, view: gate, signal, timeoutSeconds: timeout_seconds },
            { rows: max_rows, bytes: max_bytes },
          ),
        ),
      ),
  )
  server.registerTool(
    'get_trace',
    {
      description: 'Returns the spans of one trace, the newest first.',
      inputSchema: {
        source,
        root_span_id: z.string().max(1000),
        max_bytes: caps.max_bytes,
        timeout_seconds: caps.timeout_seconds,
      },
      annotations: readOnly,
    },
    ({ source, root_span_id, max_bytes, timeout_seconds }) => {
      const query = `select: *\nfrom: ${source}\nfilter: root_span_id = ${printString(root_span_id)}`
      return answered(query, async () =>
        shown(
          await readCapped(
            engine,
            { query, view: gate, signal, timeoutSeconds: timeout_seconds },
            { rows: traceRows, bytes: max_bytes },
          ),
        ),
      )
    },
  )
  server.registerTool(
    'summarize_experiment',
    {
      description:
        'Averages of the scores and metrics of an experiment, and how many cases got better or worse than in its base.',
      inputSchema: {
        experiment_id: z.string().max(100),
        base_experiment_id: z
          .string()
          .max(100)
          .optional()
          .describe('What to compare with; the experiment’s own base if not given'),
      },
      annotations: readOnly,
    },
    ({ experiment_id, base_experiment_id }) =>
      answered(undefined, async () => {
        const experiment = gate.require('read', 'experiment', experiment_id)
        const base =
          base_experiment_id === undefined
            ? baseExperiment(gate, experiment)
            : gate.require('read', 'experiment', base_experiment_id)
        const summary = await summarizeExperiment({ engine, gate, signal }, experiment, base)
        return { experiment: experiment.name, base: base?.name ?? null, ...summary }
      }),
  )
  return server
}

function listSources(gate: Gate, nameOrId: string | undefined) {
  const named = nameOrId === undefined ? undefined : gate.readableProject(nameOrId)
  if (nameOrId !== undefined && !named) {
    throw new AssayError('BIND_UNKNOWN_SOURCE', `there is no project "${nameOrId.slice(0, 100)}"`, {
      hint: 'leave out "project" to list all',
    })
  }
  const projects = named ? [gate.require('read', 'project', named.id)] : gate.list('project')
  const listed = first(projects, listedProjects)
  const place = ({ id, name }: { readonly id: string; readonly name: string }) => ({ id, name })
  return {
    projects: listed.items.map((project) => {
      const scope = { parentId: project.id }
      const experiments = first(gate.list('experiment', scope), listedPerProject)
      const datasets = first(gate.list('dataset', scope), listedPerProject)
      return {
        ...place(project),
        experiments: experiments.items.map(place),
        datasets: datasets.items.map(place),
        ...((experiments.hasMore || datasets.hasMore) && { truncated: true }),
      }
    }),
    ...(listed.hasMore && { truncated: true }),
  }
}

function first<T>(entries: Iterable<T>, count: number): { items: T[]; hasMore: boolean } {
  const items: T[] = []
  for (const entry of entries) {
    if (items.length === count) return { items, hasMore: true }
    items.push(entry)
  }
  return { items, hasMore: false }
}

/** Rows as they are, in the text of the answer: numbers keep their digits. */
function shown({ rows, cappedBy, cursor }: CappedRows): string {
  const about = {
    row_count: rows.length,
    truncated: cappedBy !== undefined,
    ...(cappedBy !== undefined && { truncated_by: cappedBy }),
    ...(cursor !== undefined && { cursor }),
  }
  return `${JSON.stringify(about).slice(0, -1)},"rows":[${rows.join(',\n')}]}`
}

/** A fault of the asker's is a result: the assistant reads it, with its place in the query. */
async function answered(query: string | undefined, ask: () => Promise<object | string>) {
  try {
    const result = await ask()
    const text = typeof result === 'string' ? result : writeExactJson(result)
    return { content: [{ type: 'text' as const, text }] }
  } catch (thrown) {
    const error = toAssayError(thrown)
    if (error.family === 'internal') throw error
    const hint = error.hint === undefined ? '' : `\n${error.hint}`
    const text =
      error.span && query !== undefined
        ? renderError(query, error)
        : `${error.code}: ${error.message}${hint}`
    return { isError: true, content: [{ type: 'text' as const, text }] }
  }
}
