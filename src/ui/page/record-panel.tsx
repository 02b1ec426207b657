/** One record of a dataset in full, to read at an older version, to change, or to make. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { FieldInput } from '../component/field-input.tsx'
import { JsonView } from '../component/json-view.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { tell } from '../component/toast.tsx'
import { useAction } from '../service/action.ts'
import {
  type RecordField,
  type RecordTexts,
  recordFields,
  recordTexts,
  writeRecord,
} from '../service/dataset.ts'
import {
  type FieldText,
  faultOf,
  fieldText,
  jsonOf,
  type Library,
  useJsonLibrary,
} from '../service/field-text.ts'
import { useLoaded } from '../service/load.ts'

export interface RecordPanelProps {
  readonly datasetId: string
  /** Undefined for a new record. */
  readonly id: string | undefined
  readonly version: string | undefined
  /** At an older version, or without the right to change it. */
  readonly isReadOnly: boolean
  readonly onSaved: (id: string) => void
  readonly onClose: () => void
}

export function RecordPanel(props: RecordPanelProps) {
  const { datasetId, id, version, isReadOnly, onClose } = props
  const library = useJsonLibrary()
  const texts = useLoaded<RecordTexts>(`texts ${id} ${version}`, (signal) =>
    id === undefined ? Promise.resolve({}) : recordTexts(datasetId, id, version, signal),
  )
  const error = library.error ?? texts.error
  const title = id === undefined ? 'New record' : 'Record'
  return (
    <section class="trace example" aria-label={title}>
      <header class="page-head">
        <h2>
          {title} {id !== undefined && <code>{id}</code>}
        </h2>
        <button type="button" onClick={onClose} aria-label="Close the record">
          Close
        </button>
      </header>
      {error && <Failure error={error} retry={texts.reload} />}
      {!library.data || !texts.data ? (
        !error && <Loading what="the record" />
      ) : !isReadOnly ? (
        <RecordForm {...props} before={texts.data} library={library.data} />
      ) : (
        recordFields.map((field) => {
          const text = texts.data?.[field]
          return text === undefined ? null : (
            <section key={field}>
              <h3>{field}</h3>
              <JsonView value={JSON.parse(text)} label={field} />
            </section>
          )
        })
      )}
    </section>
  )
}

type FieldTexts = Readonly<Record<RecordField, FieldText>>

function RecordForm({
  datasetId,
  id,
  onSaved,
  before,
  library,
}: RecordPanelProps & { readonly before: RecordTexts; readonly library: Library }) {
  const [first] = useState<FieldTexts>(() => textsOf(before, library))
  const [values, setValues] = useState(first)
  const place = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (id === undefined) place.current?.querySelector('textarea')?.focus()
  }, [])
  const faults = recordFields.map((field) => faultOf(field, values[field], library))
  const changed = recordFields.filter((field) => !isSame(first[field], values[field]))
  const canSave = changed.length > 0 && faults.every((fault) => fault === undefined)
  const save = useAction(async () => {
    if (!canSave) return
    const texts = Object.fromEntries(changed.map((field) => [field, jsonOf(field, values[field])]))
    const saved = await writeRecord(datasetId, id, texts)
    tell(id === undefined ? 'Added the record' : `Saved ${changed.join(', ')}`)
    onSaved(id ?? saved)
  })
  return (
    <form
      ref={place}
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        void save.run()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        void save.run()
      }}
    >
      {recordFields.map((field, index) => (
        <FieldInput
          key={field}
          field={field}
          value={values[field]}
          fault={faults[index]}
          onChange={(value) => setValues({ ...values, [field]: value })}
        />
      ))}
      {save.error && <Failure error={save.error} />}
      <div class="tools">
        <button type="submit" class="primary" disabled={!canSave || save.isBusy}>
          {id === undefined ? 'Add' : 'Save'}
        </button>
        <span class="hint">Ctrl+Enter</span>
      </div>
    </form>
  )
}

function textsOf(texts: RecordTexts, library: Library): FieldTexts {
  const entries = recordFields.map((field) => [field, fieldText(field, texts[field], library)])
  return Object.fromEntries(entries) as FieldTexts
}

function isSame(a: FieldText, b: FieldText): boolean {
  return a.text === b.text && a.mode === b.mode
}
