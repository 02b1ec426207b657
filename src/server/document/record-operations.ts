/** What the API document tells of the routes for records and queries, which read their bodies themselves. */
import { z } from 'zod'
import { fields, identifier, timestamp, version } from '../../catalog/schema/field.ts'
import type { OperationDescription } from '../operation-description.ts'

const numbers = z.record(z.string(), z.union([z.number(), z.boolean()]).nullable())
const path = z.array(z.string())
const tags = z.array(z.string())

/** What JSON's readers keep exactly. */
const wholeNumber = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/** Records are kept as they come: what has a usual form may have another one. */
const usually = <Form extends z.ZodType>(form: Form) => z.union([form, z.unknown()]).optional()

const spanAttributes = z.looseObject({
  name: usually(z.string()),
  type: usually(z.string()),
  purpose: usually(z.string()),
})

const origin = z.object({
  object_type: z.enum([
    'project_logs',
    'experiment',
    'dataset',
    'prompt',
    'function',
    'prompt_session',
  ]),
  object_id: z.string(),
  id: z.string(),
  _xact_id: z.string().nullish(),
  created: z.string().nullish(),
})

const written = {
  id: z.string().nullish(),
  created: timestamp.nullish(),
  input: z.unknown().optional(),
  expected: z.unknown().optional(),
  metadata: fields.nullish(),
  tags: tags.nullish(),
  origin: usually(origin),
  facets: usually(fields),
  span_id: z.string().nullish(),
  root_span_id: z.string().nullish(),
  span_parents: z.array(z.string()).nullish(),
  _is_merge: z.boolean().nullish(),
  _merge_paths: z.array(path).nullish(),
  _array_delete: z.array(z.object({ path, delete: z.array(z.unknown()) })).nullish(),
  _object_delete: z.boolean().nullish(),
  _parent_id: z.string().nullish(),
}

const spanFields = {
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  scores: numbers.nullish(),
  metrics: fields.nullish(),
  context: usually(fields),
  span_attributes: spanAttributes.nullish(),
}

const newSpan = z.looseObject({ ...written, ...spanFields }).meta({ id: 'NewSpan' })
const newDatasetRecord = z.looseObject(written).meta({ id: 'NewDatasetRecord' })

const stored = {
  ...written,
  id: z.string(),
  _xact_id: z.string(),
  _pagination_key: z.string(),
  created: timestamp,
  project_id: identifier,
  span_id: z.string(),
  root_span_id: z.string(),
  is_root: z.boolean().nullish(),
  comments: z.array(z.unknown()).nullish(),
  audit_data: z.array(z.unknown()).nullish(),
  classifications: usually(fields),
}

const answers = {
  project_logs: z
    .looseObject({ ...stored, ...spanFields, org_id: identifier, log_id: z.literal('g') })
    .meta({ id: 'LogSpan' }),
  experiment: z
    .looseObject({ ...stored, ...spanFields, experiment_id: identifier })
    .meta({ id: 'ExperimentSpan' }),
  dataset: z.looseObject({ ...stored, dataset_id: identifier }).meta({ id: 'DatasetRecord' }),
}

const fetchBody = z.object({
  limit: wholeNumber.nullish(),
  max_xact_id: version.nullish(),
  max_root_span_id: z.string().nullish(),
  version: version.nullish(),
  cursor: z.string().nullish(),
})

/** A parameter without a text counts as one that is absent. */
const empty = z.literal('')

const fetchQuery = z.object({
  limit: wholeNumber.optional(),
  max_xact_id: z.union([version, empty]).optional(),
  max_root_span_id: z.string().optional(),
  version: z.union([version, empty]).optional(),
})

const feedbackItem = z
  .object({
    id: z.string(),
    scores: numbers.nullish(),
    expected: z.unknown().optional(),
    comment: z.string().nullish(),
    metadata: fields.nullish(),
    source: z.enum(['app', 'api', 'external']).nullish(),
    tags: tags.nullish(),
  })
  .meta({ id: 'Feedback' })

const rowIds = z.object({ row_ids: z.array(z.string()) }).meta({ id: 'InsertedRows' })

const difference = {
  diff: z.number().optional(),
  improvements: z.int(),
  regressions: z.int(),
}

const scoreSummary = z.object({ name: z.string(), score: z.number(), ...difference })
const metricSummary = z.object({
  name: z.string(),
  metric: z.number(),
  unit: z.string(),
  ...difference,
})

const types = ['project_logs', 'experiment', 'dataset'] as const

function operationsOn(type: (typeof types)[number]): [string, OperationDescription][] {
  const newRecord = type === 'dataset' ? newDatasetRecord : newSpan
  const tag = type === 'project_logs' ? 'project logs' : type
  const events = z.object({
    events: z.array(answers[type]),
    cursor: z.string().nullish(),
  })
  const at = `/v1/${type}/:id`
  return [
    [
      `POST ${at}/insert`,
      {
        tag,
        summary: 'Writes up to 100,000 records, all in one transaction',
        body: z.object({ events: z.array(newRecord) }),
        answer: rowIds,
      },
    ],
    [
      `POST ${at}/fetch`,
      {
        tag,
        summary: 'Reads records by whole traces, newest first',
        body: fetchBody,
        isBodyOptional: true,
        answer: events,
      },
    ],
    [
      `GET ${at}/fetch`,
      {
        tag,
        summary: 'Reads records by whole traces, newest first',
        query: fetchQuery,
        answer: events,
      },
    ],
    [
      `POST ${at}/feedback`,
      {
        tag,
        summary: 'Scores, corrects, tags and comments on records',
        body: z.object({ feedback: z.array(feedbackItem).nullish() }),
        answer: z.object({ status: z.literal('success') }),
      },
    ],
  ]
}

const query = z.object({
  query: z.union([z.string(), fields]).meta({ description: 'Clauses, SQL, or a syntax tree' }),
  fmt: z.enum(['json', 'jsonl', 'csv', 'arrow', 'parquet']).optional(),
  escape_formulas: z.boolean().optional().meta({
    description: 'Of CSV: an apostrophe before texts that spreadsheets take for formulas',
  }),
  tz_offset: z.number().optional(),
  version: version.optional(),
  use_columnstore: z.boolean().optional(),
  audit_log: z.boolean().optional(),
  from: z.string().optional(),
  query_timeout_seconds: z.number().positive().optional(),
})

const streamFields = {
  fmt: z.literal('json').optional(),
  live: z.boolean().optional().meta({ description: 'Stays open and tells of what is written' }),
  since: z
    .string()
    .optional()
    .meta({ description: 'The `xact_id` from which a live query goes on' }),
  progress: z.boolean().optional(),
}

const queryAnswer = z.object({
  data: z.array(fields),
  schema: fields,
  cursor: z.string().nullish(),
  warnings: z.array(fields).optional(),
})

const ofObjects = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item).nullish()
const anyEvents = (event: z.ZodType) =>
  z.object({ events: z.array(event).nullish(), feedback: z.array(feedbackItem).nullish() })

/** By method and path, as the routes have them. */
export const recordOperations: ReadonlyMap<string, OperationDescription> = new Map([
  ...types.flatMap(operationsOn),
  [
    'POST /v1/insert',
    {
      tag: 'records',
      summary: 'Writes records and feedback of many objects, all in one transaction',
      body: z.object({
        project_logs: ofObjects(anyEvents(newSpan)),
        experiment: ofObjects(anyEvents(newSpan)),
        dataset: ofObjects(anyEvents(newDatasetRecord)),
      }),
      answer: z.object({
        project_logs: ofObjects(rowIds),
        experiment: ofObjects(rowIds),
        dataset: ofObjects(rowIds),
      }),
    },
  ],
  [
    'POST /logs3',
    {
      tag: 'records',
      summary: 'Writes up to 100,000 rows, each of which names its object, all in one transaction',
      body: z.object({ rows: z.array(newSpan), api_version: usually(z.number()) }),
      answer: z.object({ ids: z.array(z.string()), xact_id: z.string() }),
    },
  ],
  [
    'GET /v1/experiment/:id/summarize',
    {
      tag: 'experiment',
      summary: 'Averages of scores and metrics, compared with another experiment',
      query: z.object({
        summarize_scores: z.boolean().optional(),
        comparison_experiment_id: z.union([identifier, empty]).optional(),
      }),
      answer: z.object({
        project_name: z.string(),
        experiment_name: z.string(),
        project_url: z.string(),
        experiment_url: z.string(),
        comparison_experiment_name: z.string().nullish(),
        scores: z.record(z.string(), scoreSummary).nullish(),
        metrics: z.record(z.string(), metricSummary).nullish(),
      }),
    },
  ],
  [
    'GET /v1/dataset/:id/summarize',
    {
      tag: 'dataset',
      summary: 'How many records a dataset has',
      query: z.object({ summarize_data: z.boolean().optional() }),
      answer: z.object({
        project_name: z.string(),
        dataset_name: z.string(),
        project_url: z.string(),
        dataset_url: z.string(),
        data_summary: z.object({ total_records: z.int() }).nullish(),
      }),
    },
  ],
  [
    'POST /v1/dataset/:id/restore/preview',
    {
      tag: 'dataset',
      summary: 'What bringing back a version would change',
      body: z.object({ version }),
      answer: z.object({ rows_to_restore: z.int(), rows_to_delete: z.int() }),
    },
  ],
  [
    'POST /v1/dataset/:id/restore',
    {
      tag: 'dataset',
      summary: 'Brings back a version by writing its records again',
      body: z.object({ version }),
      answer: z.object({
        xact_id: z.string().nullable(),
        rows_restored: z.int(),
        rows_deleted: z.int(),
      }),
    },
  ],
  ['POST /btql', { tag: 'queries', summary: 'Runs a query', body: query, answer: queryAnswer }],
  [
    'POST /btql/stream',
    {
      tag: 'queries',
      summary:
        'Answers a query as server-sent events; as a WebSocket, this path takes several queries',
      body: query.extend(streamFields),
      answer: undefined,
    },
  ],
  [
    'GET /btql/stream',
    {
      tag: 'queries',
      summary: 'The same for an EventSource, with the fields of the query in the URL',
      query: z.object({ query: z.string(), tz_offset: z.number().optional(), ...streamFields }),
      answer: undefined,
    },
  ],
  [
    'POST /btql/explain',
    {
      tag: 'queries',
      summary: 'Shows how a query would run, or with `analyze` how it ran',
      body: query.extend({ analyze: z.boolean().optional() }),
      answer: z.object({ plan: z.string() }),
    },
  ],
  ['GET /v1', { tag: 'service', summary: 'Greets', answer: undefined }],
  [
    'GET /version',
    {
      tag: 'service',
      summary: 'The version of the service',
      answer: z.object({ version: z.string(), logs3_payload_max_bytes: z.int() }),
    },
  ],
  [
    'GET /healthz',
    {
      tag: 'service',
      summary: 'Whether queries would be answered now',
      answer: z.object({ status: z.literal('ok') }),
    },
  ],
])
