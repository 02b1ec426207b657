/** Fields of forms: a label, the control, and what is to be known of it. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { type Option, Select } from './select.tsx'

interface FieldProps {
  readonly label: string
  /** Of the value in the form's data. */
  readonly name: string
  readonly hint?: ComponentChildren
}

export interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'email' | 'password'
  readonly value?: string
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly isFirst?: boolean
  readonly autocomplete?: 'off' | 'current-password' | 'new-password' | 'username'
  readonly minLength?: number
  readonly onInput?: (value: string) => void
}

/** `isFirst` takes the focus when a dialog opens. */
export function TextField(props: TextFieldProps) {
  const { label, name, hint, type = 'text', value, onInput, isRequired, isFirst } = props
  const id = useId()
  const hintId = useId()
  const control = {
    id,
    name,
    autocomplete: props.autocomplete ?? 'off',
    required: isRequired === true,
    ...(value !== undefined && { value }),
    ...(props.placeholder !== undefined && { placeholder: props.placeholder }),
    ...(props.minLength !== undefined && { minlength: props.minLength }),
    ...(hint !== undefined && { 'aria-describedby': hintId }),
    ...(isFirst === true && { 'data-autofocus': true }),
    onInput: (event: InputEvent & { readonly currentTarget: HTMLInputElement }) => {
      onInput?.(event.currentTarget.value)
    },
  } as const
  return (
    <div class="field">
      <label for={id}>
        {label}
        {type === 'password' ? (
          <input {...control} type="password" />
        ) : type === 'email' ? (
          <input {...control} type="email" />
        ) : (
          <input {...control} type="text" />
        )}
      </label>
      <Hint id={hintId} hint={hint} />
    </div>
  )
}

export interface LongTextFieldProps extends FieldProps {
  readonly value?: string
  readonly rows?: number
  readonly placeholder?: string
  readonly isRequired?: boolean
  readonly onInput?: (value: string) => void
}

export function LongTextField(props: LongTextFieldProps) {
  const { label, name, hint, value, rows = 4, isRequired, onInput } = props
  const hintId = useId()
  return (
    <div class="field">
      <label>
        {label}
        <textarea
          name={name}
          rows={rows}
          spellcheck={false}
          required={isRequired === true}
          {...(value !== undefined && { value })}
          {...(props.placeholder !== undefined && { placeholder: props.placeholder })}
          {...(hint !== undefined && { 'aria-describedby': hintId })}
          onInput={(event) => onInput?.(event.currentTarget.value)}
        />
      </label>
      <Hint id={hintId} hint={hint} />
    </div>
  )
}

export type Choice = Pick<Option, 'value' | 'label'>

export interface ChoiceFieldProps extends FieldProps {
  readonly choices: readonly Choice[]
  readonly value?: string
  readonly onChange?: (value: string) => void
}

export function ChoiceField({ label, name, hint, choices, value, onChange }: ChoiceFieldProps) {
  const hintId = useId()
  return (
    <div class="field">
      <span class="label" aria-hidden="true">
        {label}
      </span>
      <Select
        label={label}
        name={name}
        options={choices}
        {...(value !== undefined && { value })}
        {...(hint !== undefined && { describedBy: hintId })}
        {...(onChange && { onChange })}
      />
      <Hint id={hintId} hint={hint} />
    </div>
  )
}

/** Any number of several things; each has the value of its name in the form's data. */
export function ChecksField({
  label,
  name,
  choices,
  chosen,
  hint,
}: FieldProps & { readonly choices: readonly Choice[]; readonly chosen?: ReadonlySet<string> }) {
  return (
    <fieldset class="field checks">
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} class="one">
          <input
            type="checkbox"
            name={name}
            value={choice.value}
            defaultChecked={chosen?.has(choice.value) === true}
          />
          {choice.label}
        </label>
      ))}
      {choices.length === 0 && <p class="hint">There are none.</p>}
      {hint !== undefined && <p class="hint">{hint}</p>}
    </fieldset>
  )
}

/** One thing that is on or off. */
export function SwitchField({
  label,
  hint,
  isOn,
  onChange,
}: {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}) {
  const hintId = useId()
  return (
    <div class="field">
      <label class="one">
        <input
          type="checkbox"
          role="switch"
          aria-checked={isOn}
          checked={isOn}
          {...(hint !== undefined && { 'aria-describedby': hintId })}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        {label}
      </label>
      <Hint id={hintId} hint={hint} />
    </div>
  )
}

function Hint({ id, hint }: { readonly id: string; readonly hint: ComponentChildren }) {
  if (hint === undefined) return null
  return (
    <p class="hint" id={id}>
      {hint}
    </p>
  )
}

/** The text of a field, without blanks around it. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

/** All values of a name, as `ChecksField` gives them. */
export function textsOf(form: FormData, name: string): string[] {
  return form.getAll(name).filter((value) => typeof value === 'string')
}
