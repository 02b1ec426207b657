/** Edits one field of a record where it stands in the table. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { FieldInput } from '../component/field-input.tsx'
import { Failure } from '../component/notice.tsx'
import type { RecordField } from '../service/dataset.ts'
import { type LoadedRecord, useRecord, useRecordChange } from './record-change.ts'

export interface CellEditorProps {
  readonly datasetId: string
  readonly id: string
  readonly field: RecordField
  readonly onSaved: () => void
  readonly onCancel: () => void
}

export function CellEditor(props: CellEditorProps) {
  const { datasetId, id, onCancel } = props
  const { record, error } = useRecord(datasetId, id)
  if (error) return <Failure error={error} retry={onCancel} />
  if (!record) return <span class="hint">Loading…</span>
  return <Editor {...props} record={record} />
}

function Editor({
  datasetId,
  id,
  field,
  onSaved,
  onCancel,
  record,
}: CellEditorProps & { readonly record: LoadedRecord }) {
  const fields = [field]
  const edited = useRecordChange({ datasetId, id, fields, record, onSaved })
  const { values, change, faultIn, isChanged, canSave, save } = edited
  const finish = () => (isChanged ? void save.run() : onCancel())
  const place = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => place.current?.querySelector('textarea')?.focus(), [])
  return (
    <form
      ref={place}
      class="cell-editor"
      onSubmit={(event) => {
        event.preventDefault()
        finish()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || field === 'tags')) {
          event.preventDefault()
          finish()
        }
      }}
    >
      <FieldInput
        field={field}
        value={values[field]!}
        fault={faultIn(field)}
        onChange={(value) => change(field, value)}
      />
      {save.error && <Failure error={save.error} />}
      <div class="tools">
        <button type="submit" class="primary" disabled={!canSave || save.isBusy}>
          Save
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <span class="hint">{field === 'tags' ? 'Enter' : 'Ctrl+Enter'} saves, Esc leaves it</span>
      </div>
    </form>
  )
}
