/** Edits one field of a record where it stands in the table. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { FieldInput } from '../component/field-input.tsx'
import { Failure } from '../component/notice.tsx'
import { tell } from '../component/toast.tsx'
import { useAction } from '../service/action.ts'
import { type RecordField, recordTexts, writeRecord } from '../service/dataset.ts'
import {
  type FieldText,
  faultOf,
  fieldText,
  jsonOf,
  type Library,
  useJsonLibrary,
} from '../service/field-text.ts'
import { useLoaded } from '../service/load.ts'

export interface CellEditorProps {
  readonly datasetId: string
  readonly id: string
  readonly field: RecordField
  readonly onSaved: () => void
  readonly onCancel: () => void
}

export function CellEditor(props: CellEditorProps) {
  const { datasetId, id, field, onCancel } = props
  const library = useJsonLibrary()
  // What the table shows is cut: the whole value is loaded, with all its digits.
  const texts = useLoaded(`texts ${id}`, (signal) => recordTexts(datasetId, id, undefined, signal))
  const error = library.error ?? texts.error
  if (error) return <Failure error={error} retry={onCancel} />
  if (!library.data || !texts.data) return <span class="hint">Loading…</span>
  return <Editor {...props} before={texts.data[field]} library={library.data} />
}

function Editor({
  datasetId,
  id,
  field,
  onSaved,
  onCancel,
  before,
  library,
}: CellEditorProps & { readonly before: string | undefined; readonly library: Library }) {
  const [value, setValue] = useState<FieldText>(() => fieldText(field, before, library))
  const fault = faultOf(field, value, library)
  const place = useRef<HTMLFormElement>(null)
  useEffect(() => place.current?.querySelector('textarea')?.focus(), [])
  const save = useAction(async () => {
    if (fault) return
    await writeRecord(datasetId, id, { [field]: jsonOf(field, value) })
    tell(`Saved ${field}`, {
      label: 'Undo',
      onChoose: () => {
        void writeRecord(datasetId, id, { [field]: before ?? 'null' }).then(onSaved)
      },
    })
    onSaved()
  })
  return (
    <form
      ref={place}
      class="cell-editor"
      onSubmit={(event) => {
        event.preventDefault()
        void save.run()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || field === 'tags')) {
          event.preventDefault()
          void save.run()
        }
      }}
    >
      <FieldInput field={field} value={value} fault={fault} onChange={setValue} />
      {save.error && <Failure error={save.error} />}
      <div class="tools">
        <button type="submit" class="primary" disabled={fault !== undefined || save.isBusy}>
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
