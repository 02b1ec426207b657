/**
 * `bt cost` is in no version on npm. These are the shapes of what it asks: one query of a project with
 * all its sources, whose groups are expressions that are written twice.
 */

const usage = [
  'prompt_tokens',
  'completion_tokens',
  'prompt_cached_tokens',
  'prompt_cache_creation_tokens',
]
const isUsed = `(${usage.map((name) => `metrics.${name} IS NOT NULL`).join(' OR ')})`

const isUnpriced =
  "estimated_cost() IS NULL AND created >= '2020-01-01T00:00:00Z' AND " +
  `created < '2100-01-01T00:00:00Z' AND ${isUsed}`

const input =
  'GREATEST(0, COALESCE(metrics.prompt_tokens, 0) - COALESCE(metrics.prompt_cached_tokens, 0))'

const measures = [
  `COUNT(CASE WHEN estimated_cost() IS NOT NULL OR metadata.model IS NOT NULL OR ${isUsed} THEN 1 END) AS candidate_spans`,
  'COUNT(estimated_cost()) AS logged_priced_spans',
  'SUM(estimated_cost()) AS logged_cost',
  `COUNT(CASE WHEN estimated_cost() IS NULL AND ${isUsed} THEN 1 END) AS unpriced_token_spans`,
  `COUNT(CASE WHEN ${isUnpriced} THEN 1 END) AS p0_spans`,
  `SUM(CASE WHEN ${isUnpriced} THEN ${input} ELSE 0 END) AS p0_uncached_input_tokens`,
]

const source =
  "CASE WHEN experiment_id IS NOT NULL THEN 'experiments' " +
  "WHEN span_attributes.purpose = 'scorer' THEN 'topics' ELSE 'logs' END"

const range = "created >= '2020-01-01T00:00:00Z'\n  AND created < '2100-01-01T00:00:00Z'"

const isLog =
  "(experiment_id IS NULL AND (span_attributes.purpose IS NULL OR span_attributes.purpose != 'scorer'))"

/** Over three calls that cost 0.0035 each. */
export function costQueries(project: string): { query: string; answer: object[] }[] {
  const by = (...groups: [expression: string, name: string][]) =>
    `SELECT\n  ${[...groups.map((group) => group.join(' AS ')), ...measures].join(',\n  ')}\n` +
    `FROM project('${project}', shape => 'spans')\nWHERE ${range}\n  AND (${isLog})\n` +
    `  AND span_attributes.type IN ('llm')\nGROUP BY ${groups.map(([expression]) => expression)}`
  const whole = {
    candidate_spans: 3,
    logged_priced_spans: 3,
    unpriced_token_spans: 0,
    p0_spans: 0,
    p0_uncached_input_tokens: 0,
  }
  const owner = 'span_attributes.created_by_user_id'
  const unowned = `CASE WHEN ${owner} IS NULL THEN root_span_id ELSE NULL END`
  return [
    { query: by(['metadata.model', 'model']), answer: [{ ...whole, model: 'gpt-4o' }] },
    {
      query: by([source, 'source'], ['day(created)', 'day']),
      answer: [
        { ...whole, source: 'logs', day: `${new Date().toISOString().slice(0, 10)}T00:00:00Z` },
      ],
    },
    {
      query: `${by([owner, 'user'], [unowned, 'attribution_trace'])} ORDER BY attribution_trace`,
      answer: [1, 2, 3].map((n) => ({
        user: null,
        attribution_trace: `trace-${n}`,
        candidate_spans: 1,
      })),
    },
  ]
}
