/** Rows: the highest, the latest, those of one id or trace; sums over traces. */
import type { PeerQuery } from './peer-query.ts'

export const rowQueries: readonly PeerQuery[] = [
  {
    name: 'top 100 by a double',
    btql: (c) => `select: id, metrics.time_to_first_token as first_token
sort: first_token desc, id
limit: ${c.limit}`,
    sql: (q, c) => `select ${q.id} as id, ${q.firstToken} as first_token from ${q.table}
        order by first_token desc nulls last, id limit ${c.limit}`,
    isOrdered: true,
  },
  {
    name: 'top 50 by two keys, filtered',
    btql: (c) => `select: id, scores.Factuality as factuality, metrics.tokens as tokens
filter: metadata.environment = '${c.environment}' and scores.Factuality < ${c.score} and metrics.tokens > ${c.tokens}
sort: factuality, tokens desc, id
limit: ${c.fewer}`,
    sql: (q, c) => `select ${q.id} as id, ${q.factuality} as factuality, ${q.tokens} as tokens
        from ${q.table} where ${q.environment} = '${c.environment}' and ${q.factuality} < ${c.score}
          and ${q.tokens} > ${c.tokens}
        order by factuality, tokens desc, id limit ${c.fewer}`,
    isOrdered: true,
  },
  {
    name: 'latest 100 rows, whole',
    btql: (c) => `select: *\nsort: created desc\nlimit: ${c.limit}`,
    sql: (q, c) =>
      `select ${q.body} as body from ${q.table} order by ${q.created} desc limit ${c.limit}`,
    isOrdered: true,
    isWhole: true,
  },
  {
    name: 'latest 20 errors of a model, whole',
    btql: (c) => `select: *
filter: error is not null and metadata.model = '${c.model}'
sort: created desc
limit: ${c.fewer}`,
    sql: (q, c) => `select ${q.body} as body from ${q.table}
        where ${q.error} is not null and ${q.model} = '${c.model}'
        order by ${q.created} desc limit ${c.fewer}`,
    isOrdered: true,
    isWhole: true,
  },
  {
    name: '100 rows of six hours, whole',
    btql: (c) => `select: *
filter: created >= '${c.from}' and created < '${c.to}' and span_attributes.type = '${c.type}'
sort: created
limit: ${c.limit}`,
    sql: (q, c) => `select ${q.body} as body from ${q.table}
        where ${q.created} >= ${q.time(c.from)} and ${q.created} < ${q.time(c.to)}
          and ${q.type} = '${c.type}'
        order by ${q.created} limit ${c.limit}`,
    isOrdered: true,
    isWhole: true,
  },
  {
    name: 'look-up by id, whole',
    btql: (c) => `select: *\nfilter: id = '${c.id}'`,
    sql: (q, c) => `select ${q.body} as body from ${q.table} where ${q.id} = '${c.id}'`,
    isWhole: true,
  },
  {
    name: 'look-up by trace, whole',
    btql: (c) => `select: *\nfilter: root_span_id = '${c.trace}'\nsort: created`,
    sql: (q, c) => `select ${q.body} as body from ${q.table} where ${q.trace} = '${c.trace}'
        order by ${q.created}`,
    isOrdered: true,
    isWhole: true,
  },
  {
    name: 'summary of traces, 50 with the most tokens',
    shape: 'summary',
    btql: (
      c,
    ) => `select: root_span_id as trace, metrics.tokens as tokens, metrics.duration as seconds
sort: tokens desc, trace
limit: ${c.fewer}`,
    sql: (q, c) => `select ${q.trace} as trace, sum(${q.tokens}) as tokens,
          max(${q.finished}) - min(${q.started}) as seconds
        from ${q.table} group by trace order by tokens desc nulls last, trace limit ${c.fewer}`,
    isOrdered: true,
  },
  {
    name: 'summary of traces, by model of the root',
    shape: 'summary',
    btql: (c) => `dimensions: metadata.model as model
measures: count(1) as ${c.alias}, avg(metrics.duration) as seconds, sum(metrics.tokens) as tokens`,
    sql: (
      q,
      c,
    ) => `select model, count(*) as ${c.alias}, avg(seconds) as seconds, sum(tokens) as tokens
        from (
          select ${q.anyIf(q.model, q.isRoot)} as model, sum(${q.tokens}) as tokens,
            max(${q.finished}) - min(${q.started}) as seconds
          from ${q.table} group by ${q.trace}
        ) as traces group by model`,
  },
]
