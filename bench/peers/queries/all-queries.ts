import type { DataFile } from '../generator/data-file.ts'
import type { Layout } from '../systems/system.ts'
import { aggregateQueries } from './aggregate-queries.ts'
import type { PeerQuery, QueryContext } from './peer-query.ts'
import { rowQueries } from './row-queries.ts'
import {
  clickhouseJson,
  clickhouseTyped,
  duckdbJson,
  duckdbTyped,
  type SqlForm,
} from './sql-form.ts'
import { textQueries } from './text-queries.ts'

const halfRangeMs = 3 * 3_600_000

export function allQueries(data: DataFile): readonly PeerQuery[] {
  const { id, trace, created } = data.middle
  const middle = Date.parse(created)
  const context: QueryContext = {
    id,
    trace,
    from: new Date(middle - halfRangeMs).toISOString(),
    to: new Date(middle + halfRangeMs).toISOString(),
  }
  return [...aggregateQueries(context), ...rowQueries(context), ...textQueries()]
}

const forms: Readonly<Record<Exclude<Layout, 'assay'>, SqlForm>> = {
  duckdb: duckdbTyped,
  'duckdb-json': duckdbJson,
  clickhouse: clickhouseTyped,
  'clickhouse-json': clickhouseJson,
}

/** The text that a system of this layout is asked; for Assay the body of a request. */
export function queryText(query: PeerQuery, layout: Layout, projectId: string): string {
  if (layout !== 'assay') return query.sql(forms[layout])
  const source = `from: project_logs('${projectId}')${query.shape ? ` ${query.shape}` : ''}`
  return JSON.stringify({
    query: `${query.btql}\n${source}`,
    use_columnstore: query.useColumnstore ?? true,
  })
}
