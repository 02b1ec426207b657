/** The generated spans as a table of DuckDB: typed columns for what is asked, JSON text for the rest. */
import { DuckDBDataChunk, DuckDBTimestampValue, type DuckDBValue } from '@duckdb/node-api'
import type { SpanRecord } from '../../src/demo/record.ts'
import type { DuckDB } from '../../test/support/duckdb.ts'

interface Column {
  readonly name: string
  readonly type: string
  readonly value: (span: SpanRecord, body: string) => DuckDBValue
}

const columns: readonly Column[] = [
  { name: 'id', type: 'VARCHAR', value: (span) => span.id },
  { name: 'root_span_id', type: 'VARCHAR', value: (span) => span.root_span_id },
  { name: 'is_root', type: 'BOOLEAN', value: (span) => span.span_parents === null },
  { name: 'created', type: 'TIMESTAMP', value: (span) => timestamp(span.created) },
  { name: 'type', type: 'VARCHAR', value: (span) => span.span_attributes.type },
  { name: 'name', type: 'VARCHAR', value: (span) => span.span_attributes.name },
  { name: 'model', type: 'VARCHAR', value: (span) => text(span.metadata.model) },
  { name: 'user_id', type: 'VARCHAR', value: (span) => text(span.metadata.user_id) },
  { name: 'environment', type: 'VARCHAR', value: (span) => text(span.metadata.environment) },
  { name: 'started', type: 'DOUBLE', value: (span) => span.metrics.start ?? null },
  { name: 'finished', type: 'DOUBLE', value: (span) => span.metrics.end ?? null },
  { name: 'first_token', type: 'DOUBLE', value: metric('time_to_first_token') },
  { name: 'tokens', type: 'INTEGER', value: metric('tokens') },
  { name: 'prompt_tokens', type: 'INTEGER', value: metric('prompt_tokens') },
  { name: 'completion_tokens', type: 'INTEGER', value: metric('completion_tokens') },
  { name: 'output', type: 'VARCHAR', value: (span) => text(span.output) },
  { name: 'body', type: 'VARCHAR', value: (_, body) => body },
]

/** The most rows that a chunk of DuckDB holds. */
const chunkRows = 2048

export async function createTable(duckdb: DuckDB): Promise<void> {
  const definitions = columns.map(({ name, type }) => `${name} ${type}`)
  await duckdb.run(`create table spans (${definitions.join(', ')})`)
}

/** Appends spans, whose texts as JSON are given beside them. */
export async function appendSpans(
  duckdb: DuckDB,
  spans: readonly SpanRecord[],
  bodies: readonly string[],
): Promise<void> {
  const appender = await duckdb.appender('spans')
  const types = columns.map((_, i) => appender.columnType(i))
  for (let from = 0; from < spans.length; from += chunkRows) {
    const to = Math.min(from + chunkRows, spans.length)
    const chunk = DuckDBDataChunk.create(types, to - from)
    for (const [at, { value }] of columns.entries()) {
      const values: DuckDBValue[] = []
      for (let row = from; row < to; row++) values.push(value(spans[row]!, bodies[row]!))
      chunk.setColumnValues(at, values)
    }
    appender.appendDataChunk(chunk)
  }
  appender.closeSync()
}

function metric(name: string): Column['value'] {
  return (span) => span.metrics[name] ?? null
}

/** Strings alone; what is nested stays in the body. */
function text(value: unknown): DuckDBValue {
  return typeof value === 'string' ? value : null
}

function timestamp(iso: string): DuckDBTimestampValue {
  return new DuckDBTimestampValue(BigInt(Date.parse(iso)) * 1000n)
}
