/** The tables of DuckDB: one as an expert would lay it out, one with a column of JSON. */
import type { DataFile } from '../generator/data-file.ts'

/** Paths whose few values are known, as enumerations: they are grouped by faster than texts. */
const enumerations: Readonly<Record<string, string>> = {
  type: 'span_attributes.type',
  name: 'span_attributes.name',
  model: 'metadata.model',
  environment: 'metadata.environment',
  release: 'metadata.release',
  country: 'metadata.customer.country',
  plan: 'metadata.customer.plan',
}

/** The structure that rows are parsed into, each once. */
const structure = JSON.stringify({
  id: 'VARCHAR',
  span_id: 'VARCHAR',
  root_span_id: 'VARCHAR',
  span_parents: ['VARCHAR'],
  created: 'TIMESTAMP',
  span_attributes: { name: 'VARCHAR', type: 'VARCHAR' },
  input: 'JSON',
  output: 'JSON',
  error: 'JSON',
  tags: ['VARCHAR'],
  metadata: 'JSON',
  metrics: {
    start: 'DOUBLE',
    end: 'DOUBLE',
    tokens: 'INTEGER',
    prompt_tokens: 'INTEGER',
    completion_tokens: 'INTEGER',
    time_to_first_token: 'DOUBLE',
    estimated_cost: 'DOUBLE',
  },
  scores: { Factuality: 'DOUBLE', Relevance: 'DOUBLE', Conciseness: 'DOUBLE' },
})

const metadataStructure = JSON.stringify({
  user_id: 'VARCHAR',
  model: 'VARCHAR',
  environment: 'VARCHAR',
  release: 'VARCHAR',
  session: 'INTEGER',
  customer: { country: 'VARCHAR', plan: 'VARCHAR', tier: 'INTEGER' },
  params: { temperature: 'DOUBLE', max_tokens: 'INTEGER' },
  priority: 'JSON',
})

/** Rows that have all values of the enumerations. */
const sampleRows = 100_000

function source({ path }: DataFile): string {
  return `read_ndjson_objects('${path}', maximum_object_size = 16777216)`
}

/**
 * JSON with what its escapes stand for, in which words after a line break are words. The generator writes
 * no other escapes than these two.
 */
function unescaped(json: string): string {
  return `replace(replace(${json}, '\\n', chr(10)), '\\"', '"')`
}

function typedTable(data: DataFile): readonly string[] {
  const sample = `(select json from ${source(data)} limit ${sampleRows})`
  const types = Object.entries(enumerations).map(
    ([name, path]) =>
      `create type typed.${name}_value as enum (
         select distinct json->>'$.${path}' as v from ${sample}
         where v is not null order by v)`,
  )
  return [
    ...types,
    `create table typed.spans as
     select s.id, s.span_id, s.root_span_id, s.span_parents is null as is_root, s.created,
       s.span_attributes.type::typed.type_value as type,
       s.span_attributes.name::typed.name_value as name,
       m.model::typed.model_value as model,
       m.environment::typed.environment_value as environment,
       m.release::typed.release_value as release,
       m.customer.country::typed.country_value as country,
       m.customer.plan::typed.plan_value as plan, m.customer.tier as tier,
       m.user_id as user_id, m.session as session,
       m.params.temperature as temperature, m.params.max_tokens as max_tokens,
       s.metrics.start as started, s.metrics."end" as finished,
       s.metrics.time_to_first_token as first_token, s.metrics.tokens as tokens,
       s.metrics.prompt_tokens as prompt_tokens,
       s.metrics.completion_tokens as completion_tokens, s.metrics.estimated_cost as cost,
       s.scores.Factuality as factuality, s.scores.Relevance as relevance,
       s.scores.Conciseness as conciseness,
       ${unescaped('s.input::varchar')} as input,
       case json_type(s.output) when 'OBJECT' then ${unescaped('s.output::varchar')}
         else s.output->>'$' end as output,
       s.error->>'$' as error, s.tags as tags,
       case when json_type(m.priority) = 'UBIGINT' then m.priority::double end as priority_number,
       case when json_type(m.priority) = 'VARCHAR' then m.priority->>'$' end as priority_text,
       m.priority as priority, s.metadata as metadata, json::varchar as body
     from (
       select json, s, json_transform(s.metadata, '${metadataStructure}') as m from (
         select json, json_transform(json, '${structure}') as s from ${source(data)}))`,
    'create index typed_spans_id on typed.spans (id)',
    'create index typed_spans_trace on typed.spans (root_span_id)',
    'checkpoint typed',
  ]
}

function jsonTable(data: DataFile): readonly string[] {
  return [`create table json.spans as select json as body from ${source(data)}`, 'checkpoint json']
}

/** The statements that make and fill each table. */
export const duckdbTables = { duckdb: typedTable, 'duckdb-json': jsonTable } as const
