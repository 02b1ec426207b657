/** Rules by which records of projects leave. What one would remove is shown before it is saved. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { ChoiceField, LongTextField, TextField, textOf } from '../component/field.tsx'
import { age, bytes, counted, number } from '../component/format.ts'
import { tellFailure } from '../component/toast.tsx'
import { useLoaded, useReloadWhile } from '../service/load.ts'
import {
  listRules,
  previewRule,
  type Rule,
  type RuleConfiguration,
  type RulePreview,
  type RuleWithRun,
  runRule,
  saveRule,
} from '../service/retention.ts'
import { closeWindow } from '../state/opened.ts'
import { SettingsAutomations } from './settings-automations.tsx'

const kinds = [
  { value: 'project_logs', label: 'Logs' },
  { value: 'experiment', label: 'Experiments' },
  { value: 'dataset', label: 'Datasets' },
]

const endlessDays = 36_500

export function SettingsRetention() {
  const loaded = useLoaded('retention', listRules)
  const { data, reload } = loaded
  useReloadWhile(data?.rules.some(isUnderWay) ?? false, reload)
  const run = async ({ id }: Rule) => {
    try {
      await runRule(id)
    } catch (thrown) {
      tellFailure(thrown)
    }
    reload()
  }
  return (
    <SettingsAutomations
      title="Retention"
      hint="Which traces leave the disk for good, with all their versions. Carried out every 15 minutes."
      empty="Everything stays"
      remains="What it has removed does not come back."
      kind="rule"
      path="/v1/project_automation"
      loaded={loaded}
      items={loaded.data?.rules}
      columns={[
        {
          title: 'Of',
          cell: ({ config }) => kinds.find(({ value }) => value === config.object_type)?.label,
        },
        { title: 'Keeps', cell: ({ config }) => keeps(config) },
        { title: 'State', cell: stateOf },
      ]}
      beginNew="New rule"
      actions={(rule) => (
        <button
          type="button"
          aria-label={`Run now: ${rule.name}`}
          disabled={isUnderWay(rule)}
          onClick={() => void run(rule)}
        >
          Run now
        </button>
      )}
      dialog={(rule, projects) => (
        <RuleDialog rule={rule} projects={projects} onSaved={loaded.reload} />
      )}
    />
  )
}

function isUnderWay({ state }: RuleWithRun): boolean {
  return state.status === 'running' || state.status === 'queued'
}

const steps = {
  selecting: 'looks for what is to leave',
  deleting: 'deletes',
  freeing: 'takes it from the disk',
}

function stateOf({ state }: RuleWithRun) {
  const { status, progress, last_run: lastRun, last, error } = state
  if (status === 'queued') return 'waits for another rule'
  if (progress) {
    const { step, traces, records } = progress
    const so = records > 0 ? `: ${counted(traces, 'trace')}, ${counted(records, 'record')}` : ''
    return `${steps[step]}${so}`
  }
  if (error) return <span class="error">{error.message}</span>
  if (status === 'paused') return 'paused'
  if (last === null)
    return lastRun === null ? 'has not run yet' : `nothing to remove, as of ${age(lastRun)}`
  const { traces, records, time } = last
  return `${counted(traces, 'trace')} with ${counted(records, 'record')} removed ${age(time)}`
}

function keeps(config: RuleConfiguration): string {
  const { retention_days, retention_count, retention_bytes, keep_filter, status } = config
  const parts = [
    ...(retention_days < endlessDays ? [counted(retention_days, 'day')] : []),
    ...(retention_count == null ? [] : [counted(retention_count, 'trace')]),
    ...(retention_bytes == null ? [] : [bytes(retention_bytes)]),
  ]
  const kept = `${parts.join(', ') || 'all'}${keep_filter ? `, longer where ${keep_filter}` : ''}`
  return status === 'paused' ? `${kept} (paused)` : kept
}

/** What was entered when the preview was asked for, and what it said. */
interface Seen {
  readonly of: string
  readonly name: string
  readonly project: string
  readonly config: RuleConfiguration
  readonly preview: RulePreview
}

function RuleDialog({
  rule,
  projects,
  onSaved,
}: {
  readonly rule: Rule | undefined
  readonly projects: readonly { readonly id: string; readonly name: string }[]
  readonly onSaved: () => void
}) {
  const [seen, setSeen] = useState<Seen>()
  // What was entered stays when the dialog is drawn again with the preview.
  const config = seen?.config ?? rule?.config
  const submit = async (form: FormData) => {
    const project = rule?.project_id ?? textOf(form, 'project')
    const name = textOf(form, 'name')
    const given = configurationOf(form, rule?.config)
    const of = JSON.stringify([project, given])
    if (seen?.of !== of) {
      setSeen({ of, name, project, config: given, preview: await previewRule(project, given) })
      return
    }
    await saveRule(rule?.id, project, name, given)
    closeWindow()
    onSaved()
  }
  const optional = (value: number | null | undefined) => (value == null ? '' : String(value))
  return (
    <FormDialog
      title={rule ? `Change ${rule.name}` : 'New rule'}
      verb={seen ? 'Save' : 'Preview'}
      size="large"
      onClose={closeWindow}
      onSubmit={submit}
    >
      <TextField
        label="Name"
        name="name"
        isRequired
        isFirst
        value={seen?.name ?? rule?.name ?? 'Retention'}
      />
      {!rule && (
        <ChoiceField
          label="Project"
          name="project"
          choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
          {...(seen && { value: seen.project })}
        />
      )}
      <ChoiceField
        label="Records of"
        name="kind"
        choices={kinds}
        value={config?.object_type ?? 'project_logs'}
      />
      <TextField
        label="Keep for, in days"
        name="days"
        isRequired
        value={String(config?.retention_days ?? 90)}
        hint={`Traces whose newest span is older leave. ${endlessDays}: age does not matter.`}
      />
      <TextField
        label="Most traces"
        name="count"
        value={optional(config?.retention_count)}
        hint="Only so many of the newest stay."
      />
      <TextField
        label="Most characters"
        name="bytes"
        value={optional(config?.retention_bytes)}
        hint="Only the newest with so many together stay."
      />
      <LongTextField
        label="Always keep"
        name="filter"
        rows={2}
        value={config?.keep_filter ?? ''}
        placeholder="error is not null or scores is not null"
        hint="A trace stays while one of its spans passes."
      />
      <TextField
        label="Tags that hold"
        name="tags"
        value={(config?.hold_tags ?? ['legal-hold']).join(', ')}
        hint="A trace with such a tag stays in any case."
      />
      <TextField
        label="Days of old versions"
        name="versions"
        value={optional(config?.old_versions_days)}
        hint="What was replaced or deleted longer ago leaves the disk. Empty: it stays."
      />
      {seen && <Preview preview={seen.preview} />}
    </FormDialog>
  )
}

function Preview({ preview }: { readonly preview: RulePreview }) {
  const { traces, records, bytes: size, objects } = preview
  const held = objects.reduce((sum, each) => sum + each.held_traces, 0)
  const kept = objects.reduce((sum, each) => sum + each.kept_traces, 0)
  const examples = objects.flatMap((each) => each.examples).slice(0, 5)
  return (
    <section aria-label="Preview" role="status">
      <p>
        Now {counted(traces, 'trace')} with {counted(records, 'record')} and about {bytes(size)}{' '}
        would leave. {number(held)} held by a tag and {number(kept)} kept by the condition would
        stay.
      </p>
      {examples.length > 0 && (
        <ul>
          {examples.map(({ root_span_id, newest }) => (
            <li key={root_span_id}>
              <code>{root_span_id}</code> of {newest}
            </li>
          ))}
        </ul>
      )}
      <p class="hint">Press Save to let the rule act, or change it and look again.</p>
    </section>
  )
}

function configurationOf(form: FormData, before: RuleConfiguration | undefined): RuleConfiguration {
  const numberOf = (name: string) => {
    const text = textOf(form, name)
    if (text === '') return null
    const value = Number(text)
    if (!(value >= 0)) throw new Error(`"${text}" is not a number`)
    return value
  }
  return {
    ...before,
    event_type: 'retention',
    object_type: textOf(form, 'kind'),
    retention_days: numberOf('days') ?? endlessDays,
    retention_count: numberOf('count'),
    retention_bytes: numberOf('bytes'),
    keep_filter: textOf(form, 'filter') || null,
    hold_tags: textOf(form, 'tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    old_versions_days: numberOf('versions'),
  }
}
