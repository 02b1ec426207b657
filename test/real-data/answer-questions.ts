import type { Question } from './questions.ts'

/** About the answers of twelve models to the same prompts, and how a judge rated them. */
export const answerQuestions: readonly Question[] = [
  {
    name: 'records of each model',
    query: (from) => `dimensions: metadata.model as model
measures: count(1) as records
from: ${from.everyExperiment}
sort: model`,
    sql: `select model, count(*) as records from answers group by model order by model`,
  },
  {
    name: 'the ranking by win rate, unjudged models last',
    query: (from) => `dimensions: metadata.model as model
measures: avg(scores.win_rate) as win_rate, count(scores.win_rate) as judged
from: ${from.everyExperiment}
sort: win_rate desc, model`,
    sql: `select model, avg(win_rate) as win_rate, count(win_rate) as judged
      from answers group by model order by win_rate desc nulls last, model`,
  },
  {
    name: 'the share of answers that beat the baseline',
    query: (from) => `dimensions: metadata.model as model
measures: sum(scores.win_rate > 0.5) as wins, sum(scores.win_rate > 0.5) / count(1) as share
from: ${from.everyExperiment}
sort: wins desc, model`,
    sql: `select model, sum(win_rate > 0.5) as wins, sum(win_rate > 0.5)::double / count(*) as share
      from answers group by model order by wins desc nulls last, model`,
  },
  {
    name: 'the spread of win rates of each model',
    query: (from) => `dimensions: metadata.model as model
measures: percentile(scores.win_rate, 0.1) as p10, percentile(scores.win_rate, 0.5) as p50,
  percentile(scores.win_rate, 0.99) as p99
from: ${from.everyExperiment}
sort: model`,
    sql: `select model, quantile_cont(win_rate, 0.1) as p10, quantile_cont(win_rate, 0.5) as p50,
        quantile_cont(win_rate, 0.99) as p99
      from answers group by model order by model`,
  },
  {
    name: 'what judging cost and how long it took',
    query: (
      from,
    ) => `measures: sum(metrics.judge_cost_usd) as cost, avg(metrics.judge_seconds) as mean,
  max(metrics.judge_seconds) as longest, min(metrics.judge_seconds) as shortest,
  count(metrics.judge_seconds) as measured, count(*) as records
from: ${from.everyExperiment}`,
    sql: `select sum(cost) as cost, avg(seconds) as mean, max(seconds) as longest,
        min(seconds) as shortest, count(seconds) as measured, count(*) as records from answers`,
  },
  {
    name: 'win rates by data set and model',
    query: (from) => `dimensions: metadata.dataset as dataset, metadata.model as model
measures: count(1) as n, avg(scores.win_rate) as mean, min(scores.win_rate) as lowest,
  max(scores.win_rate) as highest
from: ${from.everyExperiment}
sort: dataset, model desc`,
    sql: `select dataset, model, count(*) as n, avg(win_rate) as mean, min(win_rate) as lowest,
        max(win_rate) as highest
      from answers group by dataset, model order by dataset, model desc`,
  },
  {
    name: 'who speaks of being an AI',
    query: (from) => `dimensions: metadata.model as model
measures: count(1) as records
filter: output ILIKE '%as an ai%'
from: ${from.everyExperiment}
sort: records desc, model`,
    sql: `select model, count(*) as records from answers where output ilike '%as an ai%'
      group by model order by records desc, model`,
  },
  {
    name: 'who begins with "Sure"',
    query: (from) => `dimensions: metadata.model as model
measures: count(1) as records
filter: output LIKE 'Sure%'
from: ${from.everyExperiment}
sort: model`,
    sql: `select model, count(*) as records from answers where output like 'Sure%'
      group by model order by model`,
  },
  {
    name: 'answers with Python code but no explanation',
    query: (from) => `select: id, metadata.model
filter: output LIKE '%\`\`\`python%' and output NOT ILIKE '%explanation%'
from: ${from.everyExperiment}
sort: id, metadata.model`,
    sql: `select id, model from answers
      where output like '%\`\`\`python%' and output not ilike '%explanation%' order by id, model`,
  },
  {
    name: 'answers with letters beyond ASCII, case folded',
    query: (from) => `measures: count(1) as records, count_distinct(id) as prompts
filter: output ILIKE '%É%' or output ILIKE '%ß%' or output LIKE '%中%'
from: ${from.everyExperiment}`,
    sql: `select count(*) as records, count(distinct id) as prompts from answers
      where output ilike '%É%' or output ilike '%ß%' or output like '%中%'`,
  },
  {
    name: 'answers with one letter, any letter, one letter',
    query: (from) => `select: id, output
filter: output LIKE '_' or output LIKE '___'
from: ${from.everyExperiment}
sort: output, id, metadata.model`,
    sql: `select id, output from answers where output like '_' or output like '___'
      order by output, id, model`,
  },
  {
    name: 'answers that name a city as a whole word',
    query: (from) => `select: id, metadata.model as model
filter: output MATCH 'paris'
from: ${from.everyExperiment}
sort: id, model`,
    sql: `select id, model from answers
      where regexp_matches(lower(output), '(^|[^\\pL\\pN])paris($|[^\\pL\\pN])') order by id, model`,
  },
  {
    name: 'records tagged koala',
    query: (from) => `measures: count(1) as records, avg(scores.win_rate) as win_rate
filter: tags includes 'koala'
from: ${from.everyExperiment}`,
    sql: `select count(*) as records, avg(win_rate) as win_rate from answers
      where list_contains(tags, 'koala')`,
  },
  {
    name: 'records tagged with all of a list, and with some of it',
    query: (from) => `measures: count(tags includes ['koala'] ? 1 : null) as one,
  count(tags includes ['koala', 'vicuna'] ? 1 : null) as both,
  count(tags includes 'koala' or tags includes 'vicuna' ? 1 : null) as either
from: ${from.everyExperiment}`,
    sql: `select count(*) filter (list_has_all(tags, ['koala'])) as one,
        count(*) filter (list_has_all(tags, ['koala', 'vicuna'])) as both,
        count(*) filter (list_has_any(tags, ['koala', 'vicuna'])) as either from answers`,
  },
  {
    name: 'records without a tag',
    query: (from) => `dimensions: tags
measures: count(1) as records
filter: NOT tags includes 'koala' and scores.win_rate >= 0.5
from: ${from.everyExperiment}
sort: records desc, tags`,
    sql: `select tags, count(*) as records from answers
      where not list_contains(tags, 'koala') and win_rate >= 0.5
      group by tags order by records desc, tags[1]`,
  },
  {
    name: 'models without a verdict',
    query: (from) => `dimensions: metadata.model
measures: count(1) as records, count(expected) as baselines
filter: scores.win_rate IS NULL
from: ${from.everyExperiment}`,
    sql: `select model, count(*) as records, count(expected) as baselines from answers
      where win_rate is null group by model`,
  },
  {
    name: 'judged records whose judgement was not measured',
    query: (from) => `dimensions: metadata.model as model
measures: count(1) as records
filter: scores IS NOT NULL and metrics IS NULL
from: ${from.everyExperiment}
sort: model`,
    sql: `select model, count(*) as records from answers
      where win_rate is not null and cost is null and seconds is null
      group by model order by model`,
  },
  {
    name: 'null is neither equal nor different, but may be asked for',
    query: (from) => `measures: count(metadata.annotator != 'nobody' ? 1 : null) as different,
  count(metadata.annotator = null ? 1 : null) as equal,
  count(metadata.annotator != null ? 1 : null) as given
from: ${from.everyExperiment}`,
    sql: `select count(*) filter (annotator != 'nobody') as different,
        count(*) filter (annotator = null) as equal,
        count(*) filter (annotator is not null) as given from answers`,
  },
  {
    name: 'the ten dearest judgements',
    query: (from) => `select: id, metadata.model as model, metrics.judge_cost_usd as cost
from: ${from.everyExperiment}
sort: cost desc, id, model
limit: 10`,
    sql: `select id, model, cost from answers order by cost desc nulls last, id, model limit 10`,
  },
  {
    name: 'the next page of them',
    query: (from) => `select: id, metadata.model as model, metrics.judge_cost_usd as cost
from: ${from.everyExperiment}
sort: cost desc, id, model
limit: 10
offset: 10`,
    sql: `select id, model, cost from answers order by cost desc nulls last, id, model
      limit 10 offset 10`,
  },
  {
    name: 'the newest records first, if nothing else is asked',
    query: (from) => `select: id, scores.win_rate
from: ${from.experiments('claude-2.1', 'alpaca-7b')}
limit: 1000`,
    sql: `select id, win_rate from answers where model in ('claude-2.1', 'alpaca-7b')
      order by position desc limit 1000`,
  },
  {
    name: 'how many different texts there are',
    query: (from) => `measures: count_distinct(input) as inputs, count_distinct(output) as outputs,
  count_distinct(scores.win_rate) as rates, count_distinct(metadata.model) as models
from: ${from.everyExperiment}`,
    sql: `select count(distinct input) as inputs, count(distinct output) as outputs,
        count(distinct win_rate) as rates, count(distinct model) as models from answers`,
  },
  {
    name: 'the data sets there are',
    query: (from) => `dimensions: metadata.dataset
from: ${from.everyExperiment}
sort: metadata.dataset`,
    sql: `select distinct dataset from answers order by dataset`,
  },
  {
    name: 'verdicts by a chain of ternaries, null falling through',
    query: (
      from,
    ) => `dimensions: (scores.win_rate > 0.9 ? 'strong' : scores.win_rate > 0.5 ? 'win' : 'loss') as verdict
measures: count(1) as records, count_distinct(metadata.model) as models
from: ${from.everyExperiment}
sort: verdict`,
    sql: `select case when win_rate > 0.9 then 'strong' when win_rate > 0.5 then 'win'
        else 'loss' end as verdict, count(*) as records, count(distinct model) as models
      from answers group by verdict order by verdict`,
  },
  {
    name: 'a threshold that depends on the model',
    query: (from) => `measures: count(1) as records
filter: scores.win_rate > (metadata.model = 'gpt4_1106_preview' ? 0.9 : 0.5)
from: ${from.everyExperiment}`,
    sql: `select count(*) as records from answers
      where win_rate > case when model = 'gpt4_1106_preview' then 0.9 else 0.5 end`,
  },
  {
    name: 'the price of a second of judging',
    query: (from) => `dimensions: metadata.dataset as dataset
measures: avg(1000 * metrics.judge_cost_usd / metrics.judge_seconds) as price,
  avg(-metrics.judge_seconds + 2 * (metrics.judge_cost_usd - 1)) as mixed
from: ${from.everyExperiment}
sort: price`,
    sql: `select dataset, avg(1000 * cost / nullif(seconds, 0)) as price,
        avg(-seconds + 2 * (cost - 1)) as mixed
      from answers group by dataset order by price`,
  },
  {
    name: 'one prompt in all experiments',
    query: (from) => `select: metadata.model as model, scores.win_rate, output
filter: id = 'alpaca-0042'
from: ${from.everyExperiment}
sort: model`,
    sql: `select model, win_rate, output from answers where id = 'alpaca-0042' order by model`,
  },
  {
    name: 'one record with its nested values',
    query: (from) => `select: id, metadata, tags, scores, input, expected
filter: id = 'alpaca-0007'
from: ${from.experiments('gemma-7b-it')}`,
    sql: `select id, metadata, tags, {win_rate: win_rate} as scores, input, expected from answers
      where id = 'alpaca-0007' and model = 'gemma-7b-it'`,
  },
  {
    name: 'some of the data sets',
    query: (from) => `measures: count(1) as records, avg(scores.win_rate) as win_rate
filter: metadata.dataset IN ['koala', 'oasst', 'no such'] and metadata.model NOT IN ['phi-2']
from: ${from.everyExperiment}`,
    sql: `select count(*) as records, avg(win_rate) as win_rate from answers
      where dataset in ('koala', 'oasst', 'no such') and model not in ('phi-2')`,
  },
  {
    name: 'close calls',
    query: (from) => `select: id, metadata.model as model, scores.win_rate as win_rate
filter: scores.win_rate between 0.45 and 0.55 and scores.win_rate <> 0.5
from: ${from.everyExperiment}
sort: win_rate, id, model`,
    sql: `select id, model, win_rate from answers
      where win_rate between 0.45 and 0.55 and win_rate <> 0.5 order by win_rate, id, model`,
  },
  {
    name: 'and, or and not over nulls',
    query: (from) => `measures: count(1) as records
filter: NOT (scores.win_rate < 0.3 or metrics.judge_seconds > 2) and (metadata.annotator = 'x' or id < 'alpaca-0400')
from: ${from.everyExperiment}`,
    sql: `select count(*) as records from answers
      where not (win_rate < 0.3 or seconds > 2) and (annotator = 'x' or id < 'alpaca-0400')`,
  },
  {
    name: 'how long answers are',
    query: (from) => `dimensions: metadata.model as model
measures: avg(length(output)) as mean, max(length(output)) as longest,
  percentile(length(output), 0.95) as p95, sum(length(output) > 3000) as long
from: ${from.everyExperiment}
sort: mean desc`,
    sql: `select model, avg(length(output)) as mean, max(length(output)) as longest,
        quantile_cont(length(output), 0.95) as p95, sum(length(output) > 3000) as long
      from answers group by model order by mean desc`,
  },
  {
    name: 'the mean where the unjudged count as lost',
    query: (from) => `dimensions: experiment_id
measures: avg(coalesce(scores.win_rate, 0)) as mean
from: ${from.everyExperiment}
sort: experiment_id`,
    sql: `select experiment_id, avg(coalesce(win_rate, 0)) as mean
      from answers group by experiment_id order by experiment_id`,
  },
  {
    name: 'aggregates over nothing',
    query: (from) => `measures: count(1) as records, sum(scores.win_rate) as total,
  avg(scores.win_rate) as mean, max(id) as last, percentile(scores.win_rate, 0.5) as median
filter: metadata.model = 'no such model'
from: ${from.everyExperiment}`,
    sql: `select count(*) as records, sum(win_rate) as total, avg(win_rate) as mean, max(id) as last,
        quantile_cont(win_rate, 0.5) as median
      from answers where model = 'no such model'`,
  },
  {
    name: 'the records of a model that was relabeled',
    query: (from) => `dimensions: scores.win_rate = 0.25 as relabeled
measures: count(1) as records, min(id) as first, max(id) as last
from: ${from.experiments('alpaca-7b', 'phi-2')}
sort: relabeled`,
    sql: `select win_rate = 0.25 as relabeled, count(*) as records, min(id) as first, max(id) as last
      from answers where model in ('alpaca-7b', 'phi-2') group by relabeled order by relabeled`,
  },
]
