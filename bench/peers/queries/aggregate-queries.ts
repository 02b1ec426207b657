/** Counts, groups, time buckets, percentiles, distinct values. */
import type { PeerQuery } from './peer-query.ts'

export const aggregateQueries: readonly PeerQuery[] = [
  {
    name: 'count',
    btql: (c) => `measures: count(1) as ${c.alias}`,
    sql: (q, c) => `select count(*) as ${c.alias} from ${q.table}`,
  },
  {
    name: 'count, filter on string and double',
    btql: (c) => `measures: count(1) as n
filter: metadata.model = '${c.model}' and metrics.time_to_first_token > ${c.seconds}`,
    sql: (q, c) => `select count(*) as n from ${q.table}
        where ${q.model} = '${c.model}' and ${q.firstToken} > ${c.seconds}`,
  },
  {
    name: 'count, or of three ranges',
    btql: (c) => `measures: count(1) as n
filter: metrics.tokens between ${c.tokens} and ${c.tokens + 100} or scores.Factuality < ${c.score}
  or metrics.time_to_first_token >= ${c.longSeconds}`,
    sql: (q, c) => `select count(*) as n from ${q.table}
        where ${q.tokens} between ${c.tokens} and ${c.tokens + 100} or ${q.factuality} < ${c.score} or ${q.firstToken} >= ${c.longSeconds}`,
  },
  {
    name: 'count, in a list of models and environments',
    btql: (c) => `measures: count(1) as n
filter: metadata.model in ['${c.model}', '${c.otherModel}'] and metadata.environment != '${c.environment}'`,
    sql: (q, c) => `select count(*) as n from ${q.table}
        where ${q.model} in ('${c.model}', '${c.otherModel}') and ${q.environment} <> '${c.environment}'`,
  },
  {
    name: 'errors, tested for null',
    btql: (c) => `measures: count(1) as ${c.alias}\nfilter: error is not null`,
    sql: (q, c) => `select count(*) as ${c.alias} from ${q.table} where ${q.error} is not null`,
  },
  {
    name: 'missing scores of model calls',
    btql: (c) => `measures: count(1) as ${c.alias}
filter: scores.Factuality is null and span_attributes.type = '${c.type}'`,
    sql: (q, c) => `select count(*) as ${c.alias} from ${q.table}
        where ${q.factuality} is null and ${q.type} = '${c.type}'`,
  },
  {
    name: 'average of a double',
    btql: (c) => `measures: avg(metrics.time_to_first_token) as ${c.alias}`,
    sql: (q, c) => `select avg(${q.firstToken}) as ${c.alias} from ${q.table}`,
  },
  {
    name: 'five aggregates of three numbers',
    btql: (
      c,
    ) => `measures: sum(metrics.estimated_cost) as cost, min(metrics.time_to_first_token) as least,
  max(metrics.time_to_first_token) as most, avg(metrics.completion_tokens) as mean,
  count(metrics.tokens) as ${c.alias}`,
    sql: (q, c) => `select sum(${q.cost}) as cost, min(${q.firstToken}) as least,
        max(${q.firstToken}) as most, avg(${q.completionTokens}) as mean,
        count(${q.tokens}) as ${c.alias} from ${q.table}`,
  },
  {
    name: 'group by 8 models, 4 aggregates',
    btql: (c) => `dimensions: metadata.model as model
measures: count(1) as ${c.alias}, avg(metrics.time_to_first_token) as mean, sum(metrics.tokens) as tokens,
  max(metrics.completion_tokens) as longest`,
    sql: (
      q,
      c,
    ) => `select ${q.model} as model, count(*) as ${c.alias}, avg(${q.firstToken}) as mean,
        sum(${q.tokens}) as tokens, max(${q.completionTokens}) as longest
        from ${q.table} group by model`,
  },
  {
    name: 'group by model and environment',
    btql: (c) => `dimensions: metadata.model as model, metadata.environment as environment
measures: count(1) as ${c.alias}, avg(scores.Factuality) as factuality`,
    sql: (
      q,
      c,
    ) => `select ${q.model} as model, ${q.environment} as environment, count(*) as ${c.alias},
        avg(${q.factuality}) as factuality from ${q.table} group by model, environment`,
  },
  {
    name: 'group by country, plan and release',
    btql: (c) => `dimensions: metadata.customer.country as country, metadata.customer.plan as plan,
  metadata.release as release
measures: count(1) as ${c.alias}, sum(metrics.estimated_cost) as cost`,
    sql: (q, c) => `select ${q.country} as country, ${q.plan} as plan, ${q.release} as release,
        count(*) as ${c.alias}, sum(${q.cost}) as cost from ${q.table} group by country, plan, release`,
  },
  {
    name: 'group by day',
    btql: (c) => `dimensions: day(created) as day
measures: count(1) as ${c.alias}, sum(metrics.tokens) as tokens`,
    sql: (q, c) => `select ${q.ms('t')} as day, ${c.alias}, tokens from (
          select ${q.day(q.created, c.tzOffset)} as t, count(*) as ${c.alias}, sum(${q.tokens}) as tokens
          from ${q.table} group by t) as days`,
    times: ['day'],
  },
  {
    name: 'group by hour, six hours',
    btql: (c) => `dimensions: hour(created) as hour
measures: count(1) as n, avg(metrics.time_to_first_token) as mean
filter: created >= '${c.from}' and created < '${c.to}'`,
    sql: (q, c) => `select ${q.ms('t')} as hour, n, mean from (
          select ${q.hour(q.created)} as t, count(*) as n, avg(${q.firstToken}) as mean
          from ${q.table}
          where ${q.created} >= ${q.time(c.from)} and ${q.created} < ${q.time(c.to)}
          group by t) as hours`,
    times: ['hour'],
  },
  {
    name: 'group by day and model, errors',
    btql: (c) => `dimensions: day(created) as day, metadata.model as model
measures: count(1) as ${c.alias}, count(error) as failed`,
    sql: (q, c) => `select ${q.ms('t')} as day, model, ${c.alias}, failed from (
          select ${q.day(q.created, c.tzOffset)} as t, ${q.model} as model, count(*) as ${c.alias},
            count(${q.error}) as failed
          from ${q.table} group by t, model) as days`,
    times: ['day'],
  },
  {
    name: 'group by model and environment, six hours',
    btql: (c) => `dimensions: metadata.model as model, metadata.environment as environment
measures: count(1) as n, avg(metrics.end - metrics.start) as seconds
filter: created >= '${c.from}' and created < '${c.to}'`,
    sql: (q, c) => `select ${q.model} as model, ${q.environment} as environment, count(*) as n,
        avg(${q.finished} - ${q.started}) as seconds from ${q.table}
        where ${q.created} >= ${q.time(c.from)} and ${q.created} < ${q.time(c.to)}
        group by model, environment`,
  },
  {
    name: 'percentiles of a double by model',
    btql: (c) => `dimensions: metadata.model as model
measures: percentile(metrics.time_to_first_token, ${c.percentile}) as low,
  percentile(metrics.time_to_first_token, ${c.higherPercentile}) as high`,
    sql: (q, c) => `select ${q.model} as model, ${q.percentile(q.firstToken, c.percentile)} as low,
        ${q.percentile(q.firstToken, c.higherPercentile)} as high from ${q.table} group by model`,
  },
  {
    name: 'percentile, filtered',
    btql: (c) => `measures: percentile(metrics.tokens, ${c.higherPercentile}) as high
filter: metadata.environment = '${c.environment}'`,
    sql: (q, c) => `select ${q.percentile(q.tokens, c.higherPercentile)} as high from ${q.table}
        where ${q.environment} = '${c.environment}'`,
  },
  {
    name: 'count distinct users',
    btql: (c) => `measures: count_distinct(metadata.user_id) as ${c.alias}`,
    sql: (q, c) => `select ${q.distinct(q.user)} as ${c.alias} from ${q.table}`,
  },
  {
    name: 'distinct users by model',
    btql: (c) => `dimensions: metadata.model as model
measures: count_distinct(metadata.user_id) as ${c.alias}`,
    sql: (q, c) => `select ${q.model} as model, ${q.distinct(q.user)} as ${c.alias}
        from ${q.table} group by model`,
  },
  {
    name: 'top 10 of 200 k users by spans',
    btql: (c) => `dimensions: metadata.user_id as user
measures: count(1) as n, sum(metrics.tokens) as tokens
sort: n desc, user
limit: ${c.fewer}`,
    sql: (q, c) => `select ${q.user} as user, count(*) as n, sum(${q.tokens}) as tokens
        from ${q.table} group by user order by n desc, user limit ${c.fewer}`,
    isOrdered: true,
  },
  {
    name: 'top 20 traces by spans',
    btql: (c) => `dimensions: root_span_id as trace
measures: count(1) as n, max(metrics.end) as finished
sort: n desc, trace
limit: ${c.fewer}`,
    sql: (q, c) => `select ${q.trace} as trace, count(*) as n, max(${q.finished}) as finished
        from ${q.table} group by trace order by n desc, trace limit ${c.fewer}`,
    isOrdered: true,
  },
  {
    name: 'ternary by environment',
    btql: (c) => `dimensions: metadata.environment as environment
measures: sum(metrics.time_to_first_token > ${c.seconds} ? 1 : 0) as slow, count(1) as n`,
    sql: (q, c) => `select ${q.environment} as environment,
        sum(case when ${q.firstToken} > ${c.seconds} then 1 else 0 end) as slow, count(*) as n
        from ${q.table} group by environment`,
  },
  {
    name: 'arithmetic of four columns by model',
    btql: (c) => `dimensions: metadata.model as model
measures: avg(metrics.completion_tokens / (metrics.end - metrics.start)) as speed,
  sum(metrics.prompt_tokens * ${c.weight} + metrics.completion_tokens) as weight
filter: metrics.end > metrics.start and metrics.tokens is not null`,
    sql: (q, c) => `select ${q.model} as model,
        avg(${q.completionTokens} / (${q.finished} - ${q.started})) as speed,
        sum(${q.promptTokens} * ${c.weight} + ${q.completionTokens}) as weight from ${q.table}
        where ${q.finished} > ${q.started} and ${q.tokens} is not null group by model`,
  },
  {
    name: 'histogram of tokens',
    btql: (c) => `dimensions: floor(metrics.tokens / ${c.bucket}) as bucket
measures: count(1) as n
filter: metrics.tokens is not null`,
    sql: (
      q,
      c,
    ) => `select floor(${q.tokens} / ${c.bucket}.0) as bucket, count(*) as n from ${q.table}
        where ${q.tokens} is not null group by bucket`,
  },
]
