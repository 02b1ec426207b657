import type { Question } from './questions.ts'

/** About an hour of requests to two services, and about a whole project. */
export const requestQuestions: readonly Question[] = [
  {
    name: 'tokens of each service',
    query: (from) => `dimensions: metadata.kind as kind
measures: count(1) as requests, sum(metrics.prompt_tokens) as prompt,
  sum(metrics.completion_tokens) as completion, avg(metrics.prompt_tokens) as mean
from: ${from.logs}
sort: kind`,
    sql: `select kind, count(*) as requests, sum(prompt) as prompt, sum(completion) as completion,
        avg(prompt) as mean from requests group by kind order by kind`,
  },
  {
    name: 'requests and tokens of each minute',
    query: (from) => `dimensions: minute(created) as minute
measures: count(1) as requests, sum(metrics.prompt_tokens) as prompt
from: ${from.logs}
sort: minute`,
    sql: `select iso(date_trunc('minute', created)) as minute, count(*) as requests,
        sum(prompt) as prompt from requests group by 1 order by 1`,
  },
  {
    name: 'requests of each hour on a clock half an hour off',
    query: (from) => `dimensions: hour(created) as hour, metadata.kind as kind
measures: count(1) as requests
from: ${from.logs}
sort: hour, kind desc`,
    tzOffset: -330,
    sql: `select iso(date_trunc('hour', created + interval 330 minute) - interval 330 minute) as hour,
        kind, count(*) as requests from requests group by 1, 2 order by 1, 2 desc`,
  },
  {
    name: 'requests of each day where the day ends in that hour',
    query: (from) => `dimensions: day(created) as day
measures: count(1) as requests, max(metrics.completion_tokens) as longest
from: ${from.logs}
sort: day desc`,
    tzOffset: 1120,
    sql: `select iso(date_trunc('day', created - interval 1120 minute) + interval 1120 minute) as day,
        count(*) as requests, max(completion) as longest from requests group by 1 order by 1 desc`,
  },
  {
    name: 'week, month and year',
    query: (
      from,
    ) => `dimensions: week(created) as week, month(created) as month, year(created) as year
measures: count(1) as requests
from: ${from.logs}`,
    sql: `select iso(date_trunc('week', created)) as week, iso(date_trunc('month', created)) as month,
        iso(date_trunc('year', created)) as year, count(*) as requests from requests group by 1, 2, 3`,
  },
  {
    name: 'the busiest seconds',
    query: (from) => `dimensions: second(created) as second
measures: count(1) as requests
from: ${from.logs}
sort: requests desc, second
limit: 15`,
    sql: `select iso(date_trunc('second', created)) as second, count(*) as requests
      from requests group by 1 order by 2 desc, 1 limit 15`,
  },
  {
    name: 'percentiles of tokens',
    query: (from) => `dimensions: metadata.kind as kind
measures: percentile(metrics.prompt_tokens, 0.5) as p50, percentile(metrics.prompt_tokens, 0.9) as p90,
  percentile(metrics.completion_tokens, 0.999) as p999, percentile(metrics.completion_tokens, 0) as least
from: ${from.logs}
sort: kind`,
    sql: `select kind, quantile_cont(prompt, 0.5) as p50, quantile_cont(prompt, 0.9) as p90,
        quantile_cont(completion, 0.999) as p999, quantile_cont(completion, 0.0) as least
      from requests group by kind order by kind`,
  },
  {
    name: 'requests with long prompts in a quarter of an hour',
    query: (from) => `dimensions: metadata.kind as kind
measures: count(1) as requests, count(metrics.prompt_tokens > 4000 ? 1 : null) as long
filter: created >= '2023-11-16T18:30:00Z' and created < '2023-11-16 18:45:00'
from: ${from.logs}
sort: kind`,
    sql: `select kind, count(*) as requests, count(*) filter (prompt > 4000) as long from requests
      where created >= '2023-11-16 18:30:00' and created < '2023-11-16 18:45:00'
      group by kind order by kind`,
  },
  {
    name: 'the largest requests',
    query: (
      from,
    ) => `select: id, created, metrics.prompt_tokens + metrics.completion_tokens as tokens
from: ${from.logs}
sort: tokens desc, id
limit: 20`,
    sql: `select id, iso(created) as created, prompt + completion as tokens from requests
      order by tokens desc, id limit 20`,
  },
  {
    name: 'the ratio of answer to prompt',
    query: (from) => `dimensions: metadata.kind as kind
measures: avg(metrics.completion_tokens / metrics.prompt_tokens) as ratio,
  count(metrics.prompt_tokens % 100 = 0 ? 1 : null) as round
filter: metrics.prompt_tokens >= 10
from: ${from.logs}
sort: kind`,
    sql: `select kind, avg(completion::double / prompt) as ratio, count(*) filter (prompt % 100 = 0) as round
      from requests where prompt >= 10 group by kind order by kind`,
  },
  {
    name: 'classes of prompt sizes',
    query: (from) => `dimensions: metrics.prompt_tokens - metrics.prompt_tokens % 1000 as size
measures: count(1) as requests, avg(metrics.completion_tokens) as answer
from: ${from.logs}
sort: size`,
    sql: `select prompt - prompt % 1000 as size, count(*) as requests, avg(completion) as answer
      from requests group by 1 order by 1`,
  },
  {
    name: 'the first and the last request',
    query: (from) => `measures: min(created) as first, max(created) as last,
  count_distinct(created) as moments, count_distinct(metrics.prompt_tokens) as sizes
from: ${from.logs}`,
    sql: `select iso(min(created)) as first, iso(max(created)) as last,
        count(distinct created) as moments, count(distinct prompt) as sizes from requests`,
  },
  {
    name: 'everything in the project by kind',
    query: (from) => `dimensions: metadata.kind as kind
measures: count(1) as records, count(scores.win_rate) as judged, sum(metrics.prompt_tokens) as prompt
from: ${from.project}
sort: kind`,
    sql: `select kind, count(*) as records, count(win_rate) as judged, sum(prompt) as prompt
      from (select kind, null as win_rate, prompt from requests
        union all select null, win_rate, null from answers)
      group by kind order by kind nulls last`,
  },
  {
    name: 'everything in the project that one filter finds',
    query: (from) => `select: id, metadata.kind as kind, metadata.model as model
filter: id LIKE '%-0042' or id = 'code-42' or metrics.completion_tokens = 1899
from: ${from.project}
sort: id, model`,
    sql: `select id, kind, model from (select id, kind, null as model, completion from requests
        union all select id, null, model, null from answers)
      where id like '%-0042' or id = 'code-42' or completion = 1899 order by id, model`,
  },
]
