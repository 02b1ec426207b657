/** Counts, groups, time buckets, percentiles, distinct values. */
import type { PeerQuery, QueryContext } from './peer-query.ts'

export function aggregateQueries({ from, to }: QueryContext): readonly PeerQuery[] {
  return [
    {
      name: 'count',
      btql: 'measures: count(1) as n',
      sql: ({ table }) => `select count(*) as n from ${table}`,
    },
    {
      name: 'count, filter on string and double',
      btql: `measures: count(1) as n
filter: metadata.model = 'gpt-4o' and metrics.time_to_first_token > 0.5`,
      sql: (q) => `select count(*) as n from ${q.table}
        where ${q.model} = 'gpt-4o' and ${q.firstToken} > 0.5`,
    },
    {
      name: 'count, or of three ranges',
      btql: `measures: count(1) as n
filter: metrics.tokens between 100 and 200 or scores.Factuality < 0.2
  or metrics.time_to_first_token >= 2`,
      sql: (q) => `select count(*) as n from ${q.table}
        where ${q.tokens} between 100 and 200 or ${q.factuality} < 0.2 or ${q.firstToken} >= 2`,
    },
    {
      name: 'count, in a list of models and environments',
      btql: `measures: count(1) as n
filter: metadata.model in ['gpt-4o', 'mistral-large'] and metadata.environment != 'production'`,
      sql: (q) => `select count(*) as n from ${q.table}
        where ${q.model} in ('gpt-4o', 'mistral-large') and ${q.environment} <> 'production'`,
    },
    {
      name: 'errors, tested for null',
      btql: 'measures: count(1) as n\nfilter: error is not null',
      sql: (q) => `select count(*) as n from ${q.table} where ${q.error} is not null`,
    },
    {
      name: 'missing scores of model calls',
      btql: `measures: count(1) as n
filter: scores.Factuality is null and span_attributes.type = 'llm'`,
      sql: (q) => `select count(*) as n from ${q.table}
        where ${q.factuality} is null and ${q.type} = 'llm'`,
    },
    {
      name: 'average of a double',
      btql: 'measures: avg(metrics.time_to_first_token) as mean',
      sql: (q) => `select avg(${q.firstToken}) as mean from ${q.table}`,
    },
    {
      name: 'five aggregates of three numbers',
      btql: `measures: sum(metrics.estimated_cost) as cost, min(metrics.time_to_first_token) as least,
  max(metrics.time_to_first_token) as most, avg(metrics.completion_tokens) as mean,
  count(metrics.tokens) as n`,
      sql: (q) => `select sum(${q.cost}) as cost, min(${q.firstToken}) as least,
        max(${q.firstToken}) as most, avg(${q.completionTokens}) as mean,
        count(${q.tokens}) as n from ${q.table}`,
    },
    {
      name: 'group by 8 models, 4 aggregates',
      btql: `dimensions: metadata.model as model
measures: count(1) as n, avg(metrics.time_to_first_token) as mean, sum(metrics.tokens) as tokens,
  max(metrics.completion_tokens) as longest`,
      sql: (q) => `select ${q.model} as model, count(*) as n, avg(${q.firstToken}) as mean,
        sum(${q.tokens}) as tokens, max(${q.completionTokens}) as longest
        from ${q.table} group by model`,
    },
    {
      name: 'group by model and environment',
      btql: `dimensions: metadata.model as model, metadata.environment as environment
measures: count(1) as n, avg(scores.Factuality) as factuality`,
      sql: (q) => `select ${q.model} as model, ${q.environment} as environment, count(*) as n,
        avg(${q.factuality}) as factuality from ${q.table} group by model, environment`,
    },
    {
      name: 'group by country, plan and release',
      btql: `dimensions: metadata.customer.country as country, metadata.customer.plan as plan,
  metadata.release as release
measures: count(1) as n, sum(metrics.estimated_cost) as cost`,
      sql: (q) => `select ${q.country} as country, ${q.plan} as plan, ${q.release} as release,
        count(*) as n, sum(${q.cost}) as cost from ${q.table} group by country, plan, release`,
    },
    {
      name: 'group by day',
      btql: `dimensions: day(created) as day
measures: count(1) as n, sum(metrics.tokens) as tokens`,
      sql: (q) => `select ${q.ms('t')} as day, n, tokens from (
          select ${q.day(q.created)} as t, count(*) as n, sum(${q.tokens}) as tokens
          from ${q.table} group by t) as days`,
      times: ['day'],
    },
    {
      name: 'group by hour, six hours',
      btql: `dimensions: hour(created) as hour
measures: count(1) as n, avg(metrics.time_to_first_token) as mean
filter: created >= '${from}' and created < '${to}'`,
      sql: (q) => `select ${q.ms('t')} as hour, n, mean from (
          select ${q.hour(q.created)} as t, count(*) as n, avg(${q.firstToken}) as mean
          from ${q.table}
          where ${q.created} >= ${q.time(from)} and ${q.created} < ${q.time(to)}
          group by t) as hours`,
      times: ['hour'],
    },
    {
      name: 'group by day and model, errors',
      btql: `dimensions: day(created) as day, metadata.model as model
measures: count(1) as n, count(error) as failed`,
      sql: (q) => `select ${q.ms('t')} as day, model, n, failed from (
          select ${q.day(q.created)} as t, ${q.model} as model, count(*) as n,
            count(${q.error}) as failed
          from ${q.table} group by t, model) as days`,
      times: ['day'],
    },
    {
      name: 'group by model and environment, six hours',
      btql: `dimensions: metadata.model as model, metadata.environment as environment
measures: count(1) as n, avg(metrics.end - metrics.start) as seconds
filter: created >= '${from}' and created < '${to}'`,
      sql: (q) => `select ${q.model} as model, ${q.environment} as environment, count(*) as n,
        avg(${q.finished} - ${q.started}) as seconds from ${q.table}
        where ${q.created} >= ${q.time(from)} and ${q.created} < ${q.time(to)}
        group by model, environment`,
    },
    {
      name: 'percentiles of a double by model',
      btql: `dimensions: metadata.model as model
measures: percentile(metrics.time_to_first_token, 0.5) as p50,
  percentile(metrics.time_to_first_token, 0.95) as p95`,
      sql: (q) => `select ${q.model} as model, ${q.percentile(q.firstToken, 0.5)} as p50,
        ${q.percentile(q.firstToken, 0.95)} as p95 from ${q.table} group by model`,
    },
    {
      name: 'percentile, filtered',
      btql: `measures: percentile(metrics.tokens, 0.99) as p99
filter: metadata.environment = 'staging'`,
      sql: (q) => `select ${q.percentile(q.tokens, 0.99)} as p99 from ${q.table}
        where ${q.environment} = 'staging'`,
    },
    {
      name: 'count distinct users',
      btql: 'measures: count_distinct(metadata.user_id) as users',
      sql: (q) => `select ${q.distinct(q.user)} as users from ${q.table}`,
    },
    {
      name: 'distinct users by model',
      btql: `dimensions: metadata.model as model
measures: count_distinct(metadata.user_id) as users`,
      sql: (q) => `select ${q.model} as model, ${q.distinct(q.user)} as users
        from ${q.table} group by model`,
    },
    {
      name: 'top 10 of 200 k users by spans',
      btql: `dimensions: metadata.user_id as user
measures: count(1) as n, sum(metrics.tokens) as tokens
sort: n desc, user
limit: 10`,
      sql: (q) => `select ${q.user} as user, count(*) as n, sum(${q.tokens}) as tokens
        from ${q.table} group by user order by n desc, user limit 10`,
      isOrdered: true,
    },
    {
      name: 'top 20 traces by spans',
      btql: `dimensions: root_span_id as trace
measures: count(1) as n, max(metrics.end) as finished
sort: n desc, trace
limit: 20`,
      sql: (q) => `select ${q.trace} as trace, count(*) as n, max(${q.finished}) as finished
        from ${q.table} group by trace order by n desc, trace limit 20`,
      isOrdered: true,
    },
    {
      name: 'ternary by environment',
      btql: `dimensions: metadata.environment as environment
measures: sum(metrics.time_to_first_token > 1 ? 1 : 0) as slow, count(1) as n`,
      sql: (q) => `select ${q.environment} as environment,
        sum(case when ${q.firstToken} > 1 then 1 else 0 end) as slow, count(*) as n
        from ${q.table} group by environment`,
    },
    {
      name: 'arithmetic of four columns by model',
      btql: `dimensions: metadata.model as model
measures: avg(metrics.completion_tokens / (metrics.end - metrics.start)) as speed,
  sum(metrics.prompt_tokens * 0.25 + metrics.completion_tokens) as weight
filter: metrics.end > metrics.start and metrics.tokens is not null`,
      sql: (q) => `select ${q.model} as model,
        avg(${q.completionTokens} / (${q.finished} - ${q.started})) as speed,
        sum(${q.promptTokens} * 0.25 + ${q.completionTokens}) as weight from ${q.table}
        where ${q.finished} > ${q.started} and ${q.tokens} is not null group by model`,
    },
    {
      name: 'histogram of tokens',
      btql: `dimensions: floor(metrics.tokens / 500) as bucket
measures: count(1) as n
filter: metrics.tokens is not null`,
      sql: (q) => `select floor(${q.tokens} / 500.0) as bucket, count(*) as n from ${q.table}
        where ${q.tokens} is not null group by bucket`,
    },
  ]
}
