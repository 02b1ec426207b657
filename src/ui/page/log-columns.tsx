/** What a table of traces or spans can show. */
import { cost, duration, number, preview, score, time } from '../component/format.ts'
import { Marked, nothingSought, Snippet, type Sought } from '../component/marked.tsx'
import type { Column } from '../component/table-column.ts'
import { namesIn } from '../service/cut-json.ts'
import { at, type Row } from '../service/query.ts'
import { durationOf } from '../service/span-facts.ts'

/** A column of the logs, and what it is sorted by, in the query language. */
export interface LogColumn extends Column<Row> {
  readonly sortBy?: string
}

export interface ColumnOptions {
  readonly rowsAre: 'traces' | 'spans'
  /** What was looked for, which cells mark. */
  readonly sought: readonly Sought[]
  /** Narrows the search to what has a tag. */
  readonly onTag: (tag: string) => void
}

function fixedColumns({ rowsAre, sought, onTag }: ColumnOptions): readonly LogColumn[] {
  const isTraces = rowsAre === 'traces'
  const text = (value: unknown, length: number) => (
    <Snippet text={preview(value)} sought={sought} length={length} />
  )
  return [
    {
      id: 'created',
      title: 'Created',
      width: 140,
      sortBy: 'created',
      cell: (row) => time(row.created),
      hint: (row) => String(row.created ?? ''),
    },
    {
      id: 'name',
      title: 'Name',
      width: 130,
      sortBy: 'span_attributes.name',
      cell: (row, length) => text(at(row, 'span_attributes', 'name'), length),
    },
    {
      id: 'type',
      title: 'Type',
      width: 80,
      sortBy: 'span_attributes.type',
      cell: (row) => preview(at(row, 'span_attributes', 'type')),
    },
    { id: 'input', title: 'Input', width: 270, cell: (row, length) => text(row.input, length) },
    { id: 'output', title: 'Output', width: 270, cell: (row, length) => text(row.output, length) },
    {
      id: 'expected',
      title: 'Expected',
      width: 200,
      cell: (row, length) => text(row.expected, length),
    },
    {
      id: 'error',
      title: 'Error',
      width: 160,
      cell: (row) => <Problem row={row} sought={sought} />,
    },
    {
      id: 'duration',
      title: 'Duration',
      width: 90,
      isNumber: true,
      sortBy: isTraces ? 'metrics.duration' : 'metrics.end - metrics.start',
      cell: (row) => duration(durationOf(row)),
    },
    {
      id: 'tokens',
      title: 'Tokens',
      width: 80,
      isNumber: true,
      sortBy: 'metrics.total_tokens',
      cell: (row) => number(at(row, 'metrics', 'total_tokens') ?? at(row, 'metrics', 'tokens')),
    },
    {
      id: 'cost',
      title: 'Cost',
      width: 80,
      isNumber: true,
      sortBy: 'metrics.estimated_cost',
      cell: (row) => cost(at(row, 'metrics', 'estimated_cost')),
    },
    ...(isTraces
      ? ([
          {
            id: 'llm_calls',
            title: 'Model calls',
            width: 100,
            isNumber: true,
            sortBy: 'metrics.llm_calls',
            cell: (row) => number(at(row, 'metrics', 'llm_calls')),
          },
          {
            id: 'errors',
            title: 'Errors',
            width: 80,
            isNumber: true,
            sortBy: 'metrics.errors',
            cell: (row) => number(at(row, 'metrics', 'errors')),
          },
        ] satisfies LogColumn[])
      : []),
    {
      id: 'tags',
      title: 'Tags',
      width: 160,
      cell: (row) => <Tags tags={row.tags} onTag={onTag} />,
    },
  ]
}

/** The message of an error; of a trace whose own span has none, that one of its spans has. */
function Problem({ row, sought }: { readonly row: Row; readonly sought: readonly Sought[] }) {
  const own = preview(row.error)
  if (own !== '') {
    return (
      <span class="bad">
        <Marked text={own} sought={sought} />
      </span>
    )
  }
  return at(row, 'span_type_info', 'has_error') === true ? <span class="bad">in a span</span> : null
}

function Tags({ tags, onTag }: { readonly tags: unknown; readonly onTag: (tag: string) => void }) {
  if (!Array.isArray(tags)) return null
  return tags.map((tag) => (
    <button
      type="button"
      class="tag"
      key={String(tag)}
      tabIndex={-1}
      title="Find what has this tag"
      onClick={() => onTag(String(tag))}
    >
      {String(tag)}
    </button>
  ))
}

/**
 * The fixed columns, then one for each score and each field of metadata that the rows have.
 *
 * @param wanted ids of columns that there are in any case
 */
export function logColumns(
  rows: readonly Row[],
  wanted: readonly string[],
  options: ColumnOptions,
): LogColumn[] {
  const scores = new Set<string>()
  const fields = new Set<string>()
  for (const id of wanted) {
    const { root, name } = memberOf(id) ?? {}
    if (root !== undefined && name !== undefined) (root === 'scores' ? scores : fields).add(name)
  }
  for (const row of rows) {
    for (const name of namesIn(row.scores)) scores.add(name)
    for (const name of namesIn(row.metadata)) fields.add(name)
  }
  return [
    ...fixedColumns(options),
    ...[...scores].sort().map(scoreColumn),
    ...[...fields].sort().map((name) => metadataColumn(name, options.sought)),
  ].map((column) => ({ ...column, isSortable: column.sortBy !== undefined }))
}

function scoreColumn(name: string): LogColumn {
  return {
    id: `scores.${name}`,
    title: name,
    width: 100,
    isNumber: true,
    sortBy: pathOf('scores', name),
    cell: (row) => score(at(row, 'scores', name)),
  }
}

function metadataColumn(name: string, sought: readonly Sought[]): LogColumn {
  const id = `metadata.${name}`
  return {
    id,
    title: name,
    description: id,
    width: 130,
    sortBy: pathOf('metadata', name),
    cell: (row, length) => (
      <Snippet
        text={preview(row[id] ?? at(row, 'metadata', name))}
        sought={sought}
        length={length}
      />
    ),
  }
}

/** What columns of metadata are asked for by themselves, as the rest of metadata may be cut. */
export function selectedFields(columns: readonly string[] | undefined): string[] {
  const fields = (columns ?? ['metadata.model']).flatMap((id) => {
    const { root, name } = memberOf(id) ?? {}
    if (root !== 'metadata' || name === undefined) return []
    return [`${pathOf(root, name)} as ${nameInQuotes(id)}`]
  })
  // In one order, so that moving a column asks for nothing.
  return fields.sort()
}

/** What a column of scores or metadata is of; undefined for other columns. */
export function memberOf(id: string) {
  const [, root, name] = /^(scores|metadata)\.(.+)$/s.exec(id) ?? []
  return root === undefined || name === undefined ? undefined : { root, name }
}

/** A path in the query language; other names than plain ones are quoted. */
function pathOf(root: string, name: string): string {
  return `${root}.${/^[a-z_]\w*$/i.test(name) ? name : nameInQuotes(name)}`
}

function nameInQuotes(name: string): string {
  return `"${name.replace(/["\\]/g, '\\$&')}"`
}

/** What a column is sorted by, whether rows have it or not; undefined if it cannot be. */
export function sortExpression(id: string, rowsAre: ColumnOptions['rowsAre']): string | undefined {
  const member = memberOf(id)
  if (member) return pathOf(member.root, member.name)
  const columns = fixedColumns({ rowsAre, sought: nothingSought, onTag: () => undefined })
  return columns.find((column) => column.id === id)?.sortBy
}

/** Columns for rows that are no records: whatever a query selects, measures and groups by. */
export function resultColumns(rows: readonly Row[]): LogColumn[] {
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  const isNumber = (name: string) => rows.some((row) => typeof row[name] === 'number')
  // What rows are grouped by comes before what is measured of them.
  const ordered = [...names].sort((a, b) => Number(isNumber(a)) - Number(isNumber(b)))
  return ordered.map((name): LogColumn => {
    const show = isNumber(name) ? number : preview
    const cell = (row: Row) => show(row[name])
    return { id: name, title: name, width: 180, isNumber: isNumber(name), cell }
  })
}

const usual = [
  'created',
  'input',
  'output',
  'error',
  'metadata.model',
  'duration',
  'tokens',
  'tags',
]

/** Ids of the columns that are shown until somebody chooses: of results all, of records also all scores. */
export function usualColumns(available: readonly LogColumn[], isRecords: boolean): string[] {
  const ids = available.map(({ id }) => id)
  if (!isRecords) return ids
  const first = usual.filter((id) => ids.includes(id))
  return [...first, ...ids.filter((id) => id.startsWith('scores.'))]
}
