/** How a field or a function is written for one engine and layout, so that a query is written once. */

export interface Fields {
  readonly id: string
  readonly trace: string
  readonly isRoot: string
  readonly created: string
  readonly type: string
  readonly name: string
  readonly model: string
  readonly environment: string
  readonly release: string
  readonly country: string
  readonly plan: string
  readonly tier: string
  readonly user: string
  readonly temperature: string
  readonly started: string
  readonly finished: string
  readonly firstToken: string
  readonly tokens: string
  readonly promptTokens: string
  readonly completionTokens: string
  readonly cost: string
  readonly factuality: string
  readonly relevance: string
  readonly output: string
  readonly error: string
  readonly tags: string
  /** The values of `metadata.priority` that are numbers; that are texts. */
  readonly priorityNumber: string
  readonly priorityText: string
  readonly priorityLevel: string
  readonly body: string
}

export interface SqlForm extends Fields {
  readonly engine: 'duckdb' | 'clickhouse'
  readonly table: string
  /** A point in time, given in ISO 8601. */
  readonly time: (iso: string) => string
  /** @param tzOffset minutes that the person's clock is behind UTC */
  readonly day: (time: string, tzOffset: number) => string
  readonly hour: (time: string) => string
  /** A time as milliseconds since 1970. */
  readonly ms: (time: string) => string
  readonly percentile: (value: string, p: number) => string
  readonly distinct: (value: string) => string
  readonly countIf: (condition: string) => string
  readonly anyIf: (value: string, condition: string) => string
  readonly hasTag: (tag: string) => string
  /** A path within metadata that one row out of some ten thousand has. */
  readonly flagOf: (name: string) => string
  /** A row for each tag. */
  readonly eachTag: string
  /** Whether the output has a part, in any case; the part is given in lower case. */
  readonly outputContains: (part: string) => string
  /** Whether the output has all words, in any case. */
  readonly outputHas: (words: readonly string[]) => string
  /** Whether input or output have a word that is no part of others. */
  readonly textHas: (word: string) => string
  /** Whether the output is an object one of whose hits is of the document. */
  readonly hitOf: (document: string) => string
}

function sqlTime(iso: string): string {
  return iso.replace('T', ' ').replace('Z', '')
}

const duckdbFunctions = {
  engine: 'duckdb',
  time: (iso: string) => `timestamp '${sqlTime(iso)}'`,
  day: (time: string, tzOffset: number) => {
    if (tzOffset === 0) return `date_trunc('day', ${time})`
    const behind = `interval '${tzOffset} minutes'`
    return `(date_trunc('day', ${time} - ${behind}) + ${behind})`
  },
  hour: (time: string) => `date_trunc('hour', ${time})`,
  ms: (time: string) => `epoch_ms(${time})`,
  percentile: (value: string, p: number) => `quantile_cont(${value}, ${p})`,
  distinct: (value: string) => `count(distinct ${value})`,
  countIf: (condition: string) => `count(*) filter (${condition})`,
  anyIf: (value: string, condition: string) => `any_value(${value}) filter (${condition})`,
} as const

/** Several times as fast as ILIKE, or as lower() and LIKE. */
function duckdbMatches(text: string, pattern: string): string {
  return `regexp_matches(${text}, '(?i)${pattern}')`
}

function duckdbWords(text: string, words: readonly string[]): string {
  return words.map((word) => duckdbMatches(text, `\\b${word}\\b`)).join(' and ')
}

export const duckdbTyped: SqlForm = {
  ...duckdbFunctions,
  table: 'typed.spans',
  id: 'id',
  trace: 'root_span_id',
  isRoot: 'is_root',
  created: 'created',
  type: 'type',
  name: 'name',
  model: 'model',
  environment: 'environment',
  release: 'release',
  country: 'country',
  plan: 'plan',
  tier: 'tier',
  user: 'user_id',
  temperature: 'temperature',
  started: 'started',
  finished: 'finished',
  firstToken: 'first_token',
  tokens: 'tokens',
  promptTokens: 'prompt_tokens',
  completionTokens: 'completion_tokens',
  cost: 'cost',
  factuality: 'factuality',
  relevance: 'relevance',
  output: 'output',
  error: 'error',
  tags: 'tags',
  priorityNumber: 'priority_number',
  priorityText: 'priority_text',
  priorityLevel: `(priority->>'$.level')::integer`,
  body: 'body',
  hasTag: (tag) => `list_contains(tags, '${tag}')`,
  flagOf: (name) => `(metadata->>'$.${name}')::boolean`,
  eachTag: 'select unnest(tags) as tag from typed.spans',
  outputContains: (part) => duckdbMatches('output', part),
  outputHas: (words) => duckdbWords('output', words),
  textHas: (word) => `(${duckdbMatches('output', word)} or ${duckdbMatches('input', word)})`,
  hitOf: (document) =>
    `contains(output, '"${document}"')
       and json_contains(json_extract(body, '$.output.hits'), '{"document":"${document}"}')`,
}

const text = (path: string) => `(body->>'$.${path}')`
const number = (path: string) => `(body->>'$.${path}')::double`
const duckdbTags = `(body->'$.tags')::varchar[]`

export const duckdbJson: SqlForm = {
  ...duckdbFunctions,
  table: 'json.spans',
  id: text('id'),
  trace: text('root_span_id'),
  isRoot: `${text('span_parents')} is null`,
  created: `${text('created')}::timestamp`,
  type: text('span_attributes.type'),
  name: text('span_attributes.name'),
  model: text('metadata.model'),
  environment: text('metadata.environment'),
  release: text('metadata.release'),
  country: text('metadata.customer.country'),
  plan: text('metadata.customer.plan'),
  tier: `${text('metadata.customer.tier')}::integer`,
  user: text('metadata.user_id'),
  temperature: number('metadata.params.temperature'),
  started: number('metrics.start'),
  finished: number('metrics.end'),
  firstToken: number('metrics.time_to_first_token'),
  tokens: number('metrics.tokens'),
  promptTokens: number('metrics.prompt_tokens'),
  completionTokens: number('metrics.completion_tokens'),
  cost: number('metrics.estimated_cost'),
  factuality: number('scores.Factuality'),
  relevance: number('scores.Relevance'),
  output: text('output'),
  error: text('error'),
  tags: duckdbTags,
  priorityNumber: `case when json_type(body, '$.metadata.priority') = 'UBIGINT'
      then ${number('metadata.priority')} end`,
  priorityText: `case when json_type(body, '$.metadata.priority') = 'VARCHAR'
      then ${text('metadata.priority')} end`,
  priorityLevel: `${text('metadata.priority.level')}::integer`,
  body: 'body',
  hasTag: (tag) => `list_contains(${duckdbTags}, '${tag}')`,
  flagOf: (name) => `${text(`metadata.${name}`)}::boolean`,
  eachTag: `select unnest(${duckdbTags}) as tag from json.spans`,
  outputContains: (part) => `${text('output')} ilike '%${part}%'`,
  outputHas: (words) => duckdbWords(text('output'), words),
  textHas: (word) => `body::varchar ilike '%${word}%'`,
  hitOf: (document) =>
    `json_contains(json_extract(body, '$.output.hits'), '{"document":"${document}"}')`,
}

const clickhouseFunctions = {
  engine: 'clickhouse',
  time: (iso: string) => `toDateTime64('${sqlTime(iso)}', 3, 'UTC')`,
  day: (time: string, tzOffset: number) => {
    if (tzOffset === 0) return `toStartOfDay(${time})`
    const behind = `toIntervalMinute(${tzOffset})`
    return `(toStartOfDay(${time} - ${behind}) + ${behind})`
  },
  hour: (time: string) => `toStartOfHour(${time})`,
  ms: (time: string) => `toUnixTimestamp64Milli(toDateTime64(${time}, 3, 'UTC'))`,
  percentile: (value: string, p: number) => `quantileExactInclusiveOrNull(${p})(${value})`,
  distinct: (value: string) => `uniqExact(${value})`,
  countIf: (condition: string) => `countIf(${condition})`,
  anyIf: (value: string, condition: string) => `anyIf(${value}, ${condition})`,
} as const

export const clickhouseTyped: SqlForm = {
  ...duckdbTyped,
  ...clickhouseFunctions,
  table: 'spans_typed',
  priorityLevel: `JSONExtract(priority, 'level', 'Nullable(Int64)')`,
  hasTag: (tag) => `has(tags, '${tag}')`,
  flagOf: (name) => `JSONExtract(metadata, '${name}', 'Nullable(Bool)')`,
  eachTag: 'select arrayJoin(tags) as tag from spans_typed',
  // Of this form, and not of ILIKE, the indexes over lower(output) know something.
  outputContains: (part) => `lower(output) like '%${part}%'`,
  outputHas: (words) => `hasAllTokens(lower(output), ['${words.join("', '")}'])`,
  textHas: (word) =>
    `(hasAllTokens(lower(output), ['${word}']) or hasAllTokens(lower(input), ['${word}']))`,
  hitOf: (document) =>
    `output like '%"${document}"%' and arrayExists(
       hit -> JSONExtractString(hit, 'document') = '${document}',
       JSONExtractArrayRaw(body, 'output', 'hits'))`,
}

const dynamic = (path: string, type: string) => `body.${path}::Nullable(${type})`
const clickhouseOutput =
  'if(isNotNull(body.output), toString(body.output), toJSONString(body.^output))'
const clickhouseTags = 'body.tags.:`Array(Nullable(String))`'

export const clickhouseJson: SqlForm = {
  ...clickhouseFunctions,
  table: 'spans_json',
  id: 'body.id.:String',
  trace: 'body.root_span_id.:String',
  isRoot: 'empty(body.span_parents.:`Array(Nullable(String))`)',
  created: `body.created::DateTime64(3, 'UTC')`,
  type: 'body.span_attributes.type.:String',
  name: 'body.span_attributes.name.:String',
  model: 'body.metadata.model.:String',
  environment: 'body.metadata.environment.:String',
  release: 'body.metadata.release.:String',
  country: 'body.metadata.customer.country.:String',
  plan: 'body.metadata.customer.plan.:String',
  tier: dynamic('metadata.customer.tier', 'Int64'),
  user: 'body.metadata.user_id.:String',
  temperature: dynamic('metadata.params.temperature', 'Float64'),
  started: dynamic('metrics.start', 'Float64'),
  finished: dynamic('metrics.end', 'Float64'),
  firstToken: dynamic('metrics.time_to_first_token', 'Float64'),
  tokens: dynamic('metrics.tokens', 'Int64'),
  promptTokens: dynamic('metrics.prompt_tokens', 'Int64'),
  completionTokens: dynamic('metrics.completion_tokens', 'Int64'),
  cost: dynamic('metrics.estimated_cost', 'Float64'),
  factuality: dynamic('scores.Factuality', 'Float64'),
  relevance: dynamic('scores.Relevance', 'Float64'),
  output: clickhouseOutput,
  error: `if(isNotNull(body.error), toString(body.error),
      if(isNotNull(body.error.type), toJSONString(body.^error), null))`,
  tags: clickhouseTags,
  priorityNumber: 'body.metadata.priority.:Int64',
  priorityText: 'body.metadata.priority.:String',
  priorityLevel: dynamic('metadata.priority.level', 'Int64'),
  body: 'body',
  hasTag: (tag) => `has(${clickhouseTags}, '${tag}')`,
  flagOf: (name) => dynamic(`metadata.${name}`, 'Bool'),
  eachTag: `select arrayJoin(${clickhouseTags}) as tag from spans_json`,
  outputContains: (part) => `${clickhouseOutput} ilike '%${part}%'`,
  outputHas: (words) => `hasAllTokens(lower(${clickhouseOutput}), ['${words.join("', '")}'])`,
  textHas: (word) => `toJSONString(body) ilike '%${word}%'`,
  hitOf: (document) => `arrayExists(
       hit -> hit.document.:String = '${document}', body.output.hits.:\`Array(JSON)\`)`,
}
