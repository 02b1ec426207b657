/** Edits one field of a record, as a text or as JSON that is checked as one types. */
import { useId } from 'preact/hooks'
import type { RecordField } from '../service/dataset.ts'
import { type FieldFault, type FieldText, modesOf } from '../service/field-text.ts'

export interface FieldInputProps {
  readonly field: RecordField
  readonly value: FieldText
  readonly fault: FieldFault | undefined
  readonly onChange: (value: FieldText) => void
  readonly isFirst?: boolean
}

const modeTitles = { text: 'Text', json: 'JSON' } as const

export function FieldInput({ field, value, fault, onChange, isFirst = false }: FieldInputProps) {
  const id = useId()
  const modes = modesOf(field)
  const rows = Math.max(3, Math.min(16, value.text.split('\n').length + 1))
  return (
    <div class="field field-input">
      <div class="field-head">
        <label for={id}>{field}</label>
        {modes.length > 1 && (
          <fieldset class="choices" aria-label={`${field} is written as`}>
            {modes.map((mode) => (
              <button
                key={mode}
                type="button"
                aria-pressed={mode === value.mode}
                onClick={() => onChange(inMode(value, mode))}
              >
                {modeTitles[mode]}
              </button>
            ))}
          </fieldset>
        )}
      </div>
      <textarea
        id={id}
        rows={field === 'tags' ? 1 : rows}
        spellcheck={false}
        value={value.text}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-told`}
        placeholder={placeholders[field]}
        {...(isFirst && { 'data-first': true })}
        onInput={(event) => onChange({ ...value, text: event.currentTarget.value })}
      />
      <p id={`${id}-told`} class={fault ? 'bad' : 'hint'} role="status">
        {fault
          ? `${fault.message}, at line ${fault.line}, column ${fault.column}`
          : value.mode === 'json' && value.text.trim() !== ''
            ? 'Valid JSON'
            : ''}
      </p>
    </div>
  )
}

const placeholders: Readonly<Record<RecordField, string>> = {
  input: 'What the program is given',
  expected: 'What it should answer',
  metadata: '{"name": "value"}',
  tags: 'one, another',
}

/** A text becomes a JSON string, and a JSON string its text; other JSON stays as it is written. */
function inMode(value: FieldText, mode: FieldText['mode']): FieldText {
  const { text } = value
  if (mode === value.mode) return value
  if (mode === 'json') {
    return { text: text === '' || isJson(text) ? text : JSON.stringify(text), mode }
  }
  const isString = text.trim().startsWith('"') && isJson(text)
  return { text: isString ? (JSON.parse(text) as string) : text, mode }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
