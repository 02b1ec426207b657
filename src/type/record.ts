/** The objects that hold records, and the columns that their records have. */

export type ObjectType = 'project_logs' | 'experiment' | 'dataset'

/** An object that rows can be written to, as a request names it. */
export interface ObjectReference {
  readonly type: ObjectType
  readonly id: string
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

const all = ['project_logs', 'experiment', 'dataset'] as const
const spans = ['project_logs', 'experiment'] as const

/** In alphabetical order, which is the order of keys in a row and of columns in a schema. */
export const recordColumns: readonly RecordColumn[] = [
  column('_async_scoring_state', 'stored', 'json', ['project_logs'], 'State of online scoring'),
  column('_pagination_key', 'row', 'string', all, 'Orders records by first write; pages by it'),
  column('_xact_id', 'row', 'string', all, 'The transaction that wrote this version of the record'),
  column('audit_data', 'stored', 'json', all, 'How the record came to be what it is'),
  column('classifications', 'stored', 'object', all, 'Classifications by name'),
  column('comments', 'stored', 'array', all, 'Comments on the record'),
  column('context', 'stored', 'object', spans, 'Where in the program the span was made'),
  column('created', 'stored', 'timestamp', all, 'When the record was made'),
  column('dataset_id', 'object', 'string', ['dataset'], 'The dataset that holds the record'),
  column('error', 'stored', 'json', spans, 'The error, if the span failed'),
  column('expected', 'stored', 'json', all, 'The ground truth to compare the output with'),
  column('experiment_id', 'object', 'string', ['experiment'], 'The experiment that holds the span'),
  column('facets', 'stored', 'object', all, 'Facets by name'),
  column('id', 'stored', 'string', all, 'Names the record within its object'),
  column('input', 'stored', 'json', all, 'What went in'),
  column('is_root', 'stored', 'boolean', all, 'Whether the span is the root of its trace'),
  column('log_id', 'object', 'string', ['project_logs'], 'The literal g'),
  column('metadata', 'stored', 'object', all, 'Anything else, by key'),
  column('metrics', 'stored', 'object', spans, 'Numbers by name: start, end, tokens, …'),
  column('org_id', 'object', 'string', ['project_logs'], 'The organization of the project'),
  column('origin', 'stored', 'object', all, 'The record that this one was made from'),
  column('output', 'stored', 'json', spans, 'What came out'),
  column('project_id', 'object', 'string', all, 'The project of the object'),
  column('root_span_id', 'stored', 'string', all, 'The trace that the span belongs to'),
  column('scores', 'stored', 'object', spans, 'Scores by name, from 0 to 1'),
  column('span_attributes', 'stored', 'object', spans, 'Name and type of the span'),
  column('span_id', 'stored', 'string', all, 'Names the span within its trace'),
  column('span_parents', 'stored', 'array', spans, 'The spans that this one is part of'),
  column('tags', 'stored', 'array', all, 'Tags'),
]

const columnsByName = new Map(recordColumns.map((column) => [column.name, column]))

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
