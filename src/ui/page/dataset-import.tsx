/** A file into a dataset: which of its columns become what, how far it is, and what was wrong in it. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../component/dialog.tsx'
import { number } from '../component/format.ts'
import { Failure, Loading } from '../component/notice.tsx'
import { tell } from '../component/toast.tsx'
import { useAction } from '../service/action.ts'
import { useJsonLibrary } from '../service/field-text.ts'
import {
  type BadLine,
  type FileKind,
  type FileRecord,
  kindOf,
  recordsOfFile,
  type Target,
  usualTarget,
} from '../service/import-file.ts'
import { type ImportProgress, importFile } from '../service/import-run.ts'
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
      <p>Drop a file here: JSON lines, a JSON array, or CSV with names in its first line.</p>
      <label>
        Or choose one{' '}
        <input
          type="file"
          accept=".jsonl,.ndjson,.json,.csv,.tsv,.txt"
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

interface Sample {
  readonly kind: FileKind
  readonly columns: readonly string[]
  readonly records: readonly FileRecord[]
  readonly firstFault: BadLine | undefined
}

function Import({
  datasetId,
  file,
  onClose,
  onChange,
  onOther,
}: DatasetImportProps & { readonly file: File; readonly onOther: () => void }) {
  const library = useJsonLibrary()
  const isReady = library.data !== undefined
  const sample = useLoaded(isReady ? `sample ${file.name} ${file.size}` : undefined, async () => {
    const kind = kindOf(file.name, await file.slice(0, 1000).text())
    const records: FileRecord[] = []
    let firstFault: BadLine | undefined
    for await (const record of recordsOfFile(file, { kind, library: library.data! })) {
      if ('fault' in record) firstFault ??= record
      else records.push(record)
      if (records.length === sampledRecords) break
    }
    const columns = [...new Set(records.flatMap(({ values }) => [...values.keys()]))]
    return { kind, columns, records, firstFault } satisfies Sample
  })
  const [chosen, setChosen] = useState<ReadonlyMap<string, Target>>(new Map())
  const [progress, setProgress] = useState<ImportProgress>()
  const [result, setResult] = useState<ImportProgress>()
  const abandon = useRef(new AbortController())
  useEffect(() => () => abandon.current.abort(), [])
  const run = useAction(async () => {
    if (!sample.data || !library.data) return
    const { kind } = sample.data
    abandon.current = new AbortController()
    setProgress({ bytes: 0, written: 0, bad: [], badCount: 0 })
    try {
      const done = await importFile(file, {
        datasetId,
        kind,
        // Columns that only later records have go where columns of their name usually go.
        targetOf: (column) => chosen.get(column) ?? usualTarget(column, kind),
        library: library.data,
        onProgress: setProgress,
        signal: abandon.current.signal,
      })
      setResult(done)
      tell(`Imported ${number(done.written)} records`)
    } finally {
      onChange()
    }
  })
  const error = library.error ?? sample.error
  if (error) return <Failure error={error} retry={onOther} />
  if (!sample.data) return <Loading what={file.name} />
  if (result) return <Result result={result} onClose={onClose} onOther={onOther} />
  if (run.isBusy && progress) {
    return <Running progress={progress} size={file.size} onStop={() => abandon.current.abort()} />
  }
  const { columns, records, kind, firstFault } = sample.data
  return (
    <>
      <p>
        <strong>{file.name}</strong>, {number(Math.ceil(file.size / 1024))} KB: {kinds[kind]}
      </p>
      {run.error && <Failure error={run.error} />}
      {run.error && progress && (
        <p>{number(progress.written)} records were written before that, and stay.</p>
      )}
      {columns.length === 0 ? (
        <p class="bad">
          There is no record in it
          {firstFault && `: line ${firstFault.line}: ${firstFault.fault}`}.
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
                    <select
                      aria-label={`What ${column} becomes`}
                      value={chosen.get(column) ?? usualTarget(column, kind)}
                      onChange={(event) => {
                        const target = event.currentTarget.value as Target
                        setChosen(new Map(chosen).set(column, target))
                      }}
                    >
                      {targets.map((target) => (
                        <option key={target} value={target}>
                          {target}
                        </option>
                      ))}
                    </select>
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

const kinds: Readonly<Record<FileKind, string>> = {
  jsonl: 'JSON lines',
  json: 'a JSON array',
  csv: 'CSV',
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
        {number(progress.written)} records written
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
  onClose,
  onOther,
}: {
  readonly result: ImportProgress
  readonly onClose: () => void
  readonly onOther: () => void
}) {
  const { written, bad, badCount } = result
  return (
    <>
      <p role="status">
        {number(written)} records were imported
        {badCount > 0 && `, ${number(badCount)} lines were left out`}.
      </p>
      {bad.length > 0 && (
        <ul class="bad-lines" aria-label="Lines that were left out">
          {bad.map(({ line, fault }) => (
            <li key={line}>
              Line {number(line)}: {fault}
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
