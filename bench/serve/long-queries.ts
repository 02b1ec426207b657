/** Queries over the spans of the peers' bench, each of which keeps the workers busy in another way. */
import type { OutputFormat } from '../../src/format/output-format.ts'

export interface LongQuery {
  readonly name: string
  readonly query: string
  readonly fmt: OutputFormat
}

export interface LongQuerySources {
  /** Of the spans. */
  readonly logs: string
  /** Two experiments with the same inputs. */
  readonly compared: readonly [string, string]
}

export function longQueries({ logs, compared }: LongQuerySources): readonly LongQuery[] {
  const spans = `from: project_logs('${logs}')`
  const traces = `${spans} summary`
  const pairs = `from: experiment('${compared[0]}', '${compared[1]}') summary | comparison_key: input`
  const each: readonly (readonly [
    name: string,
    clauses: string,
    source: string,
    fmt?: OutputFormat,
  ])[] = [
    [
      'groups by a text of many values',
      'dimensions: metadata.user_id as u | measures: count(1) as n, sum(metrics.tokens) as t',
      spans,
    ],
    ['groups by id', 'dimensions: id | measures: count(1) as n, avg(metrics.tokens) as t', spans],
    [
      'groups by a text that is made',
      "dimensions: concat(id, 'x') as k | measures: count(1) as n",
      spans,
    ],
    [
      'groups by a number, in order',
      'dimensions: metrics.start as k | measures: count(1) as n | sort: n desc, k',
      spans,
    ],
    [
      'groups of groups',
      'dimensions: n | measures: count(1) as m',
      `from: (dimensions: concat(root_span_id, metadata.model) as k | measures: count(1) as n | ${spans})`,
    ],
    [
      'percentiles by user',
      'dimensions: metadata.user_id as u | measures: percentile(metrics.time_to_first_token, 0.5) as a, percentile(metrics.tokens, 0.95) as b',
      spans,
    ],
    ['sort by a text', 'select: id | sort: id', spans],
    [
      'sort by numbers',
      'select: id, metrics.tokens as t | sort: metrics.tokens desc, created',
      spans,
    ],
    ['different ids', 'measures: count_distinct(id) as n', spans],
    ['different texts', "measures: count_distinct(concat(id, 'x')) as n", spans],
    ['different rows', 'select: distinct metadata.user_id, metadata.session', spans],
    [
      'lists of values',
      'dimensions: metadata.model as m | measures: array_agg(metadata.user_id) as l',
      spans,
    ],
    ['search of all texts', "measures: count(1) as n | filter: search('plait gou')", spans],
    [
      'LIKE',
      "measures: count(1) as n | filter: input ilike '%plait%x' or output ilike '%gou%plait%x'",
      spans,
    ],
    [
      'regular expression',
      "measures: count(1) as n | filter: output ~ '(plait|gou) (stou|s.*x) [0-9]+'",
      spans,
    ],
    ['JSON path', 'dimensions: input.arguments.query as k | measures: count(1) as n', spans],
    [
      'JSON path of a list',
      "measures: count(1) as n | filter: output.hits[0].document like 'kb/1%'",
      spans,
    ],
    ['summary', 'select: root_span_id, metrics.tokens as t | sort: t desc', traces],
    [
      'groups of a summary',
      'dimensions: metadata.user_id as u | measures: count(1) as n, avg(metrics.duration) as d',
      traces,
    ],
    [
      'pivot',
      'dimensions: metadata.user_id as u, metadata.model as m | measures: count(1) as n | pivot: n',
      spans,
    ],
    ['comparison', 'select: comparison_key, score_differences, id', pairs],
    [
      'unpivot',
      'dimensions: k | measures: count(1) as n, avg(v) as a | unpivot: metrics as (k, v)',
      spans,
    ],
    ['unpivot of rows', 'select: id, k, v | unpivot: metrics as (k, v) | sort: v desc', spans],
    ['fields of records', 'infer: *', spans],
    [
      'condition on traces',
      "measures: count(1) as n | filter: any_span(metrics.tokens > 500 and output ilike '%gou%')",
      spans,
    ],
    [
      'sort of a sort',
      'select: id, u | sort: u, id',
      `from: (select: id, metadata.user_id as u | ${spans} | sort: metrics.start | limit: 500000)`,
    ],
    ...(['jsonl', 'csv', 'arrow', 'parquet'] as const).map(
      (fmt) => [`records as ${fmt}`, 'select: *', spans, fmt] as const,
    ),
    [
      'groups as Parquet',
      'dimensions: id, root_span_id | measures: count(1) as n',
      spans,
      'parquet',
    ],
  ]
  return each.map(([name, clauses, source, fmt = 'jsonl']) => {
    return { name, query: `${clauses} | ${source}`, fmt }
  })
}
