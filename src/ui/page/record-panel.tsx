/** One record of a dataset in full, to read at an older version, to change, or to make. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { FieldInput } from '../component/field-input.tsx'
import { Icon } from '../component/icon.tsx'
import { JsonView } from '../component/json-view.tsx'
import { Failure, Loading } from '../component/notice.tsx'
import { recordFields } from '../service/dataset.ts'
import { parseExactly } from '../service/exact-json.ts'
import { type LoadedRecord, useRecord, useRecordChange } from './record-change.ts'
import { RecordOrigin } from './record-origin.tsx'
import { fieldTitle } from './span-metrics.tsx'

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
  const { record, error, reload } = useRecord(datasetId, id, version)
  const title = id === undefined ? 'New record' : 'Record'
  return (
    <section class="trace example" aria-label={title}>
      <header class="page-head">
        <h2>
          {title} {id !== undefined && <code>{id}</code>}
        </h2>
        <button type="button" onClick={onClose} aria-label="Close the record">
          <Icon name="close" />
        </button>
      </header>
      {id !== undefined && <RecordOrigin datasetId={datasetId} id={id} version={version} />}
      {error && <Failure error={error} retry={reload} />}
      {!record ? (
        !error && <Loading what="the record" />
      ) : isReadOnly ? (
        recordFields.map((field) => {
          const text = record.texts[field]
          return text === undefined ? null : (
            <section key={field}>
              <h3>{fieldTitle(field)}</h3>
              <JsonView value={parseExactly(text)} label={field} />
            </section>
          )
        })
      ) : (
        <RecordForm {...props} record={record} />
      )}
    </section>
  )
}

function RecordForm({
  datasetId,
  id,
  onSaved,
  record,
}: RecordPanelProps & { readonly record: LoadedRecord }) {
  const options = { datasetId, id, fields: recordFields, record, onSaved }
  const { values, change, faultIn, canSave, save } = useRecordChange(options)
  const place = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    if (id === undefined) place.current?.querySelector('textarea')?.focus()
  }, [])
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
      {recordFields.map((field) => (
        <FieldInput
          key={field}
          field={field}
          value={values[field]!}
          fault={faultIn(field)}
          onChange={(value) => change(field, value)}
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
