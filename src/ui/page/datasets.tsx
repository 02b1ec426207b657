/** The datasets of a project. */
import type { Permission } from '../../catalog/permission.ts'
import { CopyButton } from '../component/copy-button.tsx'
import { FormDialog } from '../component/dialog.tsx'
import { LongTextField, TextField, textOf } from '../component/field.tsx'
import { age, counted, number, time } from '../component/format.ts'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { type PageColumn, PageTable, readOrder, writeOrder } from '../component/page-table.tsx'
import {
  changeDataset,
  createDataset,
  type Dataset,
  type DatasetTotals,
  datasetTotals,
  deleteDataset,
  listDatasets,
} from '../service/dataset.ts'
import { timeOf } from '../service/dataset-version.ts'
import { useLoaded } from '../service/load.ts'
import { type Project, useProject } from '../service/project.ts'
import { useRights } from '../service/rights.ts'
import { base, goTo, parameter, parts, pathOf, setParameters } from '../state/location.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { ChosenObjects, useChosen } from './chosen-objects.tsx'

interface ListedDataset extends Dataset {
  readonly totals: DatasetTotals | undefined
}

export function Datasets({ projectName }: { readonly projectName: string }) {
  const project = useProject(projectName)
  if (project.error) return <Failure error={project.error} retry={project.reload} />
  if (!project.data) return <Loading what={projectName} />
  return <DatasetList project={project.data} />
}

function DatasetList({ project }: { readonly project: Project }) {
  const { data, error, reload } = useLoaded(`datasets ${project.id}`, async (signal) => {
    const datasets = await listDatasets(project.id, signal)
    const totals = await datasetTotals(
      datasets.map(({ id }) => id),
      signal,
    )
    return datasets.map(
      (dataset): ListedDataset => ({ ...dataset, totals: totals.get(dataset.id) }),
    )
  })
  const rights = useRights('project', project.id)
  const may = (permission: Permission) => rights.data?.within.dataset?.includes(permission) ?? false
  const wanted = (parameter('q') ?? '').trim().toLowerCase()
  const order = readOrder(parameter('sort')) ?? { id: 'created', isDescending: true }
  const chosen = useChosen()
  if (error) return <Failure error={error} retry={reload} />
  if (!data) return <Loading what="datasets" />
  const chosenItems = data.filter(({ id }) => chosen.ids.has(id))
  const found = data.filter(({ name }) => name.toLowerCase().includes(wanted))
  const sorted = values[order.id] ?? values.created!
  const shown = found.toSorted((a, b) => {
    const [left, right] = [sorted(a), sorted(b)]
    const difference = left < right ? -1 : left > right ? 1 : 0
    return order.isDescending ? -difference : difference
  })
  return (
    <div class="experiments">
      <header class="page-head">
        <h1>Datasets</h1>
        <div class="tools">
          {data.length > 0 && (
            <input
              type="search"
              placeholder="Find by name"
              aria-label="Find a dataset by name"
              value={parameter('q') ?? ''}
              onInput={(event) => setParameters({ q: event.currentTarget.value })}
            />
          )}
          {may('create') && (
            <button type="button" class="primary" onClick={() => openWindow('new')}>
              New dataset
            </button>
          )}
        </div>
      </header>
      {data.length === 0 ? (
        <FirstDataset projectName={project.name} />
      ) : (
        <>
          {chosenItems.length > 0 && (
            <ChosenObjects
              kind="dataset"
              projectId={project.id}
              items={chosenItems}
              fields={
                <LongTextField
                  label="Description"
                  name="description"
                  rows={2}
                  value={chosenItems[0]?.description ?? ''}
                />
              }
              rename={(id, form) => {
                const description = textOf(form, 'description')
                return changeDataset(id, { name: textOf(form, 'name'), description })
              }}
              remove={deleteDataset}
              warning="All records and versions are deleted, too. This cannot be undone."
              onDone={() => {
                chosen.choose(new Set())
                reload()
              }}
              onClear={() => chosen.choose(new Set())}
            />
          )}
          <PageTable
            label="Datasets"
            columns={columns}
            rows={shown}
            rowId={({ id }) => id}
            rowName={({ name }) => name}
            linkOf={({ name }) => pathOf(...parts.value.slice(0, 5), name)}
            order={order}
            onOrder={(next) => setParameters({ sort: writeOrder(next) })}
            {...((may('update') || may('delete')) && {
              chosen: chosen.ids,
              onChoose: chosen.choose,
            })}
            foot={
              <p class="hint" role="status">
                {counted(shown.length, 'dataset')}
              </p>
            }
          />
        </>
      )}
      {may('create') && openedOf('new') && (
        <FormDialog
          title="New dataset"
          verb="Create"
          onClose={closeWindow}
          onSubmit={async (form) => {
            const name = textOf(form, 'name')
            await createDataset(project.id, name, textOf(form, 'description'))
            goTo(pathOf(...parts.value.slice(0, 5), name))
          }}
        >
          <TextField label="Name" name="name" isRequired isFirst />
          <LongTextField label="Description" name="description" rows={2} />
        </FormDialog>
      )}
    </div>
  )
}

const values: Readonly<Record<string, (dataset: ListedDataset) => number | string>> = {
  name: ({ name }) => name.toLowerCase(),
  records: ({ totals }) => totals?.records ?? 0,
  changed: ({ totals, created }) =>
    totals ? timeOf(totals.version).toISOString() : (created ?? ''),
  created: ({ created }) => created ?? '',
}

const columns: readonly PageColumn<ListedDataset>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 260,
    sorts: 'asc',
    cell: ({ name }) => <strong>{name}</strong>,
    hint: ({ name }) => name,
  },
  {
    id: 'records',
    title: 'Records',
    width: 100,
    isNumber: true,
    sorts: 'desc',
    cell: ({ totals }) => number(totals?.records ?? 0),
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 120,
    sorts: 'desc',
    cell: ({ totals }) => (totals ? age(timeOf(totals.version).toISOString()) : ''),
    hint: ({ totals }) => (totals ? time(timeOf(totals.version).toISOString()) : ''),
  },
  {
    id: 'created',
    title: 'Created',
    width: 120,
    sorts: 'desc',
    cell: ({ created }) => age(created),
    hint: ({ created }) => time(created),
  },
  {
    id: 'description',
    title: 'Description',
    width: 300,
    cell: ({ description }) => description ?? '',
    hint: ({ description }) => description ?? '',
  },
]

function FirstDataset({ projectName }: { readonly projectName: string }) {
  const url = window.location.origin + base
  const lines = `// npm install braintrust
// export BRAINTRUST_API_URL=${url} BRAINTRUST_APP_URL=${url} BRAINTRUST_API_KEY=sk-…
import { initDataset } from 'braintrust'

const dataset = initDataset(${JSON.stringify(projectName)}, { dataset: 'questions' })
dataset.insert({ input: 'What is 2 + 2?', expected: '4' })
await dataset.flush()`
  return (
    <Empty title="No datasets yet" sketch="records">
      <p>
        A dataset holds inputs and the answers you expect. Select rows in the logs and add them,
        import a file, or write one from a program:
      </p>
      <pre>{lines}</pre>
      <CopyButton text={lines} />
    </Empty>
  )
}
