/** The measured queries, each in our language and in SQL over the table of `duckdb-table.ts`. */

export interface QueryBenchmark {
  readonly name: string
  /** What follows `from: …`. */
  readonly query: string
  /** What rows of the source are; `spans` unless said otherwise. */
  readonly shape?: 'summary'
  readonly sql: string
  /** True unless said otherwise: scans of the columns are what is measured. */
  readonly useColumnstore?: boolean
  /**
   * What of a row is compared. A limit may cut through equal values, and then which of them are
   * returned is nobody's promise.
   */
  readonly compared?: readonly string[]
}

/** `knownId` is the id of some row in the middle of the data. */
export function queryBenchmarks(knownId: string): readonly QueryBenchmark[] {
  return [
    {
      name: 'count',
      query: 'measures: count(1) as n',
      sql: 'select count(*) as n from spans',
    },
    {
      name: 'count, filter on string and double',
      query: `measures: count(1) as n
filter: metadata.model = 'gpt-4o' and metrics.time_to_first_token > 0.5`,
      sql: `select count(*) as n from spans where model = 'gpt-4o' and first_token > 0.5`,
    },
    {
      name: 'average of a double',
      query: 'measures: avg(metrics.time_to_first_token) as mean',
      sql: 'select avg(first_token) as mean from spans',
    },
    {
      name: 'group by 8 models, 4 aggregates',
      query: `dimensions: metadata.model as model
measures: count(1) as n, avg(metrics.time_to_first_token) as mean, sum(metrics.tokens) as tokens,
  max(metrics.completion_tokens) as longest
sort: model`,
      sql: `select model, count(*) as n, avg(first_token) as mean, sum(tokens) as tokens,
          max(completion_tokens) as longest
        from spans group by model order by model nulls last`,
    },
    {
      name: 'group by day',
      query: `dimensions: day(created) as day
measures: count(1) as n, sum(metrics.tokens) as tokens
sort: day`,
      sql: `select iso(date_trunc('day', created)) as day, count(*) as n, sum(tokens) as tokens
        from spans group by date_trunc('day', created) order by day`,
    },
    {
      name: 'group by model and environment, filter on time',
      query: `dimensions: metadata.model as model, metadata.environment as environment
measures: count(1) as n, avg(metrics.end - metrics.start) as seconds
filter: created >= '2026-01-02T00:00:00Z' and created < '2026-01-04T12:00:00Z'
sort: model, environment`,
      sql: `select model, environment, count(*) as n, avg(finished - started) as seconds
        from spans
        where created >= '2026-01-02 00:00:00' and created < '2026-01-04 12:00:00'
        group by model, environment order by model nulls last, environment`,
    },
    {
      name: 'top 100 by a double',
      query: `select: id, metrics.time_to_first_token as first_token
sort: first_token desc
limit: 100`,
      sql: `select id, first_token from spans order by first_token desc nulls last limit 100`,
      compared: ['first_token'],
    },
    {
      name: 'group by 200 k users, top 10',
      query: `dimensions: metadata.user_id as user
measures: count(1) as n, sum(metrics.tokens) as tokens
sort: n desc, user
limit: 10`,
      sql: `select user_id as user, count(*) as n, sum(tokens) as tokens
        from spans group by user_id order by n desc, user limit 10`,
    },
    {
      name: 'count distinct users',
      query: 'measures: count_distinct(metadata.user_id) as users',
      sql: 'select count(distinct user_id) as users from spans',
    },
    {
      name: 'percentile of a double by model',
      query: `dimensions: metadata.model as model
measures: percentile(metrics.time_to_first_token, 0.95) as p95
sort: model`,
      sql: `select model, quantile_cont(first_token, 0.95) as p95
        from spans group by model order by model nulls last`,
    },
    {
      name: 'ILIKE on text',
      query: `measures: count(1) as n
filter: output ILIKE '%original payment%'`,
      sql: `select count(*) as n from spans where output ilike '%original payment%'`,
    },
    {
      name: 'summary of traces, 50 with the most tokens',
      shape: 'summary',
      query: `select: root_span_id, metrics.tokens as tokens, metrics.duration as seconds
sort: tokens desc
limit: 50`,
      sql: `select root_span_id, sum(tokens) as tokens, max(finished) - min(started) as seconds
        from spans group by root_span_id order by tokens desc nulls last limit 50`,
      compared: ['tokens'],
    },
    {
      name: 'summary of traces, by model of the root',
      shape: 'summary',
      query: `dimensions: metadata.model as model
measures: count(1) as n, avg(metrics.duration) as seconds, sum(metrics.tokens) as tokens
sort: model`,
      sql: `select model, count(*) as n, avg(seconds) as seconds, sum(tokens) as tokens
        from (
          select any_value(model) filter (is_root) as model, sum(tokens) as tokens,
            max(finished) - min(started) as seconds
          from spans group by root_span_id
        ) group by model order by model nulls last`,
    },
    {
      name: 'latest 100 rows, whole',
      query: `select: *
sort: created desc
limit: 100`,
      sql: `select id, body from spans order by created desc limit 100`,
      compared: ['id'],
    },
    {
      name: 'look-up by id, whole',
      useColumnstore: false,
      query: `select: *
filter: id = '${knownId}'`,
      sql: `select id, body from spans where id = '${knownId}'`,
      compared: ['id'],
    },
  ]
}
