/** Asks which dataset records are added to, and which of their fields become its fields. */
import { useState } from 'preact/hooks'
import { writeExactJson } from '../../json/exact-number.ts'
import { FormDialog } from '../component/dialog.tsx'
import { ChoiceField, TextField, textOf } from '../component/field.tsx'
import { counted, oneLine } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import {
  addToDataset,
  type DatasetField,
  datasetFields,
  type FieldMap,
  fieldsFor,
  targetDataset,
} from '../service/bulk-change.ts'
import { listDatasets } from '../service/dataset.ts'
import { useLoaded } from '../service/load.ts'
import { firstRecord, type PickedRows, sizeOf } from '../service/picked-rows.ts'
import { useProject } from '../service/project.ts'
import { useRights } from '../service/rights.ts'
import { parts, pathOf } from '../state/location.ts'
import { runBulk } from './bulk-run.tsx'

export interface AddToDatasetProps {
  readonly projectName: string
  readonly rows: PickedRows
  readonly onClose: () => void
  /** Also where they could not be added. */
  readonly onDone?: () => void
}

/** What a field may be taken from, the usual choice first. */
const choices: Readonly<Record<DatasetField, readonly (readonly [from: string, title: string])[]>> =
  {
    input: [
      ['input', 'Input'],
      ['output', 'Output'],
      ['', 'Leave empty'],
    ],
    expected: [
      ['expected output', 'Expected, or else the output'],
      ['expected', 'Expected'],
      ['output', 'Output'],
      ['', 'Leave empty'],
    ],
    metadata: [
      ['metadata', 'Metadata'],
      ['', 'Leave empty'],
    ],
    tags: [
      ['tags', 'Tags'],
      ['', 'Leave empty'],
    ],
  }

/** By field of the dataset, where it is taken from: names with spaces between them. */
type Sources = Readonly<Record<DatasetField, string>>

const usualSources = Object.fromEntries(
  datasetFields.map((field) => [field, choices[field][0]![0]]),
) as unknown as Sources

function fieldMapOf(sources: Sources): FieldMap {
  const named = datasetFields.map((field) => {
    return [field, sources[field].split(' ').filter(Boolean)] as const
  })
  return Object.fromEntries(named) as unknown as FieldMap
}

/** Stands for a dataset that is yet to be made. */
const another = 'new'

export function AddToDataset({ projectName, rows, onClose, onDone }: AddToDatasetProps) {
  const project = useProject(projectName)
  const projectId = project.data?.id
  const rights = useRights('project', projectId)
  const datasets = useLoaded(projectId && `datasets ${projectId}`, (signal) =>
    listDatasets(projectId!, signal),
  )
  const [chosen, setChosen] = useState<string>()
  const [sources, setSources] = useState(usualSources)
  const mayCreate = rights.data?.within.dataset?.includes('create') ?? false
  const error = project.error ?? rights.error ?? datasets.error
  const count = sizeOf(rows.picked)
  const offered = [
    ...(datasets.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ...(mayCreate ? [{ value: another, label: 'New dataset…' }] : []),
  ]
  const target = chosen ?? offered[0]?.value
  const add = async (form: FormData) => {
    const existing = datasets.data?.find(({ id }) => id === target)
    const made = { newName: textOf(form, 'name') }
    const dataset = await targetDataset(projectId!, existing ?? made)
    const fields = fieldMapOf(sources)
    onClose()
    const [, organization = ''] = parts.value
    await runBulk({
      title: `Adding to ${dataset.name}`,
      past: 'Added',
      one: 'record',
      where: ` to ${dataset.name}`,
      skipped: 'there already',
      link: {
        title: 'Open the dataset',
        to: pathOf('app', organization, 'p', projectName, 'datasets', dataset.name),
      },
      work: (watch) => addToDataset(rows, dataset, fields, watch),
      ...(onDone && { onDone }),
    })
  }
  return (
    <FormDialog
      title={`Add ${counted(count, rows.kind)} to a dataset`}
      verb="Add"
      onClose={onClose}
      onSubmit={add}
    >
      {error ? (
        <Failure error={error} />
      ) : !datasets.data || !rights.data ? (
        <Loading what="the datasets" />
      ) : (
        <>
          <ChoiceField
            label="Dataset"
            name="dataset"
            choices={offered}
            value={target ?? ''}
            onChange={setChosen}
          />
          {target === another && <TextField label="Name" name="name" isRequired isFirst />}
          {datasetFields.map((field) => (
            <ChoiceField
              key={field}
              label={titles[field]}
              name={field}
              choices={choices[field].map(([value, label]) => ({ value, label }))}
              value={sources[field]}
              onChange={(from) => setSources({ ...sources, [field]: from })}
            />
          ))}
          <FirstOfThem rows={rows} fields={fieldMapOf(sources)} />
          <p class="hint">
            Each record keeps a link to where it comes from. Those that are in the dataset already
            are not added again.
          </p>
        </>
      )}
    </FormDialog>
  )
}

const allSources = [
  ...new Set(Object.values(choices).flatMap((each) => each.map(([from]) => from))),
]
  .flatMap((from) => from.split(' '))
  .filter(Boolean)

/** Shows what the first of the rows becomes. */
function FirstOfThem({ rows, fields }: { readonly rows: PickedRows; readonly fields: FieldMap }) {
  const select = ['id', ...new Set(allSources)].join(', ')
  const first = useLoaded('first of them', (signal) => firstRecord(rows, select, signal))
  if (!first.data) return null
  const values = fieldsFor(first.data, fields)
  return (
    <section class="first-of-them" aria-label="The first of them">
      <p class="hint">The first of them becomes:</p>
      {values.length === 0 ? (
        <p class="hint">Records would be empty.</p>
      ) : (
        <dl>
          {values.map(([field, value]) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>
                <code>{exactly(value)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

/** As it is stored, and not what is said in it. */
function exactly(value: unknown): string {
  return oneLine(typeof value === 'string' ? value : writeExactJson(value), 160)
}

const titles: Readonly<Record<DatasetField, string>> = {
  input: 'Input from',
  expected: 'Expected from',
  metadata: 'Metadata from',
  tags: 'Tags from',
}
