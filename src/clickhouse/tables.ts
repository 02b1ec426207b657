/**
 * The tables, as they are made. `records` is what is read and written: over the shards of a cluster, or a view of the
 * one server's. What is on the nodes themselves is in `records_local`.
 */

/** Counts up with each change of what follows; see `schema.ts`. */
export const schemaVersion = 2

export interface Column {
  readonly name: string
  readonly type: string
  readonly codec?: string
  readonly byDefault?: string
  readonly comment: string
  /** The schema that it came with, where earlier ones have the table without it. */
  readonly since?: number
}

/** Kinds of JSON values, as columns of kinds number them. Rows that were exported before there were such columns have none. */
export const valueKinds = [
  'unknown',
  'null',
  'boolean',
  'number',
  'string',
  'array',
  'object',
] as const
export type ExportedKind = (typeof valueKinds)[number]

const kindType = `Enum8(${valueKinds.map((kind, i) => `'${kind}' = ${i}`).join(', ')})`

/** `by` of versions that are current: greater than every transaction. */
export const notSuperseded = 2n ** 64n - 1n

/** In the order in which `row-encoder.ts` writes them. */
export const recordColumns: readonly Column[] = [
  {
    name: 'object',
    type: 'UInt32',
    comment: 'What holds the record: objects.object',
  },
  {
    name: 'pagination_key',
    type: 'UInt64',
    codec: 'Delta, ZSTD',
    comment:
      'Names the record within its object: the version that was written first. Its upper 32 bits are seconds since 1970',
  },
  {
    name: 'version',
    type: 'UInt64',
    codec: 'Delta, ZSTD',
    comment: 'Names this version of the record: transaction × 65536 + row',
  },
  {
    name: 'transaction',
    type: 'UInt64',
    codec: 'Delta, ZSTD',
    comment: 'The transaction that wrote the version: the lower 48 bits of _xact_id',
  },
  {
    name: 'by',
    type: 'UInt64',
    codec: 'ZSTD',
    byDefault: String(notSuperseded),
    comment:
      'The transaction that wrote the next version; 18446744073709551615 while this one is current',
  },
  { name: 'deleted', type: 'Bool', comment: 'The version is a deletion' },
  {
    name: 'flags',
    type: 'UInt8',
    comment:
      'How the version came to be: 1 deletion, 2 created, 4 span_id, 8 root_span_id made up, 16 merged',
  },
  {
    name: 'previous',
    type: 'UInt64',
    codec: 'ZSTD',
    comment: 'The version of the same id before this one; 0 for none',
  },
  { name: 'id', type: 'String', codec: 'ZSTD', comment: 'id of the record' },
  { name: 'span_id', type: 'String', codec: 'ZSTD', comment: 'span_id of the record' },
  {
    name: 'trace',
    type: 'String',
    codec: 'ZSTD',
    comment: 'root_span_id of the record. All spans of a trace are on one shard',
  },
  { name: 'is_root', type: 'Bool', comment: 'is_root of the record' },
  {
    name: 'created',
    type: "DateTime64(6, 'UTC')",
    codec: 'Delta, ZSTD',
    comment: 'created of the record; of a deletion, when it was deleted',
  },
  { name: 'tags', type: 'Array(LowCardinality(String))', comment: 'tags of the record' },
  {
    name: 'input',
    type: 'Nullable(String)',
    codec: 'ZSTD',
    comment: 'input: a string as it is, anything else as JSON',
  },
  {
    name: 'output',
    type: 'Nullable(String)',
    codec: 'ZSTD',
    comment: 'output: a string as it is, anything else as JSON',
  },
  {
    name: 'expected',
    type: 'Nullable(String)',
    codec: 'ZSTD',
    comment: 'expected: a string as it is, anything else as JSON',
  },
  {
    name: 'doc',
    type: 'JSON(max_dynamic_paths=256)',
    comment:
      'All other fields: scores, metrics, metadata, … Numbers are Float64, arrays their JSON under the name %a, dots in names %2E',
  },
  {
    name: 'residual',
    type: 'Array(LowCardinality(String))',
    comment: 'Paths whose values doc does not have just as they are: look at body',
  },
  {
    name: 'input_words',
    type: 'Array(String)',
    codec: 'ZSTD',
    comment: 'Words of input, folded',
  },
  {
    name: 'output_words',
    type: 'Array(String)',
    codec: 'ZSTD',
    comment: 'Words of output, folded',
  },
  {
    name: 'other_words',
    type: 'Array(String)',
    codec: 'ZSTD',
    comment: 'Words of expected, error, metadata, span_attributes and tags, folded',
  },
  {
    name: 'body',
    type: 'String',
    codec: 'ZSTD(3)',
    comment: 'The record as JSON, as exact as it was written, without what its object tells',
  },
  ...['input', 'output', 'expected', 'tags'].map((name) => ({
    name: `${name}_kind`,
    type: kindType,
    byDefault: "'unknown'",
    since: 2,
    comment: `Kind of ${name}: null, string, array, …; unknown of rows that an older version exported`,
  })),
]

const recordIndexes = [
  'INDEX by_id id TYPE bloom_filter(0.001) GRANULARITY 1',
  'INDEX by_trace trace TYPE bloom_filter(0.001) GRANULARITY 1',
  // Rows whose columns do not have all are found besides, whatever else is looked for: without it, an OR of both reads all rows.
  'INDEX by_residual residual TYPE bloom_filter(0.001) GRANULARITY 1',
  // A range of transactions is compared before its bodies leave the data directory: without it, each reads all rows.
  'INDEX by_transaction transaction TYPE minmax GRANULARITY 1',
  "INDEX input_text input_words TYPE text(tokenizer = 'array')",
  "INDEX output_text output_words TYPE text(tokenizer = 'array')",
  "INDEX other_text other_words TYPE text(tokenizer = 'array')",
]

export const objectColumns: readonly Column[] = [
  { name: 'object', type: 'UInt32', comment: 'Stands for the object in records.object' },
  { name: 'type', type: 'LowCardinality(String)', comment: 'project_logs, experiment, dataset, …' },
  { name: 'id', type: 'String', comment: 'id of the object; of logs, that of the project' },
  { name: 'name', type: 'String', comment: 'Its name' },
  { name: 'project_id', type: 'String', comment: 'id of its project' },
  { name: 'organization_id', type: 'String', comment: 'id of its organization' },
  { name: 'removed', type: 'Bool', comment: 'It was removed, and its records with it' },
  { name: 'at', type: "DateTime64(6, 'UTC')", comment: 'When this was exported' },
]

export const catalogColumns: readonly Column[] = [
  { name: 'key', type: 'String', comment: 'Names an entry of the catalog' },
  {
    name: 'value',
    type: 'String',
    codec: 'ZSTD(3)',
    comment: 'The entry as JSON, without keys, passwords and secrets',
  },
  { name: 'removed', type: 'Bool', comment: 'The entry is no more' },
  { name: 'at', type: "DateTime64(6, 'UTC')", comment: 'When this was exported' },
]

export const serviceColumns: readonly Column[] = [
  { name: 'name', type: 'LowCardinality(String)', comment: 'claim, session, exported or schema' },
  { name: 'service', type: 'String', comment: 'Which service says so' },
  { name: 'value', type: 'String', comment: 'What it says' },
  { name: 'at', type: "DateTime64(6, 'UTC')", comment: 'When' },
]

export const arrivedColumns: readonly Column[] = [
  { name: 'round', type: 'String', comment: 'Which of the exports of all records this is about' },
  { name: 'through', type: 'UInt64', comment: 'The replica has all transactions up to this one' },
  { name: 'at', type: "DateTime64(6, 'UTC')", comment: 'When this was noted' },
]

/** A table of the nodes themselves. */
export interface LocalTable {
  readonly name: string
  readonly columns: readonly Column[]
  readonly indexes: readonly string[]
  /** Its engine without what comes before `MergeTree`. */
  readonly engine: 'MergeTree' | 'ReplacingMergeTree'
  /** Whether each node has its own, also where Keeper replicates the others. */
  readonly isOfNode?: boolean
  /** What comes after the engine's name. */
  readonly order: string
  readonly settings: readonly string[]
  /** Settings of tables that no Keeper replicates, and of those that one does. */
  readonly deduplication: { readonly plain: string; readonly replicated: string } | undefined
}

const windowOfInserts = 10_000
const thirtyDays = 30 * 24 * 3600

export const localTables: readonly LocalTable[] = [
  {
    name: 'records_local',
    columns: recordColumns,
    indexes: recordIndexes,
    engine: 'MergeTree',
    order:
      "PARTITION BY toYYYYMM(toDateTime(intDiv(pagination_key, 4294967296), 'UTC')) ORDER BY (object, pagination_key, version)",
    settings: [
      // Lightweight updates need both.
      'enable_block_number_column = 1',
      'enable_block_offset_column = 1',
      // A wide part has files for each path: 1,900 of generated spans, and merges open those of all that they read.
      `min_bytes_for_wide_part = ${2 ** 30}`,
    ],
    deduplication: {
      plain: `non_replicated_deduplication_window = ${windowOfInserts}`,
      replicated: `replicated_deduplication_window = ${windowOfInserts}, replicated_deduplication_window_seconds = ${thirtyDays}`,
    },
  },
  {
    name: 'objects',
    columns: objectColumns,
    indexes: [],
    engine: 'ReplacingMergeTree',
    order: 'ORDER BY object',
    settings: [],
    deduplication: undefined,
  },
  {
    name: 'catalog',
    columns: catalogColumns,
    indexes: [],
    engine: 'ReplacingMergeTree',
    order: 'ORDER BY key',
    settings: [],
    deduplication: undefined,
  },
  {
    name: 'service',
    columns: serviceColumns,
    indexes: [],
    engine: 'ReplacingMergeTree',
    order: 'ORDER BY (name, service)',
    settings: [],
    deduplication: undefined,
  },
  {
    name: 'arrived',
    columns: arrivedColumns,
    indexes: [],
    engine: 'ReplacingMergeTree',
    isOfNode: true,
    order: 'ORDER BY tuple()',
    settings: [],
    deduplication: undefined,
  },
]

/** All spans of a trace go to one shard. */
const shardingKey = 'sipHash64(object, trace)'

/** @param hasKeeper which replicates tables */
export function createLocalTable(database: string, table: LocalTable, hasKeeper: boolean): string {
  const { name, columns, indexes, engine, order, deduplication } = table
  const isReplicated = hasKeeper && !table.isOfNode
  const version = engine === 'ReplacingMergeTree' ? ['at'] : []
  const place = [`'/clickhouse/tables/{shard}/${database}/${name}'`, "'{replica}'"]
  const full = isReplicated
    ? `Replicated${engine}(${[...place, ...version].join(', ')})`
    : `${engine}(${version.join(', ')})`
  const window = deduplication?.[isReplicated ? 'replicated' : 'plain']
  const settings = [...table.settings, ...(window === undefined ? [] : [window])]
  const parts = [...columns.map(columnText), ...indexes]
  return (
    `CREATE TABLE IF NOT EXISTS ${database}.${name} (${parts.join(', ')}) ENGINE = ${full} ${order}` +
    (settings.length === 0 ? '' : ` SETTINGS ${settings.join(', ')}`)
  )
}

/** Gives a table of an earlier schema the columns that came after it. */
export function addColumns(database: string, table: string, columns: readonly Column[]): string {
  const added = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${columnText(column)}`)
  return `ALTER TABLE ${database}.${table} ${added.join(', ')}`
}

/** What is over the shards; of one server, a view of its table. */
export function createRecords(database: string, cluster: string | undefined): string {
  if (cluster === undefined) {
    return `CREATE VIEW IF NOT EXISTS ${database}.records AS SELECT * FROM ${database}.records_local`
  }
  const columns = recordColumns.map(columnText).join(', ')
  const engine = `Distributed(${cluster}, ${database}, records_local, ${shardingKey})`
  return `CREATE TABLE IF NOT EXISTS ${database}.records (${columns}) ENGINE = ${engine}`
}

/** What is read of other tables, by its name. */
export const views: ReadonlyMap<string, (database: string) => string> = new Map([
  [
    'current_records',
    (database) => `WITH (SELECT argMax(toUInt64OrZero(value), at) FROM ${database}.service
        WHERE name = 'exported') AS exported
      SELECT * FROM ${database}.records
      WHERE transaction <= exported AND by > exported AND NOT deleted`,
  ],
  [
    'trace_summaries',
    (database) => `SELECT object, trace,
        argMin(id, (NOT is_root, pagination_key)) AS root_id,
        argMin(doc.span_attributes.name.:String, (NOT is_root, pagination_key)) AS name,
        min(created) AS first_created,
        count() AS spans,
        countIf(isNotNull(doc.error) OR notEmpty(JSONAllPaths(doc.^error))) AS errors,
        max(doc.metrics.end.:Float64) - min(doc.metrics.start.:Float64) AS seconds,
        sum(doc.metrics.tokens.:Float64) AS tokens
      FROM ${database}.current_records GROUP BY object, trace`,
  ],
])

export function createView(database: string, name: string, select: string): string {
  return `CREATE VIEW IF NOT EXISTS ${database}.${name} AS ${select}`
}

/** A view has the columns that its tables had when it was made. */
export function dropView(database: string, name: string): string {
  return `DROP VIEW IF EXISTS ${database}.${name}`
}

function columnText({ name, type, codec, byDefault, comment }: Column): string {
  return [
    `\`${name}\``,
    type,
    byDefault && `DEFAULT ${byDefault}`,
    `COMMENT '${comment}'`,
    codec && `CODEC(${codec})`,
  ]
    .filter((part) => part)
    .join(' ')
}
