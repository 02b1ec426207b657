/** The objects that hold records, and the columns that their records have. */

export type ObjectType =
  | 'project_logs'
  | 'experiment'
  | 'dataset'
  | 'playground_logs'
  /** The prompts and functions of a project: a prompt is a function, and has an id among them. */
  | 'project_prompts'
  | 'project_views'

/** Every project has one object of each of these types. Their id is the project's. */
export type ProjectObjectType = 'project_logs' | 'project_prompts' | 'project_views'

/** An object that rows can be written to, as a request names it. */
export interface ObjectReference {
  readonly type: ObjectType
  readonly id: string
}

/** What tells one object from another, and what its rows derive from it. */
export interface ObjectIdentity extends ObjectReference {
  readonly projectId: string
  readonly organizationId: string
}

/**
 * A column of `select: *`.
 *
 * `stored`: its value is part of the row's text. `row`: derived from the row's keys. `object`: the
 * same for all rows of an object. The type is what the published schema promises; `json` is
 * inferred from the data.
 */
export interface RecordColumn {
  readonly name: string
  readonly origin: 'stored' | 'row' | 'object'
  readonly type: 'string' | 'timestamp' | 'boolean' | 'json' | 'object' | 'array'
  readonly in: readonly ObjectType[]
  readonly description: string
}

const spans = ['project_logs', 'experiment', 'playground_logs'] as const
const records = [...spans, 'dataset'] as const
const prompts = ['project_prompts'] as const
const views = ['project_views'] as const
const all = [...records, ...prompts, ...views] as const

/** In alphabetical order, which is the order of keys in a row and of columns in a schema. */
export const recordColumns: readonly RecordColumn[] = [
  column('_async_scoring_state', 'stored', 'json', ['project_logs'], 'State of online scoring'),
  column('_pagination_key', 'row', 'string', all, 'Orders records by first write; pages by it'),
  column('_xact_id', 'row', 'string', all, 'The transaction that wrote this version of the record'),
  column('audit_data', 'stored', 'json', all, 'How the record came to be what it is'),
  column('classifications', 'stored', 'object', records, 'Classifications by name'),
  column('comments', 'stored', 'array', all, 'Comments on the record'),
  column('context', 'stored', 'object', spans, 'Where in the program the span was made'),
  column('created', 'stored', 'timestamp', all, 'When the record was made'),
  column('dataset_id', 'object', 'string', ['dataset'], 'The dataset that holds the record'),
  column('deleted_at', 'stored', 'json', views, 'When the view was deleted'),
  column('description', 'stored', 'json', prompts, 'What the prompt or function is for'),
  column('error', 'stored', 'json', spans, 'The error, if the span failed'),
  column('expected', 'stored', 'json', records, 'The ground truth to compare the output with'),
  column('experiment_id', 'object', 'string', ['experiment'], 'The experiment that holds the span'),
  column('facets', 'stored', 'object', records, 'Facets by name'),
  column('function_data', 'stored', 'object', prompts, 'What runs: a prompt, code, …'),
  column('function_schema', 'stored', 'object', prompts, 'Schemas of parameters and results'),
  column('function_type', 'stored', 'json', prompts, 'What it is used as: scorer, tool, …'),
  column('id', 'stored', 'string', all, 'Names the record within its object'),
  column('input', 'stored', 'json', records, 'What went in'),
  column('is_root', 'stored', 'boolean', all, 'Whether the span is the root of its trace'),
  column(
    'log_id',
    'object',
    'string',
    ['project_logs', 'playground_logs', ...prompts, ...views],
    'g in logs, x in playgrounds, p for prompts and functions, v for views',
  ),
  column('metadata', 'stored', 'object', [...records, ...prompts], 'Anything else, by key'),
  column('metrics', 'stored', 'object', spans, 'Numbers by name: start, end, tokens, …'),
  column('name', 'stored', 'json', [...prompts, ...views], 'The name that is shown'),
  column('object_id', 'stored', 'json', views, 'The object that the view is of'),
  column('object_type', 'stored', 'json', views, 'The type of that object'),
  column('options', 'stored', 'json', views, 'How the view is shown'),
  column(
    'org_id',
    'object',
    'string',
    ['project_logs', ...prompts],
    'The organization of the project',
  ),
  column(
    'origin',
    'stored',
    'object',
    [...records, ...prompts],
    'The record that this one was made from',
  ),
  column('output', 'stored', 'json', spans, 'What came out'),
  column('project_id', 'object', 'string', all, 'The project of the object'),
  column('prompt_data', 'stored', 'object', prompts, 'Messages, model and parameters'),
  column(
    'prompt_session_id',
    'object',
    'string',
    ['playground_logs'],
    'The playground that holds the span',
  ),
  column('root_span_id', 'stored', 'string', all, 'The trace that the span belongs to'),
  column('scores', 'stored', 'object', spans, 'Scores by name, from 0 to 1'),
  column('slug', 'stored', 'json', prompts, 'Names the prompt or function in programs'),
  column('span_attributes', 'stored', 'object', spans, 'Name and type of the span'),
  column('span_id', 'stored', 'string', all, 'Names the span within its trace'),
  column('span_parents', 'stored', 'array', spans, 'The spans that this one is part of'),
  column('tags', 'stored', 'array', [...records, ...prompts], 'Tags'),
  column('user_id', 'stored', 'json', views, 'Who made the view'),
  column('view_data', 'stored', 'object', views, 'Filters, sorts and search of the view'),
  column('view_type', 'stored', 'json', views, 'The page that the view is of'),
]

const columnsByName = new Map(recordColumns.map((column) => [column.name, column]))

/** What `log_id` shows, and what names an object of the type beside a project's or playground's id. */
export const logIds: Partial<Record<ObjectType, string>> = {
  project_logs: 'g',
  project_prompts: 'p',
  project_views: 'v',
  playground_logs: 'x',
}

/** The value of an `object` column in an object's rows; null where its type lacks the column. */
export function objectColumnValue(name: string, object: ObjectIdentity): string | null {
  if (!columnsByName.get(name)?.in.includes(object.type)) return null
  switch (name) {
    case 'project_id':
      return object.projectId
    case 'org_id':
      return object.organizationId
    case 'log_id':
      return logIds[object.type] ?? null
    default:
      return object.id
  }
}

/** Whether a top-level field is part of the row's text; fields that are no record column are. */
export function isStoredField(name: string): boolean {
  return (columnsByName.get(name)?.origin ?? 'stored') === 'stored'
}

export function recordColumn(name: string): RecordColumn | undefined {
  return columnsByName.get(name)
}

function column(
  name: string,
  origin: RecordColumn['origin'],
  type: RecordColumn['type'],
  objectTypes: readonly ObjectType[],
  description: string,
): RecordColumn {
  return { name, origin, type, in: objectTypes, description }
}

/** Metrics by which a span reports usage: one of them is above 0. */
export const reportedMetrics = [
  'prompt_tokens',
  'completion_tokens',
  'tokens',
  'total_tokens',
  'estimated_cost',
] as const
