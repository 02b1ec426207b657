/** Ids of what the demonstration wrote; the one of logs is the project's. */
export interface DemoObjects {
  readonly logs: string
  readonly experiments: readonly string[]
  readonly dataset: string
}

export interface DemoQuery {
  readonly title: string
  readonly query: string
}

/** Questions that users of such records ask. */
export function demoQueries({ logs, experiments, dataset }: DemoObjects): DemoQuery[] {
  const all = experiments.map((id) => `'${id}'`).join(', ')
  return [
    {
      title: 'Which experiment answers best?',
      query: [
        'dimensions: experiment_id',
        'measures: avg(scores.Factuality) as factuality, avg(scores.Relevance) as relevance, count(1) as spans',
        `from: experiment(${all})`,
        'filter: is_root',
        'sort: factuality desc',
      ].join('\n'),
    },
    {
      title: 'What does each model use, and how long do people wait for its first word?',
      query: [
        'dimensions: metadata.model as model',
        'measures: count(1) as calls, sum(metrics.tokens) as tokens,',
        '  percentile(metrics.time_to_first_token, 0.95) as first_token_p95',
        `from: project_logs('${logs}')`,
        "filter: span_attributes.type = 'llm'",
        'sort: tokens desc',
      ].join('\n'),
    },
    {
      title: 'How did traffic develop, day by day?',
      query: [
        'dimensions: day(created) as day',
        'measures: count(1) as traces, count_distinct(metadata.user_id) as users',
        `from: project_logs('${logs}')`,
        'filter: is_root',
        'sort: day desc',
        'limit: 7',
      ].join('\n'),
    },
    {
      title: 'Which calls were the most expensive?',
      query: [
        'select: created, metadata.model as model, metrics.tokens as tokens, metrics.estimated_cost as cost',
        `from: project_logs('${logs}')`,
        "filter: span_attributes.type = 'llm'",
        'sort: metrics.estimated_cost desc',
        'limit: 5',
      ].join('\n'),
    },
    {
      title: 'Which recent answers failed, or scored low on facts?',
      query: [
        'select: created, span_attributes.name as span, scores.Factuality as factuality, error',
        `from: experiment(${all})`,
        'filter: error is not null or (is_root and scores.Factuality < 0.1)',
        'limit: 5',
      ].join('\n'),
    },
    {
      title: 'Which hard questions about billing does the dataset have?',
      query: [
        'select: id, input.question as question, metadata.difficulty as difficulty',
        `from: dataset('${dataset}')`,
        "filter: metadata.category = 'billing' and metadata.difficulty >= 4",
        'limit: 5',
      ].join('\n'),
    },
  ]
}
