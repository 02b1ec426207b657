/** Rules by which values are masked before they are stored. What one would change is shown before it is saved. */
import { useState } from 'preact/hooks'
import { FormDialog } from '../component/dialog.tsx'
import { ChecksField, ChoiceField, TextField, textOf, textsOf } from '../component/field.tsx'
import { counted, number } from '../component/format.ts'
import { tell } from '../component/toast.tsx'
import { useLoaded } from '../service/load.ts'
import {
  listMaskingRules,
  type MaskingRuleBody,
  type MaskingTrial,
  maskAnew,
  type StoredMaskingRule,
  saveMaskingRule,
  tryRule,
} from '../service/masking.ts'
import { closeWindow, openedOf, openWindow } from '../state/opened.ts'
import { SettingsAutomations } from './settings-automations.tsx'

const wholeValues = ''
const patterns = [
  { value: 'email', label: 'E-mail addresses' },
  { value: 'phone', label: 'Phone numbers' },
  { value: 'card', label: 'Card numbers' },
  { value: 'iban', label: 'Account numbers (IBAN)' },
  { value: 'key', label: 'Keys of providers' },
  { value: 'jwt', label: 'JSON web tokens' },
  { value: 'expression', label: 'Own expression' },
  { value: wholeValues, label: 'Whole values' },
]
const actions = [
  { value: 'replace', label: 'Replace' },
  { value: 'hash', label: 'Hash, so that equal values stay equal' },
  { value: 'keep_last_four', label: 'Keep the last four characters' },
  { value: 'drop', label: 'Drop' },
]

interface Named {
  readonly id: string
  readonly name: string
}

export function SettingsMasking() {
  const loaded = useLoaded('masking', listMaskingRules)
  return (
    <>
      <SettingsAutomations
        title="Masking"
        hint="What of records is masked before it is stored, indexed or shown."
        empty="Everything is stored as it comes"
        kind="mask"
        path="/v1/masking_rule"
        loaded={loaded}
        items={loaded.data?.rules}
        columns={[
          { title: 'Finds', cell: finds },
          { title: 'Does', cell: does },
        ]}
        beginNew="New rule"
        alsoBegin={
          <button type="button" onClick={() => openWindow('mask-anew')}>
            Mask what is stored
          </button>
        }
        remains="What is masked stays masked."
        dialog={(rule, projects) => (
          <RuleDialog rule={rule} projects={projects} onSaved={loaded.reload} />
        )}
      />
      {openedOf('mask-anew') && loaded.data && <AnewDialog projects={loaded.data.projects} />}
    </>
  )
}

function finds({ path, fields, pattern }: StoredMaskingRule): string {
  const what = patterns.find(({ value }) => value === (pattern?.type ?? wholeValues))?.label
  const own = pattern && 'expression' in pattern ? ` ${pattern.expression}` : ''
  const where = [...(path ? [path] : []), ...(fields ?? [])].join(', ')
  return `${what}${own}${where === '' ? '' : ` in ${where}`}`
}

function does({ action, enabled }: StoredMaskingRule): string {
  const what = actions.find(({ value }) => value === action.type)?.label ?? action.type
  const text = action.text === undefined ? '' : ` by ${action.text}`
  return `${what}${text}${enabled === false ? ' (off)' : ''}`
}

/** What was entered when the rule was tried, and what that showed. */
interface Seen {
  readonly of: string
  readonly name: string
  readonly body: MaskingRuleBody
  readonly trial: MaskingTrial
}

function RuleDialog({
  rule,
  projects,
  onSaved,
}: {
  readonly rule: StoredMaskingRule | undefined
  readonly projects: readonly Named[]
  readonly onSaved: () => void
}) {
  const [seen, setSeen] = useState<Seen>()
  // What was entered stays when the dialog is drawn again with what was found.
  const known = seen?.body ?? rule
  const [pattern, setPattern] = useState(rule ? (rule.pattern?.type ?? wholeValues) : 'email')
  const submit = async (form: FormData) => {
    const name = textOf(form, 'name')
    const body = bodyOf(form, rule)
    const of = JSON.stringify(body)
    if (seen?.of !== of) {
      const tried = body.project_id == null ? projects.map(({ id }) => id) : [body.project_id]
      setSeen({ of, name, body, trial: await tryRule(body, tried) })
      return
    }
    await saveMaskingRule(rule?.id, { ...body, name })
    closeWindow()
    onSaved()
  }
  const expression = known?.pattern && 'expression' in known.pattern ? known.pattern.expression : ''
  return (
    <FormDialog
      title={rule ? `Change ${rule.name}` : 'New rule'}
      verb={seen ? 'Save' : 'Try'}
      size="large"
      onClose={closeWindow}
      onSubmit={submit}
    >
      <TextField
        label="Name"
        name="name"
        isRequired
        isFirst
        value={seen?.name ?? rule?.name ?? 'Masking'}
      />
      {!rule && (
        <ChoiceField
          label="Project"
          name="project"
          choices={[
            { value: '', label: 'All projects' },
            ...projects.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={known?.project_id ?? ''}
        />
      )}
      <ChoiceField
        label="Finds"
        name="pattern"
        choices={patterns}
        value={pattern}
        onChange={setPattern}
      />
      {pattern === 'expression' && (
        <TextField
          label="Expression"
          name="expression"
          isRequired
          value={expression}
          placeholder="ID-[0-9]+"
          hint="In the syntax of RE2. One that begins with plain characters costs least."
        />
      )}
      <TextField
        label="Path"
        name="path"
        value={known?.path ?? ''}
        placeholder="input[*].content"
        hint="Where it looks. Empty: everywhere."
      />
      <TextField
        label="Names of fields"
        name="fields"
        value={(known?.fields ?? []).join(', ')}
        placeholder="password, api_key"
        hint="At any depth, with commas between them. Empty: any."
      />
      <ChoiceField
        label="Does"
        name="action"
        choices={actions}
        value={known?.action.type ?? 'replace'}
      />
      <TextField
        label="Replaced by"
        name="text"
        value={known?.action.text ?? ''}
        hint="Empty: [email], [card], … or [masked]."
      />
      {seen && <Trial trial={seen.trial} />}
    </FormDialog>
  )
}

const shownExamples = 8

function Trial({ trial }: { readonly trial: MaskingTrial }) {
  const { rows, changed_rows, changed_values, examples } = trial
  return (
    <section aria-label="What it would change" role="status">
      <p>
        {counted(changed_values, 'value')} in {number(changed_rows)} of {counted(rows, 'record')}{' '}
        that are stored would be masked.
      </p>
      {examples.length > 0 && (
        <ul>
          {examples.slice(0, shownExamples).map(({ id, path, before, after }) => (
            <li key={`${id} ${path} ${before}`}>
              <code>{path}</code>: <code>{before}</code> becomes{' '}
              <code>{after === '' ? 'nothing' : after}</code>
            </li>
          ))}
        </ul>
      )}
      <p class="hint">Press Save to let the rule act on what comes, or change it and try again.</p>
    </section>
  )
}

function AnewDialog({ projects }: { readonly projects: readonly Named[] }) {
  const submit = async (form: FormData) => {
    const areOldRemoved = textsOf(form, 'old').includes('remove')
    const { rewritten_rows, cleared_records } = await maskAnew(
      textOf(form, 'project'),
      areOldRemoved,
    )
    closeWindow()
    const cleared = areOldRemoved ? `, old versions of ${number(cleared_records)} removed` : ''
    tell(`${counted(rewritten_rows, 'record')} masked${cleared}`)
  }
  return (
    <FormDialog title="Mask what is stored" verb="Mask" onClose={closeWindow} onSubmit={submit}>
      <ChoiceField
        label="Project"
        name="project"
        choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <ChecksField
        label="Old versions"
        name="old"
        choices={[{ value: 'remove', label: 'Remove those of records with a value to mask' }]}
        hint="They leave the disk for good. Otherwise the history of a record still shows what it was."
      />
    </FormDialog>
  )
}

function bodyOf(form: FormData, rule: StoredMaskingRule | undefined): MaskingRuleBody {
  const type = textOf(form, 'pattern')
  const fields = textOf(form, 'fields')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const action = textOf(form, 'action')
  const text = textOf(form, 'text')
  const before = rule?.pattern && 'flags' in rule.pattern ? { flags: rule.pattern.flags } : {}
  return {
    project_id: rule ? (rule.project_id ?? null) : textOf(form, 'project') || null,
    path: textOf(form, 'path') || null,
    fields: fields.length === 0 ? null : fields,
    pattern:
      type === wholeValues
        ? null
        : type === 'expression'
          ? { type, expression: textOf(form, 'expression'), ...before }
          : { type },
    action: { type: action, ...(action === 'replace' && text !== '' && { text }) },
  }
}
