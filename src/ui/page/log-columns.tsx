/** What a table of traces or spans can show. */
import { cost, duration, number, preview, score, time } from '../component/format.ts'
import type { Column } from '../component/table.tsx'
import { at, type Row } from '../service/query.ts'

const fixed: readonly Column<Row>[] = [
  {
    id: 'created',
    title: 'Created',
    width: 150,
    cell: (row) => time(row.created),
    hint: (row) => String(row.created ?? ''),
  },
  {
    id: 'name',
    title: 'Name',
    width: 130,
    cell: (row) => preview(at(row, 'span_attributes', 'name')),
  },
  { id: 'input', title: 'Input', width: 300, cell: (row) => preview(row.input) },
  { id: 'output', title: 'Output', width: 300, cell: (row) => preview(row.output) },
  { id: 'expected', title: 'Expected', width: 200, cell: (row) => preview(row.expected) },
  {
    id: 'error',
    title: 'Error',
    width: 160,
    cell: (row) => <span class="bad">{preview(row.error)}</span>,
  },
  {
    id: 'duration',
    title: 'Duration',
    width: 90,
    isNumber: true,
    cell: (row) => duration(durationOf(row)),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 80,
    isNumber: true,
    cell: (row) => number(at(row, 'metrics', 'total_tokens') ?? at(row, 'metrics', 'tokens')),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 80,
    isNumber: true,
    cell: (row) => cost(at(row, 'metrics', 'estimated_cost')),
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 140,
    cell: (row) =>
      Array.isArray(row.tags) &&
      row.tags.map((tag) => (
        <span class="tag" key={String(tag)}>
          {String(tag)}
        </span>
      )),
  },
]

export function durationOf(row: Row): unknown {
  const logged = at(row, 'metrics', 'duration')
  if (typeof logged === 'number') return logged
  const [start, end] = [at(row, 'metrics', 'start'), at(row, 'metrics', 'end')]
  return typeof start === 'number' && typeof end === 'number' ? end - start : undefined
}

/** The fixed columns, then one for each score and each field of metadata that the rows have. */
export function logColumns(rows: readonly Row[]): Column<Row>[] {
  const scores = new Set<string>()
  const fields = new Set<string>()
  for (const row of rows.slice(0, 200)) {
    for (const name of keysOf(row.scores)) scores.add(name)
    for (const name of keysOf(row.metadata)) fields.add(name)
  }
  return [
    ...fixed,
    ...[...scores].sort().map(
      (name): Column<Row> => ({
        id: `scores.${name}`,
        title: name,
        width: 100,
        isNumber: true,
        cell: (row) => score(at(row, 'scores', name)),
      }),
    ),
    ...[...fields].sort().map(
      (name): Column<Row> => ({
        id: `metadata.${name}`,
        title: name,
        width: 130,
        cell: (row) => preview(at(row, 'metadata', name)),
      }),
    ),
  ]
}

/** Shown until somebody chooses. */
export function isShownAtFirst({ id }: Column<Row>): boolean {
  return (
    !['name', 'expected', 'cost'].includes(id) &&
    (!id.startsWith('metadata.') || id === 'metadata.model')
  )
}

function keysOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value)
    : []
}
