/** The examples of an experiment by the values of a field, with the means of each group. */
import { cost, counted, duration, number, preview, score } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import { type PageColumn, PageTable } from '../component/page-table.tsx'
import { type Group, groupsOf } from '../service/experiment-rows.ts'
import { hasValue } from '../service/field-path.ts'
import { useLoaded } from '../service/load.ts'
import { setParameters } from '../state/location.ts'

export interface ExperimentGroupsProps {
  /** The query of the examples. */
  readonly text: string
  readonly field: string
  readonly filter: string | null
}

export function ExperimentGroups({ text, field, filter }: ExperimentGroupsProps) {
  const { data, error, reload } = useLoaded(`groups ${text} ${field}`, (signal) =>
    groupsOf(text, field, signal),
  )
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="groups" />
  const open = ({ value }: Group) => {
    const condition = hasValue(field, value)
    const q = filter === null ? condition : `(${filter}) and ${condition}`
    setParameters({ q, group: undefined, page: undefined }, { replace: false })
  }
  return (
    <PageTable
      label={`Groups by ${field}`}
      columns={columnsOf(field, data)}
      rows={data}
      rowId={({ value }) => JSON.stringify(value)}
      onOpen={open}
      foot={
        <p class="hint" role="status">
          {counted(data.length, 'group')}; open one to see its examples
        </p>
      }
    />
  )
}

function columnsOf(field: string, groups: readonly Group[]): readonly PageColumn<Group>[] {
  const names = [...new Set(groups.flatMap(({ scores }) => Object.keys(scores)))].sort()
  return [
    { id: 'value', title: field, width: 240, cell: ({ value }) => preview(value) || 'none' },
    {
      id: 'examples',
      title: 'Examples',
      width: 96,
      isNumber: true,
      cell: ({ examples }) => number(examples),
    },
    ...names.map(
      (name): PageColumn<Group> => ({
        id: `score.${name}`,
        title: name,
        width: 118,
        isNumber: true,
        cell: ({ scores }) => score(scores[name]),
      }),
    ),
    {
      id: 'duration',
      title: 'Duration',
      width: 92,
      isNumber: true,
      cell: (group) => duration(group.duration),
    },
    {
      id: 'tokens',
      title: 'Tokens',
      width: 96,
      isNumber: true,
      cell: ({ tokens }) => number(tokens),
    },
    ...(groups.some((group) => typeof group.cost === 'number')
      ? [
          {
            id: 'cost',
            title: 'Cost',
            width: 84,
            isNumber: true,
            cell: (group: Group) => cost(group.cost),
          },
        ]
      : []),
    {
      id: 'errors',
      title: 'Errors',
      width: 80,
      isNumber: true,
      cell: ({ errors }) => number(errors),
    },
  ]
}
