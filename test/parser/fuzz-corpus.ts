/** Texts that hold every construct of the language at least once; a fuzzer changes and joins them. */
import { readGoldenFiles } from '../support/golden-file.ts'

const expressions: readonly string[] = [
  'scores.Factuality > 0.5',
  'tags includes "triage" and NOT tags includes "triaged"',
  "input ILIKE '%hello%' or metadata.note like '%50\\% off%'",
  'metrics.tokens > (metadata.model = "gpt-4" ? 1000 : 500)',
  'any_span(is_root and error is not null) and not any_span(name = "x" and any_span(a))',
  "FILTER_SPANS(span_attributes.type = 'score') AND metrics.duration > 1",
  "coalesce(metadata.env, 'x') != 'prod' and metadata.env <!=> 'prod'",
  '"_async"."functions"."key"."attempts" > 0',
  "classifications.Task[0].label = 'Creating' and tags[-1] = 'z'",
  "root_span_id IN ['a', 'b'] and type not in ('llm', 'tool',)",
  "scores['Decision quality'] between 50% and 1 and a not between -1 and +1",
  "metadata->>'turn_id' = '7' and (metrics->>'cost')::float > 1e-3 and a->'b'->0 is true",
  'input ~ "^a.*" or output !~* \'b$\' or a ~* b or c !~ d',
  "created > now() - interval '1 day 2 hours' or created >= current_date - interval 3",
  "case metadata.kind when 'a' then 1 when 'b' then 2 else null end",
  'CASE WHEN a IS NOT FALSE THEN b WHEN c ISNULL THEN d END.e[0]',
  "MATCH(input, output) AGAINST ('search term') and not search('x')",
  "cast(output as varchar) not like 'x%' and isnotnull(a) and neg b < c",
  'json_extract(metadata.results, \'scores[0]\')[0]."a b".c is distinct from {k: [1, {"j": null}]}',
  '(a add b) mul -c % 7 div 2.5 sub 12345678901234567890',
  'count(distinct a, b) filter (where c) / count(*) > percentile(d, 0.95)',
  '`select` = \'it\'\'s\' and "q" != "a\\n\\u00e9" -- done',
]

const queries: readonly string[] = [
  `select: *                           -- fields
from: project_logs('p') spans
filter: scores.Factuality > 0.8
sample: 25% seed 7
sort: created desc
limit: 100
cursor: 'aQJI5+sNAAA'`,
  'select: * | from: project_logs(\'p\') summary | filter: created >= "2025-01-01" | preview_length: 125 | sort: _pagination_key DESC | offset: 50',
  `dimensions: metadata.model as model, day(created) as date
measures: count(1) as total, avg(scores.F) as "avg score",
from: experiment('a', 'b', shape => 'traces')
pivot: total, max(a) as m for model
final_filter: total > 5
final_dimensions: date
final_measures: sum(total)`,
  "select: tags[0] AS tag, count(1) AS n | from: project_logs('p') | dimensions: 1 | sort: n DESC",
  `select: distinct a, * replace (round(b, 2) as b)
from: (
  select: *, c as d
  from: dataset("x") summary
  unpivot: scores as (name, value), tags as tag
  filter: d and
    e
) | limit: 1`,
  "infer: metadata, scores | from: project_logs('p') | inference_budget: 10 | span_filter: a | trace_filter: b",
  "select: id | from: experiment('a', 'b') | comparison_key: [input.q, metadata.c] | weighted_scores: (a + b) / 2 as ab | custom_columns: a.b as c",
  "SELECT * FROM project_logs('p', shape => 'spans') WHERE scores.F > 0.8 AND created > now() - interval 7 day ORDER BY created DESC LIMIT 100 OFFSET 'c' SETTINGS preview_length = -1",
  "SELECT metadata.model AS model, avg(s.F) FROM project_logs('p') WHERE a GROUP BY 1, day(created) HAVING count(1) > 100 ORDER BY 2 DESC, model",
  "SELECT DISTINCT score, COUNT(*) n FROM experiment('e') UNPIVOT (value FOR score IN (scores)) UNPIVOT (tag FOR _ IN (tags)) TABLESAMPLE 25% REPEATABLE (7) GROUP BY score",
  "SELECT * FROM experiment('e') PIVOT(SUM(value) AS total, COUNT(1) FOR score IN (ANY)) WHERE a IS NULL",
  "WITH t AS (SELECT a FROM dataset('d')), u AS (SELECT * FROM t WHERE a > 1) SELECT a, count(*) FROM u GROUP BY a",
  "SELECT a FROM (SELECT a, b AS c FROM dataset('d') LIMIT 5) WHERE c IN (1, 2);",
]

/** Words and signs that a mutation puts anywhere. */
export const fragments: readonly string[] = [
  ...'( ) [ ] { } , . : ? | * + - / % < > = ~ ! ; & # \\ " \' `'.split(' '),
  ...'<=> <!=> != >= -> ->> :: => ~* !~* -- || {{ }} (( ))'.split(' '),
  ...'and or not in is like between as when then else end case cast distinct interval'.split(' '),
  ...'null true false filter where from select dimensions limit sort for match against'.split(' '),
  ...'group by order union join with having settings pivot unpivot tablesample replace'.split(' '),
  ...'0 1 -1 1.5 50% 1e999 9007199254740993 12abc .5 ..'.split(' '),
  ...["'a'", '"b"', '`c`', "''", '"\\u12"', "'\\", 'a.b', 'f(', 'a[0]', "interval '1 day'"],
  ...['select: ', '| from: ', '\nfilter: ', "dataset('d')", '\n', '\r\n', '\t', '\0', '\ud800'],
  ...['😀', 'Größe', '\u00a0', '\ufeff', '“', 'ﬀ', '\u202e', '__proto__', 'constructor'],
]

/** Every text that mutations start from: those above, and the queries of the golden files. */
export function readCorpus(): string[] {
  const golden = readGoldenFiles().flatMap(({ blocks }) =>
    blocks.filter(({ kind }) => kind === 'query').map(({ body }) => body.join('\n')),
  )
  return [...expressions, ...queries, ...new Set(golden)]
}
