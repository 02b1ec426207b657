/** Tools that find objects: what there is, by name or address, and where its page is. */
import { z } from 'zod'
import type { Gate } from '../../access/gate.ts'
import type { Entries } from '../../catalog/entry.ts'
import { AssayError } from '../../error.ts'
import { printString } from '../../parser/print.ts'
import { readCapped } from './capped-rows.ts'
import {
  type PageType,
  type Place,
  pageTypes,
  permalink,
  placeAt,
  placeOf,
  placeOfName,
  queryLink,
  type Within,
} from './permalink.ts'
import {
  answered,
  caps,
  first,
  project,
  readOnly,
  shown,
  type ToolContext,
  type ToolServer,
} from './tool-answer.ts'

const listedPerProject = 100
const listedProjects = 100
const listedCharts = 100

export function registerObjectTools(server: ToolServer, context: ToolContext): void {
  const { gate, url } = context
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
    'list_recent_objects',
    {
      description: 'Lists objects of a type, newest first.',
      inputSchema: {
        object_type: z.enum(['project', 'experiment', 'dataset', 'prompt', 'function']),
        project: project.optional(),
        limit: z.number().int().min(1).max(100).default(20),
      },
      annotations: readOnly,
    },
    ({ object_type, project, limit }) =>
      answered(undefined, () => listRecent(context, object_type, project, limit)),
  )
  const objectType = z.enum(pageTypes)
  server.registerTool(
    'resolve_object',
    {
      description:
        'Gives the ids and names of an object of which the id, the name or the address is known.',
      inputSchema: {
        object_type: objectType.optional(),
        object_id: z.string().max(100).optional(),
        object_name: z.string().max(1000).optional(),
        project: project.optional(),
        url: z.string().max(10_000).optional().describe('The address of a page'),
      },
      annotations: readOnly,
    },
    ({ object_type, object_id, object_name, project, url: address }) =>
      answered(undefined, () => {
        const place: Place & Within =
          address === undefined
            ? resolved(gate, object_type, object_id, object_name, project)
            : placeAt(gate, address)
        return Promise.resolve({ ...place, url: permalink(gate, url, place, place) })
      }),
  )
  server.registerTool(
    'generate_permalink',
    {
      description: 'Gives the address of the page of an object, a trace or a row.',
      inputSchema: {
        object_type: objectType,
        object_id: z.string().max(100),
        root_span_id: z
          .string()
          .max(1000)
          .optional()
          .describe('Of a trace, of the logs of a project'),
        row_id: z.string().max(1000).optional().describe('Of a row of an experiment or a dataset'),
      },
      annotations: readOnly,
    },
    ({ object_type, object_id, root_span_id, row_id }) =>
      answered(undefined, () => {
        const place = placeOf(gate, object_type, object_id)
        return Promise.resolve({ url: permalink(gate, url, place, { root_span_id, row_id }) })
      }),
  )
  server.registerTool(
    'list_charts',
    {
      description:
        'Lists the queries and charts that are saved in a project, with their texts, which run_query takes.',
      inputSchema: { project },
      annotations: readOnly,
    },
    ({ project }) => answered(undefined, () => Promise.resolve(listCharts(context, project))),
  )
  server.registerTool(
    'get_prompt',
    {
      description: 'Returns a prompt or function, with its newest contents.',
      inputSchema: { project, slug: z.string().max(1000), max_bytes: caps.max_bytes },
      annotations: readOnly,
    },
    ({ project, slug, max_bytes }) => {
      const query = `select: *\nfrom: project_functions()\nfilter: slug = ${printString(slug)}`
      return answered(query, async () => {
        const { id } = requireProject(gate, project)
        const request = {
          query,
          project: id,
          view: gate,
          signal: context.signal,
          timeoutSeconds: 20,
        }
        const found = await readCapped(context.engine, request, { rows: 1, bytes: max_bytes })
        const why_empty = `the project has no prompt or function "${slug}" that you may read`
        return shown(found, found.rows.length > 0 || found.cappedBy ? {} : { why_empty })
      })
    },
  )
}

function resolved(
  gate: Gate,
  type: PageType | undefined,
  id: string | undefined,
  name: string | undefined,
  project: string | undefined,
) {
  if (type === undefined) {
    throw new AssayError('REQUEST_INVALID', '"object_type" is missing', {
      hint: 'give it with object_id or object_name, or give "url" alone',
    })
  }
  if (id !== undefined) return placeOf(gate, type, id)
  if (name !== undefined) return placeOfName(gate, type, name, project)
  throw new AssayError('REQUEST_INVALID', 'give one of object_id, object_name and url')
}

async function listRecent(
  { engine, gate, signal }: ToolContext,
  type: 'project' | 'experiment' | 'dataset' | 'prompt' | 'function',
  nameOrId: string | undefined,
  limit: number,
): Promise<object | string> {
  const scope = nameOrId === undefined ? undefined : requireProject(gate, nameOrId)
  if (type === 'prompt' || type === 'function') {
    const from = scope ? `project_${type}s()` : `org_${type}s()`
    const columns = 'id, name, slug, description, function_type, project_id, created, _xact_id'
    const query = `select: ${columns}\nfrom: ${from}\nlimit: ${limit}`
    const request = {
      query,
      view: gate,
      signal,
      timeoutSeconds: 20,
      ...(scope && { project: scope.id }),
    }
    const found = await readCapped(engine, request, { rows: limit, bytes: 300_000 })
    return shown(
      found,
      found.rows.length > 0 ? {} : { why_empty: `there is no ${type} that you may read` },
    )
  }
  const entries: Iterable<Entries['project' | 'experiment' | 'dataset']> = gate.list(type, {
    ...(scope && type !== 'project' && { parentId: scope.id }),
  })
  const { items, hasMore } = first(entries, limit)
  const objects = items.map((entry) => ({
    id: entry.id,
    name: entry.name,
    created: entry.created,
    ...('project_id' in entry && { project_id: entry.project_id }),
  }))
  return {
    objects,
    truncated: hasMore,
    ...(objects.length === 0 && { why_empty: `there is no ${type} that you may read` }),
  }
}

function listCharts({ gate, url }: ToolContext, nameOrId: string) {
  const { id, name } = requireProject(gate, nameOrId)
  const { items, hasMore } = first(chartsOf(gate, id), listedCharts)
  return {
    charts: items.map((chart) => ({ ...chart, url: queryLink(gate, url, name, chart.query) })),
    truncated: hasMore,
    ...(items.length === 0 && { why_empty: 'no query or chart is saved in the project' }),
  }
}

function* chartsOf(gate: Gate, projectId: string) {
  for (const { id, name, description, view_data } of gate.list('view', { parentId: projectId })) {
    const charts = view_data?.custom_charts
    const saved = memberOf(charts, 'query')
    const query = memberOf(saved, 'text')
    if (typeof query === 'string') yield { id, name, description: description ?? null, query }
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as { readonly [name: string]: unknown })[name]
}

function requireProject(gate: Gate, nameOrId: string) {
  const found = gate.readableProject(nameOrId)
  if (found) return found
  throw new AssayError('BIND_UNKNOWN_SOURCE', `there is no project "${nameOrId.slice(0, 100)}"`, {
    hint: 'leave out "project" to list all',
  })
}

function listSources(gate: Gate, nameOrId: string | undefined) {
  const named = nameOrId === undefined ? undefined : requireProject(gate, nameOrId)
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
    ...(listed.items.length === 0 && { why_empty: 'there is no project that you may read' }),
  }
}
