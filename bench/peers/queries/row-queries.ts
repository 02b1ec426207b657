/** Rows: the highest, the latest, those of one id or trace; sums over traces. */
import type { PeerQuery, QueryContext } from './peer-query.ts'

export function rowQueries({ id, trace, from, to }: QueryContext): readonly PeerQuery[] {
  return [
    {
      name: 'top 100 by a double',
      btql: `select: id, metrics.time_to_first_token as first_token
sort: first_token desc, id
limit: 100`,
      sql: (q) => `select ${q.id} as id, ${q.firstToken} as first_token from ${q.table}
        order by first_token desc nulls last, id limit 100`,
      isOrdered: true,
    },
    {
      name: 'top 50 by two keys, filtered',
      btql: `select: id, scores.Factuality as factuality, metrics.tokens as tokens
filter: metadata.environment = 'production' and scores.Factuality < 0.5 and metrics.tokens > 1000
sort: factuality, tokens desc, id
limit: 50`,
      sql: (q) => `select ${q.id} as id, ${q.factuality} as factuality, ${q.tokens} as tokens
        from ${q.table} where ${q.environment} = 'production' and ${q.factuality} < 0.5
          and ${q.tokens} > 1000
        order by factuality, tokens desc, id limit 50`,
      isOrdered: true,
    },
    {
      name: 'latest 100 rows, whole',
      btql: 'select: *\nsort: created desc\nlimit: 100',
      sql: (q) => `select ${q.body} as body from ${q.table} order by ${q.created} desc limit 100`,
      isOrdered: true,
      isWhole: true,
    },
    {
      name: 'latest 20 errors of a model, whole',
      btql: `select: *
filter: error is not null and metadata.model = 'mistral-large'
sort: created desc
limit: 20`,
      sql: (q) => `select ${q.body} as body from ${q.table}
        where ${q.error} is not null and ${q.model} = 'mistral-large'
        order by ${q.created} desc limit 20`,
      isOrdered: true,
      isWhole: true,
    },
    {
      name: '100 rows of six hours, whole',
      btql: `select: *
filter: created >= '${from}' and created < '${to}' and span_attributes.type = 'llm'
sort: created
limit: 100`,
      sql: (q) => `select ${q.body} as body from ${q.table}
        where ${q.created} >= ${q.time(from)} and ${q.created} < ${q.time(to)}
          and ${q.type} = 'llm'
        order by ${q.created} limit 100`,
      isOrdered: true,
      isWhole: true,
    },
    {
      name: 'look-up by id, whole',
      useColumnstore: false,
      btql: `select: *\nfilter: id = '${id}'`,
      sql: (q) => `select ${q.body} as body from ${q.table} where ${q.id} = '${id}'`,
      isWhole: true,
    },
    {
      name: 'look-up by trace, whole',
      useColumnstore: false,
      btql: `select: *\nfilter: root_span_id = '${trace}'\nsort: created`,
      sql: (q) => `select ${q.body} as body from ${q.table} where ${q.trace} = '${trace}'
        order by ${q.created}`,
      isOrdered: true,
      isWhole: true,
    },
    {
      name: 'summary of traces, 50 with the most tokens',
      shape: 'summary',
      btql: `select: root_span_id as trace, metrics.tokens as tokens, metrics.duration as seconds
sort: tokens desc, trace
limit: 50`,
      sql: (q) => `select ${q.trace} as trace, sum(${q.tokens}) as tokens,
          max(${q.finished}) - min(${q.started}) as seconds
        from ${q.table} group by trace order by tokens desc nulls last, trace limit 50`,
      isOrdered: true,
    },
    {
      name: 'summary of traces, by model of the root',
      shape: 'summary',
      btql: `dimensions: metadata.model as model
measures: count(1) as n, avg(metrics.duration) as seconds, sum(metrics.tokens) as tokens`,
      sql: (q) => `select model, count(*) as n, avg(seconds) as seconds, sum(tokens) as tokens
        from (
          select ${q.anyIf(q.model, q.isRoot)} as model, sum(${q.tokens}) as tokens,
            max(${q.finished}) - min(${q.started}) as seconds
          from ${q.table} group by ${q.trace}
        ) as traces group by model`,
    },
  ]
}
