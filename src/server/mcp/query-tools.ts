/** Tools that ask queries, and that help to write them. */
import { z } from 'zod'
import type { QueryRequest } from '../../engine.ts'
import { AssayError } from '../../error.ts'
import { printString } from '../../parser/print.ts'
import { type Caps, readCapped } from './capped-rows.ts'
import { searchDocuments } from './language-documents.ts'
import { queryLink } from './permalink.ts'
import {
  answered,
  caps,
  language,
  project,
  readOnly,
  shown,
  source,
  type ToolContext,
  type ToolServer,
} from './tool-answer.ts'
import { whyEmpty } from './why-empty.ts'

const traceRows = 500

export function registerQueryTools(server: ToolServer, context: ToolContext): void {
  const { engine, gate } = context
  server.registerTool(
    'infer_schema',
    {
      description: 'Describes the fields that records of a source have, with types and top values.',
      inputSchema: { source, project: project.optional(), timeout_seconds: caps.timeout_seconds },
      annotations: readOnly,
    },
    ({ source, project, timeout_seconds }) => {
      const asked = { query: `infer: *\nfrom: ${source}`, project, timeout: timeout_seconds }
      return run(context, asked, { rows: 1000, bytes: 300_000 })
    },
  )
  server.registerTool(
    'validate_query',
    {
      description: `Says whether a query is right, and how it would run, without running it. ${language}`,
      inputSchema: { query: z.string().max(100_000), project: project.optional() },
      annotations: readOnly,
    },
    ({ query, project }) =>
      answered(query, async () => ({
        valid: true,
        plan: await engine.explain({
          query,
          view: gate,
          ...(project !== undefined && { project }),
        }),
      })),
  )
  // The hosted service calls it `sql_query`.
  for (const name of ['run_query', 'sql_query']) {
    server.registerTool(
      name,
      {
        description: `Runs a query and returns its rows; where there are none, it says why. ${language}`,
        inputSchema: { query: z.string().max(100_000), project: project.optional(), ...caps },
        annotations: readOnly,
      },
      ({ query, project, max_rows, max_bytes, timeout_seconds }) => {
        const asked = { query, project, timeout: timeout_seconds }
        return run(context, asked, { rows: max_rows, bytes: max_bytes })
      },
    )
  }
  registerTraceTools(server, context)
  registerChartTool(server, context)
  server.registerTool(
    'search_docs',
    {
      description: 'Finds functions, sources, shapes and clauses of the query language by words.',
      inputSchema: {
        query: z.string().max(1000).describe('Words, such as: percentile, cost, time bucket'),
      },
      annotations: readOnly,
    },
    ({ query }) => answered(undefined, () => Promise.resolve(searchDocuments(query))),
  )
}

function registerTraceTools(server: ToolServer, context: ToolContext): void {
  const inputSchema = {
    source,
    root_span_id: z.string().max(1000),
    project: project.optional(),
    max_bytes: caps.max_bytes,
    timeout_seconds: caps.timeout_seconds,
  }
  server.registerTool(
    'get_trace',
    {
      description: 'Returns the spans of one trace, the newest first.',
      inputSchema,
      annotations: readOnly,
    },
    ({ source, root_span_id, project, max_bytes, timeout_seconds }) => {
      const query = `select: *\nfrom: ${source}\nfilter: root_span_id = ${printString(root_span_id)}`
      const asked = { query, project, timeout: timeout_seconds }
      return run(context, asked, { rows: traceRows, bytes: max_bytes })
    },
  )
  server.registerTool(
    'get_trace_work_items',
    {
      description:
        'Returns what was done in one trace, in the order of time: its spans of models, tools, functions and tasks.',
      inputSchema,
      annotations: readOnly,
    },
    ({ source, root_span_id, project, max_bytes, timeout_seconds }) => {
      const query = [
        'select: span_id, span_parents, span_attributes.name as name, span_attributes.type as type, ' +
          'input, output, error, metadata.model as model, metrics.start as start, metrics.end as end',
        `from: ${source}`,
        `filter: root_span_id = ${printString(root_span_id)} and ` +
          "span_attributes.type in ['llm', 'tool', 'function', 'task']",
        'sort: metrics.start, created',
      ].join('\n')
      const asked = { query, project, timeout: timeout_seconds }
      return run(context, asked, { rows: traceRows, bytes: max_bytes })
    },
  )
}

const buckets = ['minute', 'hour', 'day', 'week', 'month'] as const

function registerChartTool(server: ToolServer, context: ToolContext): void {
  const { gate, url } = context
  server.registerTool(
    'generate_monitor_chart',
    {
      description:
        'Measures the logs of a project over time, and returns the query, its rows and a link to a page that plots them. Saves nothing.',
      inputSchema: {
        project,
        measures: z
          .string()
          .max(10_000)
          .default('count(1) as n')
          .describe(
            'As in a query: avg(scores.exact) as exact, percentile(metrics.duration, 0.95) as p95',
          ),
        bucket: z.enum(buckets).default('day'),
        group_by: z.string().max(1000).optional().describe('A field: metadata.model'),
        filter: z.string().max(10_000).optional(),
        days: z.number().min(0.01).max(3660).default(7).describe('How far back'),
        timeout_seconds: caps.timeout_seconds,
      },
      annotations: readOnly,
    },
    ({ project, measures, bucket, group_by, filter, days, timeout_seconds }) => {
      const since = `created > now() - interval ${Math.ceil(days * 1440)} minute`
      const query = [
        `dimensions: ${bucket}(created) as time${group_by === undefined ? '' : `, ${group_by}`}`,
        `measures: ${measures}`,
        'from: project_logs()',
        `filter: ${filter === undefined ? since : `${since} and (${filter})`}`,
        'sort: time',
      ].join('\n')
      const asked = { query, project, timeout: timeout_seconds }
      return run(context, asked, { rows: 1000, bytes: 300_000 }, () => {
        const found = gate.readableProject(project)
        return { query, ...(found && { url: queryLink(gate, url, found.name, query) }) }
      })
    },
  )
}

interface Asked {
  readonly query: string
  readonly project: string | undefined
  readonly timeout: number
}

/** @param more what the answer has beside its rows */
function run(
  { engine, gate, signal }: ToolContext,
  { query, project, timeout }: Asked,
  bounds: Caps,
  more: () => object = () => ({}),
) {
  return answered(query, async () => {
    if (project !== undefined && !gate.readableProject(project)) {
      throw new AssayError(
        'BIND_UNKNOWN_SOURCE',
        `there is no project "${project.slice(0, 100)}"`,
        {
          hint: 'list_sources tells which there are',
        },
      )
    }
    const request: QueryRequest = {
      query,
      view: gate,
      signal,
      timeoutSeconds: timeout,
      ...(project !== undefined && { project }),
    }
    const found = await readCapped(engine, request, bounds)
    if (found.rows.length > 0) return shown(found, { ...more() })
    const reason =
      found.cappedBy === undefined
        ? await whyEmpty(engine, request)
        : 'the first row alone has more than max_bytes: ask for fewer fields, or for more bytes'
    return shown(found, { ...more(), why_empty: reason })
  })
}
