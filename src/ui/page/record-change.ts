/** Fields of a record as people write them: loaded with all their digits, checked as one types, saved. */
import { useState } from 'preact/hooks'
import { tell, tellFailure } from '../component/toast.tsx'
import { type Action, useAction } from '../service/action.ts'
import { type RecordField, type RecordTexts, recordTexts, writeRecord } from '../service/dataset.ts'
import {
  type FieldFault,
  type FieldText,
  faultOf,
  fieldText,
  jsonOf,
  type Library,
  useJsonLibrary,
} from '../service/field-text.ts'
import { useLoaded } from '../service/load.ts'

export interface LoadedRecord {
  readonly texts: RecordTexts
  readonly library: Library
}

/** What a table shows is cut: the whole record is loaded. A new one has no id and nothing in it. */
export function useRecord(datasetId: string, id: string | undefined, version?: string) {
  const library = useJsonLibrary()
  const texts = useLoaded<RecordTexts>(`texts ${id} ${version}`, (signal) =>
    id === undefined ? Promise.resolve({}) : recordTexts(datasetId, id, version, signal),
  )
  const record: LoadedRecord | undefined =
    library.data && texts.data ? { texts: texts.data, library: library.data } : undefined
  return { record, error: library.error ?? texts.error, reload: texts.reload }
}

type Values = Readonly<Partial<Record<RecordField, FieldText>>>

export interface RecordChange {
  readonly values: Values
  change(field: RecordField, value: FieldText): void
  faultIn(field: RecordField): FieldFault | undefined
  readonly isChanged: boolean
  /** Something is changed, and nothing is at fault. */
  readonly canSave: boolean
  readonly save: Action<[]>
}

export interface RecordChangeOptions {
  readonly datasetId: string
  /** Undefined for a new record. */
  readonly id: string | undefined
  /** Those that can be changed here. */
  readonly fields: readonly RecordField[]
  readonly record: LoadedRecord
  /** Also when the change is taken back. */
  readonly onSaved: (id: string) => void
}

export function useRecordChange(options: RecordChangeOptions): RecordChange {
  const { datasetId, id, fields, record, onSaved } = options
  const { texts, library } = record
  const [first] = useState<Values>(() =>
    Object.fromEntries(fields.map((field) => [field, fieldText(field, texts[field], library)])),
  )
  const [values, setValues] = useState(first)
  const faultIn = (field: RecordField) => faultOf(field, values[field]!, library)
  const changed = fields.filter((field) => !isSame(first[field]!, values[field]!))
  const canSave = changed.length > 0 && fields.every((field) => faultIn(field) === undefined)
  const save = useAction(async () => {
    if (!canSave) return
    const written = changed.map((field) => [field, jsonOf(field, values[field]!)])
    const saved = await writeRecord(datasetId, id, Object.fromEntries(written))
    if (id === undefined) tell('Added the record')
    else {
      const before = Object.fromEntries(changed.map((field) => [field, texts[field] ?? 'null']))
      tell(`Saved ${changed.join(', ')}`, {
        label: 'Undo',
        onChoose: () => void writeRecord(datasetId, id, before).then(onSaved, tellFailure),
      })
    }
    onSaved(saved)
  })
  return {
    values,
    change: (field, value) => setValues({ ...values, [field]: value }),
    faultIn,
    isChanged: changed.length > 0,
    canSave,
    save,
  }
}

function isSame(a: FieldText, b: FieldText): boolean {
  return a.text === b.text && a.mode === b.mode
}
