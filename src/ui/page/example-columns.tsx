/** What the table of an experiment shows of its examples. */
import { cost, duration, number, preview, score } from '../component/format.ts'
import type { PageColumn } from '../component/page-table.tsx'
import type { Partner } from '../service/experiment-rows.ts'
import { at, type Row } from '../service/query.ts'
import { Change } from './experiment-columns.tsx'

/** @param partners by the ids of rows: their examples in the base; undefined without a base */
export function exampleColumns(
  rows: readonly Row[],
  scoreNames: readonly string[],
  partners: ReadonlyMap<string, Partner> | undefined,
): readonly PageColumn<Row>[] {
  const has = (field: string) => rows.some((row) => row[field] !== null && row[field] !== undefined)
  return [
    { id: 'input', title: 'Input', width: 260, cell: (row) => preview(row.input) || '—' },
    { id: 'output', title: 'Output', width: 260, cell: outputOf },
    ...(has('expected')
      ? [
          {
            id: 'expected',
            title: 'Expected',
            width: 220,
            cell: (row: Row) => preview(row.expected),
          },
        ]
      : []),
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
    {
      id: 'duration',
      title: 'Duration',
      width: 92,
      isNumber: true,
      sorts: 'desc',
      cell: (row) => duration(at(row, 'metrics', 'duration')),
    },
    {
      id: 'tokens',
      title: 'Tokens',
      width: 80,
      isNumber: true,
      sorts: 'desc',
      cell: (row) => number(at(row, 'metrics', 'total_tokens')),
    },
    {
      id: 'cost',
      title: 'Cost',
      width: 80,
      isNumber: true,
      sorts: 'desc',
      cell: (row) => cost(at(row, 'metrics', 'estimated_cost')),
    },
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

function outputOf(row: Row) {
  return row.error === null || row.error === undefined ? (
    preview(row.output)
  ) : (
    <span class="bad">{preview(row.error)}</span>
  )
}

/** A shade behind the number, from bad to good, so that the eye finds the bad ones. */
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
