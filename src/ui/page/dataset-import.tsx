/** A file into a dataset: which of its columns become what, how far it is, and what was wrong in it. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { readColumnTypes } from '../../import/column-types.ts'
import { usualEncodings } from '../../import/encoding.ts'
import { type Target, usualTarget } from '../../import/event.ts'
import { hasLines, type ImportFormat, recordsOfFile } from '../../import/file-format.ts'
import { type BadLine, type FileRecord, isBadLine, reasonOf } from '../../import/file-record.ts'
import { Dialog } from '../component/dialog.tsx'
import { bytes, counted, number } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import { Select } from '../component/select.tsx'
import { tell } from '../component/toast.tsx'
import { useAction } from '../service/action.ts'
import { formatOf, type ImportProgress, importableFile, importFile } from '../service/import-run.ts'
import { useLoaded } from '../service/load.ts'

export interface DatasetImportProps {
  readonly datasetId: string
  readonly onClose: () => void
  readonly onChange: () => void
}

export function DatasetImport({ datasetId, onClose, onChange }: DatasetImportProps) {
  const [file, setFile] = useState<File>()
  return (
    <Dialog title="Import records" size="large" onClose={onClose}>
      {file ? (
        <Import
          datasetId={datasetId}
          file={file}
          onClose={onClose}
          onChange={onChange}
          onOther={() => setFile(undefined)}
        />
      ) : (
        <FileChoice onChoose={setFile} />
      )}
    </Dialog>
  )
}

function FileChoice({ onChoose }: { readonly onChoose: (file: File) => void }) {
  const [isOver, setOver] = useState(false)
  return (
    <section
      aria-label="Drop a file here"
      class={isOver ? 'drop-place over' : 'drop-place'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        const [dropped] = event.dataTransfer?.files ?? []
        if (dropped) onChoose(dropped)
      }}
    >
      <p>
        Drop a file here: JSON lines, a JSON array, CSV with names in its first line, Parquet or
        Arrow.
      </p>
      <label>
        Or choose one{' '}
        <input
          type="file"
          accept=".jsonl,.ndjson,.json,.csv,.tsv,.txt,.gz,.parquet,.arrow,.arrows,.feather"
          data-autofocus
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? []
            if (chosen) onChoose(chosen)
          }}
        />
      </label>
    </section>
  )
}

/** Records from which columns are told, and those that are shown of them. */
const sampledRecords = 200
const shownRecords = 4

/** How a file is read; an empty text leaves it to the file. */
interface Reading {
  readonly delimiter: string
  readonly encoding: string
  readonly types: string
  readonly formulas: string
}

interface Sample {
  readonly format: ImportFormat
  readonly columns: readonly string[]
  readonly records: readonly FileRecord[]
  readonly firstFault: BadLine | undefined
}

function optionsOf({ delimiter, encoding, types, formulas }: Reading) {
  return {
    delimiter: delimiter || undefined,
    encoding: encoding || undefined,
    types: readColumnTypes(types),
    hasEscapedFormulas: formulas !== '',
  }
}

async function sampleOf(file: File, reading: Reading): Promise<Sample> {
  const format = await formatOf(file)
  const records: FileRecord[] = []
  let firstFault: BadLine | undefined
  try {
    for await (const record of recordsOfFile(importableFile(file), format, optionsOf(reading))) {
      if (isBadLine(record)) firstFault ??= record
      else records.push(record)
      if (records.length === sampledRecords) break
    }
  } catch (error) {
    firstFault ??= { line: 1, fault: reasonOf(error) }
  }
  const columns = [...new Set(records.flatMap(({ values }) => [...values.keys()]))]
  return { format, columns, records, firstFault }
}

function Import({
  datasetId,
  file,
  onClose,
  onChange,
  onOther,
}: DatasetImportProps & { readonly file: File; readonly onOther: () => void }) {
  const [reading, setReading] = useState<Reading>({
    delimiter: '',
    encoding: '',
    types: '',
    formulas: '',
  })
  const key = `sample ${file.name} ${file.size} ${JSON.stringify(reading)}`
  const sample = useLoaded(key, () => sampleOf(file, reading))
  const [chosen, setChosen] = useState<ReadonlyMap<string, Target>>(new Map())
  const [progress, setProgress] = useState<ImportProgress>()
  const [result, setResult] = useState<ImportProgress>()
  const abandon = useRef(new AbortController())
  useEffect(() => () => abandon.current.abort(), [])
  const run = useAction(async () => {
    if (!sample.data) return
    const { format } = sample.data
    abandon.current = new AbortController()
    setProgress({ bytes: 0, written: 0, bad: [], badCount: 0 })
    try {
      const done = await importFile(file, {
        datasetId,
        format,
        read: optionsOf(reading),
        // Columns that only later records have go where columns of their name usually go.
        targetOf: (column) => chosen.get(column) ?? usualTarget(column, format === 'csv'),
        onProgress: setProgress,
        signal: abandon.current.signal,
      })
      setResult(done)
      tell(`Imported ${counted(done.written, 'record')}`)
    } finally {
      onChange()
    }
  })
  if (sample.error) return <Failure error={sample.error} retry={onOther} />
  if (!sample.data) return <Loading what={file.name} />
  const unit = hasLines(sample.data.format) ? 'line' : 'row'
  if (result) return <Result result={result} unit={unit} onClose={onClose} onOther={onOther} />
  if (run.isBusy && progress) {
    return <Running progress={progress} size={file.size} onStop={() => abandon.current.abort()} />
  }
  const { columns, records, format, firstFault } = sample.data
  return (
    <>
      <p>
        <strong>{file.name}</strong>, {bytes(file.size)}: {formats[format]}
      </p>
      {hasLines(format) && (
        <ReadingChoice isCsv={format === 'csv'} reading={reading} onChange={setReading} />
      )}
      {run.error && <Failure error={run.error} />}
      {run.error && progress && (
        <p>What was written before that stays: {counted(progress.written, 'record')}.</p>
      )}
      {columns.length === 0 ? (
        <p class="bad">
          There is no record in it
          {firstFault && `: ${unit} ${firstFault.line}: ${firstFault.fault}`}.
        </p>
      ) : (
        <section class="import-table" aria-label="Columns of the file">
          <table>
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">Becomes</th>
                <th scope="col" colSpan={shownRecords}>
                  First records
                </th>
              </tr>
            </thead>
            <tbody>
              {columns.map((column) => (
                <tr key={column}>
                  <th scope="row">{column}</th>
                  <td>
                    <Select
                      label={`What ${column} becomes`}
                      value={chosen.get(column) ?? usualTarget(column, format === 'csv')}
                      options={targets.map((target) => ({ value: target, label: target }))}
                      onChange={(target) =>
                        setChosen(new Map(chosen).set(column, target as Target))
                      }
                    />
                  </td>
                  {records.slice(0, shownRecords).map(({ line, values }) => (
                    <td key={line} class="hint">
                      {values.get(column)?.slice(0, 100)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <p class="hint">
        Several columns that become the same field are put into one object, by their names. A record
        whose id is in the dataset already takes the place of the one that is there.
      </p>
      <footer class="dialog-foot">
        <button type="button" onClick={onOther}>
          Another file
        </button>
        <button
          type="button"
          class="primary"
          disabled={columns.length === 0}
          onClick={() => void run.run()}
        >
          Import
        </button>
      </footer>
    </>
  )
}

const targets: readonly Target[] = [
  'input',
  'expected',
  'metadata',
  'tags',
  'id',
  'as it is',
  'nothing',
]

const formats: Readonly<Record<ImportFormat, string>> = {
  jsonl: 'JSON',
  csv: 'CSV',
  parquet: 'Parquet',
  arrow: 'Arrow',
}

const delimiters = [
  ['', 'as found'],
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
] as const

const cellTypes = [
  ['', 'texts'],
  ['auto', 'texts, numbers, true and false'],
] as const

const formulaTexts = [
  ['', 'as they are'],
  ['escaped', 'escaped, as exported here'],
] as const

function ReadingChoice({
  isCsv,
  reading,
  onChange,
}: {
  readonly isCsv: boolean
  readonly reading: Reading
  readonly onChange: (reading: Reading) => void
}) {
  const encodings = [['', 'as found'], ...usualEncodings.map((name) => [name, name])] as const
  return (
    <div class="import-reading">
      <Choice
        label="Encoding"
        options={encodings}
        value={reading.encoding}
        onChange={(encoding) => onChange({ ...reading, encoding })}
      />
      {isCsv && (
        <>
          <Choice
            label="Delimiter"
            options={delimiters}
            value={reading.delimiter}
            onChange={(delimiter) => onChange({ ...reading, delimiter })}
          />
          <Choice
            label="Cells are"
            options={cellTypes}
            value={reading.types}
            onChange={(types) => onChange({ ...reading, types })}
          />
          <Choice
            label="Texts like =1 are"
            options={formulaTexts}
            value={reading.formulas}
            onChange={(formulas) => onChange({ ...reading, formulas })}
          />
        </>
      )}
    </div>
  )
}

function Choice({
  label,
  options,
  value,
  onChange,
}: {
  readonly label: string
  readonly options: readonly (readonly string[])[]
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <span>
      {label}{' '}
      <Select
        label={label}
        value={value}
        options={options.map(([each = '', text = each]) => ({ value: each, label: text }))}
        onChange={onChange}
      />
    </span>
  )
}

function Running({
  progress,
  size,
  onStop,
}: {
  readonly progress: ImportProgress
  readonly size: number
  readonly onStop: () => void
}) {
  return (
    <>
      <label class="progress">
        {counted(progress.written, 'record')} written
        <progress value={progress.bytes} max={Math.max(size, 1)} />
      </label>
      <footer class="dialog-foot">
        <button type="button" onClick={onStop}>
          Stop
        </button>
      </footer>
    </>
  )
}

function Result({
  result,
  unit,
  onClose,
  onOther,
}: {
  readonly result: ImportProgress
  readonly unit: 'line' | 'row'
  readonly onClose: () => void
  readonly onOther: () => void
}) {
  const { written, bad, badCount } = result
  return (
    <>
      <p role="status">
        {counted(written, 'record')} imported
        {badCount > 0 && `, ${counted(badCount, unit)} left out`}.
      </p>
      {bad.length > 0 && (
        <ul
          class="bad-lines"
          aria-label={`${unit === 'line' ? 'Lines' : 'Rows'} that were left out`}
        >
          {bad.map(({ line, fault }) => (
            <li key={line}>
              {unit === 'line' ? 'Line' : 'Row'} {number(line)}: {fault}
            </li>
          ))}
          {badCount > bad.length && <li>… and {number(badCount - bad.length)} others</li>}
        </ul>
      )}
      <footer class="dialog-foot">
        <button type="button" onClick={onOther}>
          Another file
        </button>
        <button type="button" class="primary" onClick={onClose} data-autofocus>
          Done
        </button>
      </footer>
    </>
  )
}
