/** What the table of an experiment shows of its examples. */
import { cost, duration, number, preview, score } from '../component/format.ts'
import type { PageColumn } from '../component/page-table.tsx'
import type { Partner } from '../service/experiment-rows.ts'
import { at, type Row } from '../service/query.ts'
import { Change } from './experiment-columns.tsx'

export interface ExampleColumnOptions {
  readonly scoreNames: readonly string[]
  /** By the ids of rows: their examples in the base; undefined without a base. */
  readonly partners: ReadonlyMap<string, Partner> | undefined
  /** An example is open beside the table, and shows its long values. */
  readonly isNarrow: boolean
}

export function exampleColumns(
  rows: readonly Row[],
  { scoreNames, partners, isNarrow }: ExampleColumnOptions,
): readonly PageColumn<Row>[] {
  const has = (field: string) => rows.some((row) => row[field] !== null && row[field] !== undefined)
  return [
    {
      id: 'input',
      title: 'Input',
      width: isNarrow ? 200 : 250,
      cell: (row) => preview(row.input) || '–',
    },
    ...(isNarrow ? [] : [{ id: 'output', title: 'Output', width: 250, cell: outputOf }]),
    ...scoreNames.map(
      (name): PageColumn<Row> => ({
        id: `score.${name}`,
        title: name,
        width: 118,
        isNumber: true,
        sorts: 'asc',
        cell: (row) => (
          <ScoreCell
            value={at(row, 'scores', name)}
            change={partners?.get(String(row.id))?.scoreChanges[name]}
          />
        ),
      }),
    ),
    ...(has('expected') && !isNarrow
      ? [
          {
            id: 'expected',
            title: 'Expected',
            width: 220,
            cell: (row: Row) => preview(row.expected),
          },
        ]
      : []),
    ...measuredColumns.filter(({ metric }) =>
      rows.some((row) => typeof at(row, 'metrics', metric) === 'number'),
    ),
    {
      id: 'tags',
      title: 'Tags',
      width: 120,
      cell: (row) =>
        Array.isArray(row.tags) &&
        row.tags.map((tag) => (
          <span class="tag" key={String(tag)}>
            {String(tag)}
          </span>
        )),
    },
  ]
}

/** Shown where a row has the metric. */
const measuredColumns: readonly (PageColumn<Row> & { readonly metric: string })[] = [
  {
    id: 'duration',
    metric: 'duration',
    title: 'Duration',
    width: 92,
    isNumber: true,
    sorts: 'desc',
    cell: (row) => duration(at(row, 'metrics', 'duration')),
  },
  {
    id: 'tokens',
    metric: 'total_tokens',
    title: 'Tokens',
    width: 80,
    isNumber: true,
    sorts: 'desc',
    cell: (row) => number(at(row, 'metrics', 'total_tokens')),
  },
  {
    id: 'cost',
    metric: 'estimated_cost',
    title: 'Cost',
    width: 80,
    isNumber: true,
    sorts: 'desc',
    cell: (row) => cost(at(row, 'metrics', 'estimated_cost')),
  },
]

/** Of groups, or whatever else a query gives that are no examples. */
export function plainColumns(rows: readonly Row[]): readonly PageColumn<Row>[] {
  const names = [...new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)))]
  return names.map((name) => {
    const isNumber = rows.some((row) => typeof row[name] === 'number')
    const cell = (row: Row) => (isNumber ? number(row[name]) : preview(row[name]))
    return { id: name, title: name, width: isNumber ? 130 : 240, isNumber, cell }
  })
}

function outputOf(row: Row) {
  return row.error === null || row.error === undefined ? (
    preview(row.output)
  ) : (
    <span class="bad">{preview(row.error)}</span>
  )
}

/** Low scores are marked, so that the eye finds them. */
export function ScoreCell({
  value,
  change,
}: {
  readonly value: unknown
  readonly change?: number | undefined
}) {
  if (typeof value !== 'number') return null
  return (
    <>
      {change !== undefined && change !== 0 && <Change value={change} />}{' '}
      <span class={value < 0.4 ? 'low' : undefined}>{score(value)}</span>
    </>
  )
}
