/** Asks which dataset records are added to, and which of their fields become its fields. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { ChoiceField, TextField, textOf } from '../component/field.tsx'
import { counted } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import {
  addToDataset,
  type DatasetField,
  datasetFields,
  type FieldMap,
  targetDataset,
} from '../service/bulk-change.ts'
import { listDatasets } from '../service/dataset.ts'
import { useLoaded } from '../service/load.ts'
import { type PickedRows, sizeOf } from '../service/picked-rows.ts'
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
    const fields = Object.fromEntries(
      datasetFields.map((field) => [field, textOf(form, field).split(' ').filter(Boolean)]),
    ) as unknown as FieldMap
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
            />
          ))}
          <p class="hint">
            Each record keeps a link to where it comes from. Those that are in the dataset already
            are not added again.
          </p>
        </>
      )}
    </FormDialog>
  )
}

const titles: Readonly<Record<DatasetField, string>> = {
  input: 'Input from',
  expected: 'Expected from',
  metadata: 'Metadata from',
  tags: 'Tags from',
}
