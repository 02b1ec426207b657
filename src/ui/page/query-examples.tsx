/** What to begin with where nothing is written yet. */
import { Empty } from '../component/notice.tsx'
import { quoted } from '../service/query.ts'

interface Example {
  readonly title: string
  readonly text: string
  /** Parts of the URL that say how the result is shown. */
  readonly shown: Readonly<Record<string, string>>
}

function examplesFor(project: string): readonly Example[] {
  const source = `project_logs(${quoted(project)})`
  return [
    {
      title: 'Latency per model by day',
      text: `dimensions: day(created) as day, metadata.model as model
measures: avg(metrics.end - metrics.start) as latency
from: ${source}
filter: span_attributes.type = 'llm'
sort: day`,
      shown: { show: 'plot', x: 'day', y: 'latency', series: 'model' },
    },
    {
      title: 'Calls, errors and cost per model',
      text: `dimensions: metadata.model as model
measures: count(1) as calls, count(error) as errors, sum(estimated_cost()) as cost
from: ${source}
filter: span_attributes.type = 'llm'
sort: calls desc`,
      shown: { show: 'table' },
    },
    {
      title: 'The slowest traces',
      text: `SELECT root_span_id, input, metrics.end - metrics.start AS seconds
FROM ${source}
WHERE is_root
ORDER BY seconds DESC
LIMIT 50`,
      shown: { show: 'table' },
    },
    {
      title: 'Which fields there are',
      text: `infer: *
from: ${source}`,
      shown: { show: 'table' },
    },
  ]
}

export function QueryExamples({
  project,
  onChoose,
}: {
  readonly project: string
  readonly onChoose: (text: string, shown: Example['shown']) => void
}) {
  return (
    <Empty title="Ask something">
      <p>
        Write a query in clauses or in SQL and run it with <kbd>Ctrl</kbd> <kbd>Enter</kbd>, or
        begin with one of these:
      </p>
      <ul class="examples">
        {examplesFor(project).map(({ title, text, shown }) => (
          <li key={title}>
            <button type="button" onClick={() => onChoose(text, shown)}>
              <strong>{title}</strong>
              <code>{text}</code>
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  )
}
