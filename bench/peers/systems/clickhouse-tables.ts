/** The tables of ClickHouse: one as an expert would lay it out, one with a column of JSON. */
import type { DataFile } from '../generator/data-file.ts'

/** The structure that rows are parsed into, each once. */
const structure = `Tuple(
  id String, span_id String, root_span_id String, span_parents Array(String), created String,
  span_attributes Tuple(name String, type String),
  metadata Tuple(user_id String, model Nullable(String), environment String, release String,
    session UInt32, customer Tuple(country String, plan String, tier UInt8),
    params Tuple(temperature Nullable(Float64), max_tokens Nullable(UInt32))),
  metrics Tuple(start Float64, end Float64, tokens Nullable(UInt32),
    prompt_tokens Nullable(UInt32), completion_tokens Nullable(UInt32),
    time_to_first_token Nullable(Float64), estimated_cost Nullable(Float64)),
  scores Tuple(Factuality Nullable(Float64), Relevance Nullable(Float64),
    Conciseness Nullable(Float64)),
  tags Array(String))`

const columns: readonly (readonly [name: string, type: string, value: string])[] = [
  // A UUID would be shorter, and sort in an order of its own.
  ['id', 'String', 's.id'],
  ['span_id', 'String', 's.span_id'],
  ['root_span_id', 'String', 's.root_span_id'],
  ['is_root', 'Bool', 'empty(s.span_parents)'],
  [
    'created',
    `DateTime64(3, 'UTC') CODEC(Delta, ZSTD)`,
    `parseDateTime64BestEffort(s.created, 3, 'UTC')`,
  ],
  ['type', 'LowCardinality(String)', 's.span_attributes.type'],
  ['name', 'LowCardinality(String)', 's.span_attributes.name'],
  ['model', 'LowCardinality(Nullable(String))', 's.metadata.model'],
  ['environment', 'LowCardinality(String)', 's.metadata.environment'],
  ['release', 'LowCardinality(String)', 's.metadata.release'],
  ['country', 'LowCardinality(String)', 's.metadata.customer.country'],
  ['plan', 'LowCardinality(String)', 's.metadata.customer.plan'],
  ['tier', 'UInt8', 's.metadata.customer.tier'],
  ['user_id', 'String', 's.metadata.user_id'],
  ['session', 'UInt32', 's.metadata.session'],
  ['temperature', 'Nullable(Float64)', 's.metadata.params.temperature'],
  ['max_tokens', 'Nullable(UInt32)', 's.metadata.params.max_tokens'],
  ['started', 'Float64', 's.metrics.start'],
  ['finished', 'Float64', 's.metrics.end'],
  ['first_token', 'Nullable(Float64)', 's.metrics.time_to_first_token'],
  ['tokens', 'Nullable(UInt32)', 's.metrics.tokens'],
  ['prompt_tokens', 'Nullable(UInt32)', 's.metrics.prompt_tokens'],
  ['completion_tokens', 'Nullable(UInt32)', 's.metrics.completion_tokens'],
  ['cost', 'Nullable(Float64)', 's.metrics.estimated_cost'],
  ['factuality', 'Nullable(Float64)', 's.scores.Factuality'],
  ['relevance', 'Nullable(Float64)', 's.scores.Relevance'],
  ['conciseness', 'Nullable(Float64)', 's.scores.Conciseness'],
  ['input', 'String', unescaped(`JSONExtractRaw(line, 'input')`)],
  [
    'output',
    'String',
    `if(JSONType(line, 'output') = 'String', JSONExtractString(line, 'output'),
       if(JSONType(line, 'output') = 'Object', ${unescaped(`JSONExtractRaw(line, 'output')`)}, ''))`,
  ],
  [
    'error',
    'Nullable(String)',
    `if(JSONHas(line, 'error'), if(JSONType(line, 'error') = 'String',
       JSONExtractString(line, 'error'), JSONExtractRaw(line, 'error')), null)`,
  ],
  ['tags', 'Array(LowCardinality(String))', 's.tags'],
  [
    'priority_number',
    'Nullable(Float64)',
    `if(JSONType(line, 'metadata', 'priority') in ('Int64', 'UInt64'),
       JSONExtractFloat(line, 'metadata', 'priority'), null)`,
  ],
  [
    'priority_text',
    'Nullable(String)',
    `if(JSONType(line, 'metadata', 'priority') = 'String',
       JSONExtractString(line, 'metadata', 'priority'), null)`,
  ],
  ['priority', 'String', `JSONExtractRaw(line, 'metadata', 'priority')`],
  ['metadata', 'String', `JSONExtractRaw(line, 'metadata')`],
  ['body', 'String CODEC(ZSTD(1))', 'line'],
]

/**
 * JSON with what its escapes stand for, in which words after a line break are words. The generator writes
 * no other escapes than these two.
 */
function unescaped(json: string): string {
  return `replaceAll(replaceAll(${json}, '\\\\n', '\\n'), '\\\\"', '"')`
}

/** Terms for whole words, and n-grams for parts of words: three characters make a word of Han. */
const indexes = [
  'INDEX by_id id TYPE bloom_filter(0.001) GRANULARITY 1',
  'INDEX by_trace root_span_id TYPE bloom_filter(0.001) GRANULARITY 1',
  'INDEX output_terms lower(output) TYPE text(tokenizer = splitByNonAlpha)',
  'INDEX input_terms lower(input) TYPE text(tokenizer = splitByNonAlpha)',
  'INDEX output_parts lower(output) TYPE ngrambf_v1(3, 65536, 3, 0) GRANULARITY 1',
]

function typedTable({ path }: DataFile): readonly string[] {
  const definitions = columns.map(([name, type]) => `${name} ${type}`)
  return [
    'DROP TABLE IF EXISTS spans_typed SYNC',
    `CREATE TABLE spans_typed (${[...definitions, ...indexes].join(',\n  ')})
     ENGINE = MergeTree ORDER BY created`,
    `INSERT INTO spans_typed SELECT ${columns.map(([, , value]) => value).join(',\n  ')}
     FROM (SELECT line, JSONExtract(line, '${structure}') AS s
       FROM file('${path}', 'LineAsString', 'line String'))`,
    'OPTIMIZE TABLE spans_typed FINAL',
  ]
}

/**
 * What keeps a load of 10 M rows from having more than 20,000 files open, as many as a process may have on many machines:
 * fewer paths with files of their own than the usual 1,024, and no merges, which open those of all parts.
 */
const fewFiles = { type: 'JSON(max_dynamic_paths = 256)', mergedBytes: 1 }

function jsonTable({ path }: DataFile): readonly string[] {
  const { type, mergedBytes } = fewFiles
  return [
    'DROP TABLE IF EXISTS spans_json SYNC',
    `CREATE TABLE spans_json (body ${type}) ENGINE = MergeTree ORDER BY tuple()
     SETTINGS max_bytes_to_merge_at_max_space_in_pool = ${mergedBytes},
       max_bytes_to_merge_at_min_space_in_pool = ${mergedBytes}`,
    `INSERT INTO spans_json SELECT json FROM file('${path}', 'JSONAsObject', 'json ${type}')`,
  ]
}

/** The statements that make and fill each table. */
export const clickhouseTables = { clickhouse: typedTable, 'clickhouse-json': jsonTable } as const
