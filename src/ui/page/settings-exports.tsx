/** Exports that projects make by themselves: what, where to, how often, and how they are. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { ChoiceField, LongTextField, TextField, textOf } from '../component/field.tsx'
import { age, bytes, counted, duration, time } from '../component/format.ts'
import { LineAction } from '../component/list-table.tsx'
import { tellFailure } from '../component/toast.tsx'
import {
  type Export,
  type ExportConfiguration,
  listExports,
  rewindExport,
  runExport,
  saveExport,
} from '../service/export.ts'
import { useLoaded, useReloadWhile } from '../service/load.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { SettingsAutomations } from './settings-automations.tsx'

const contents = [
  { value: 'log_spans', label: 'Spans' },
  { value: 'log_traces', label: 'Traces, a row each' },
  { value: 'btql_query', label: 'Rows of a query' },
]

const formats = [
  { value: 'parquet', label: 'Parquet' },
  { value: 'jsonl', label: 'JSON lines' },
]

const intervals = [
  { value: '300', label: 'Every 5 minutes' },
  { value: '3600', label: 'Hourly' },
  { value: '86400', label: 'Daily' },
]

const statuses = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
]

export function SettingsExports() {
  const loaded = useLoaded('exports', listExports)
  const open = openedOf('rewind-export')
  const rewound = loaded.data?.exports.find(({ id }) => id === open?.id)
  useReloadWhile(loaded.data?.exports.some(isUnderWay) ?? false, loaded.reload)
  const run = async (each: Export) => {
    try {
      await runExport(each.id)
    } catch (thrown) {
      tellFailure(thrown)
    }
    loaded.reload()
  }
  return (
    <>
      <SettingsAutomations
        title="Exports"
        hint="What projects write to folders and S3 by themselves: each record once, and again when it has changed."
        empty="Nothing is exported by itself"
        kind="scheduled-export"
        path="/v1/project_automation"
        loaded={loaded}
        items={loaded.data?.exports}
        columns={[
          { title: 'To', cell: ({ config }) => <code>{config.export_path}</code> },
          { title: 'Written', cell: written },
          { title: 'State', cell: stateOf },
        ]}
        beginNew="New export"
        actions={(each) => (
          <>
            <button
              type="button"
              aria-label={`Run now: ${each.name}`}
              disabled={isUnderWay(each)}
              onClick={() => void run(each)}
            >
              Run now
            </button>
            <LineAction
              verb="Rewind"
              of={each.name}
              onChoose={() => openWindow('rewind-export', each.id)}
            />
          </>
        )}
        remains="Files that it has written stay where they are."
        dialog={(each, projects) => (
          <ExportDialog export={each} projects={projects} onSaved={loaded.reload} />
        )}
      />
      {rewound && <RewindDialog export={rewound} onDone={loaded.reload} />}
    </>
  )
}

function isUnderWay({ state }: Export): boolean {
  return state.status === 'running' || state.status === 'queued'
}

function written({ state }: Export) {
  const { rows, files, bytes: size } = state
  return files === 0
    ? 'nothing yet'
    : `${counted(rows, 'row')} in ${counted(files, 'file')}, ${bytes(size)}`
}

function stateOf({ state }: Export) {
  const { status, progress, last_good_run: last, next_run: next, error } = state
  if (status === 'off') return 'off: this service allows no place for exports'
  if (status === 'paused') return 'paused'
  if (status === 'queued') return 'waits for another export'
  if (progress) return progress.rows > 0 ? `running: ${counted(progress.rows, 'row')}` : 'running'
  if (error) return <span class="error">{error.message}</span>
  const ran = last === null ? 'has not run yet' : `last run ${age(last)}`
  return next === null ? ran : `${ran}, next ${time(next)}`
}

function ExportDialog({
  export: before,
  projects,
  onSaved,
}: {
  readonly export: Export | undefined
  readonly projects: readonly { readonly id: string; readonly name: string }[]
  readonly onSaved: () => void
}) {
  const config = before?.config
  const interval = String(config?.interval_seconds ?? 3600)
  const isUsual = intervals.some(({ value }) => value === interval)
  const submit = async (form: FormData) => {
    const project = before?.project_id ?? textOf(form, 'project')
    await saveExport(before?.id, project, textOf(form, 'name'), configurationOf(form, config))
    closeWindow()
    onSaved()
  }
  return (
    <FormDialog
      title={before ? `Change ${before.name}` : 'New export'}
      verb="Save"
      size="large"
      onClose={closeWindow}
      onSubmit={submit}
    >
      <TextField label="Name" name="name" isRequired isFirst value={before?.name ?? 'Export'} />
      {!before && (
        <ChoiceField
          label="Project"
          name="project"
          choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <ContentFields config={config} />
      <TextField
        label="To"
        name="path"
        isRequired
        value={config?.export_path ?? ''}
        placeholder="s3://bucket/folder"
        hint="s3://bucket/folder, or the full path of a folder that this service allows."
      />
      <ChoiceField
        label="Format"
        name="format"
        choices={formats}
        value={config?.format ?? 'parquet'}
      />
      <ChoiceField
        label="How often"
        name="interval"
        choices={
          isUsual
            ? intervals
            : [...intervals, { value: interval, label: `Every ${duration(Number(interval))}` }]
        }
        value={interval}
      />
      <ChoiceField
        label="State"
        name="status"
        choices={statuses}
        value={config?.status === 'paused' ? 'paused' : 'active'}
      />
    </FormDialog>
  )
}

/** By themselves: what was entered in the other fields would be lost if they were drawn again. */
function ContentFields({ config }: { readonly config: ExportConfiguration | undefined }) {
  const [content, setContent] = useState(config?.export_definition.type ?? 'log_spans')
  return (
    <>
      <ChoiceField
        label="What"
        name="content"
        choices={contents}
        value={content}
        onChange={setContent}
      />
      {content === 'btql_query' && (
        <LongTextField
          label="Query"
          name="query"
          isRequired
          value={config?.export_definition.btql_query ?? ''}
          placeholder="select: * | from: project_logs() | filter: error is not null"
          hint="Each record that passes. A query that groups or sorts is answered anew in each run."
        />
      )}
    </>
  )
}

function RewindDialog({
  export: meant,
  onDone,
}: {
  readonly export: Export
  readonly onDone: () => void
}) {
  return (
    <FormDialog
      title={`Rewind ${meant.name}`}
      verb="Rewind"
      onClose={closeWindow}
      onSubmit={async (form) => {
        await rewindExport(meant.id, textOf(form, 'from'))
        closeWindow()
        onDone()
      }}
    >
      <TextField
        label="From"
        name="from"
        isFirst
        placeholder="2026-11-27T12:00:00Z"
        hint="A time or a transaction. Files with what was written after it are removed and written again. Empty: all."
      />
    </FormDialog>
  )
}

function configurationOf(
  form: FormData,
  before: ExportConfiguration | undefined,
): ExportConfiguration {
  const type = textOf(form, 'content')
  const query = textOf(form, 'query')
  return {
    credentials: { type: 'service' },
    ...before,
    event_type: 'btql_export',
    status: textOf(form, 'status'),
    export_definition: type === 'btql_query' ? { type, btql_query: query } : { type },
    export_path: textOf(form, 'path'),
    format: textOf(form, 'format'),
    interval_seconds: Number(textOf(form, 'interval')),
  }
}
