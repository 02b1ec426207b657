/** Records of a dataset in a table whose cells are edited in place. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Confirm } from '../component/dialog.tsx'
import { age, counted, number, preview, time } from '../component/format.ts'
import { Empty, Failure, Loading } from '../component/notice.tsx'
import { type PageColumn, PageTable } from '../component/page-table.tsx'
import { tell } from '../component/toast.tsx'
import { deleteRecords, type RecordField, recordFields } from '../service/dataset.ts'
import { quoted, type Row } from '../service/query.ts'
import { addressWith, openBeside, parameter, setParameters } from '../state/location.ts'
import { openWindow } from '../state/opened.ts'
import { useStateOf } from '../state/state-of.ts'
import { CellEditor } from './cell-editor.tsx'
import { plainColumns } from './example-columns.tsx'
import {
  FoundPages,
  FoundSearch,
  isNothing,
  pageNumber,
  useFoundPage,
  useFoundWords,
} from './found-rows.tsx'
import { RecordPanel } from './record-panel.tsx'

export interface DatasetRecordsProps {
  readonly datasetId: string
  /** An `_xact_id`, at which records cannot be changed; undefined for now. */
  readonly version: string | undefined
  /** Another number loads the records anew. */
  readonly round: number
  /** Undefined until it is known. */
  readonly mayChange: boolean | undefined
  readonly isAdding: boolean
  readonly onChange: () => void
}

interface Cell {
  readonly id: string
  readonly field: RecordField
}

const nothingChosen: ReadonlySet<string> = new Set()

export function DatasetRecords(props: DatasetRecordsProps) {
  const { datasetId, version, round, mayChange, isAdding, onChange } = props
  const source = `dataset(${quoted(datasetId)})`
  const found = useFoundWords(source)
  const { text, isOfSource } = found
  const page = pageNumber()
  const open = parameter('row')
  const [edited, setEdited] = useState<Cell>()
  const [chosen, setChosen] = useStateOf([text, version, page], nothingChosen)
  const [isDeleting, setDeleting] = useState(false)
  useFocusAfter(edited)
  const isEditable = mayChange === true && version === undefined && isOfSource
  const rows = useFoundPage(text, { version, round })
  const { shown } = rows
  const columns = useMemo(
    () =>
      !isOfSource
        ? plainColumns(shown)
        : recordColumns({
            datasetId,
            edit: isEditable ? setEdited : undefined,
            edited,
            onSaved: () => {
              setEdited(undefined)
              onChange()
            },
          }),
    [datasetId, isEditable, edited, isOfSource || rows.data],
  )
  const error = found.taken.error ?? rows.error
  const isEmpty = isNothing(found, rows)
  const isBeside = open !== undefined || isAdding
  return (
    <>
      <FoundSearch source={source} found={found} />
      {error && <Failure error={error} retry={rows.reload} />}
      {chosen.size > 0 && (
        <ChosenRecords
          count={chosen.size}
          onDelete={() => setDeleting(true)}
          onClear={() => setChosen(nothingChosen)}
        />
      )}
      {!rows.data || mayChange === undefined ? (
        !error && <Loading what="records" />
      ) : isEmpty && !isAdding ? (
        <NoRecords isOfVersion={version !== undefined} isEditable={isEditable} />
      ) : (
        <div class={isBeside ? 'beside open' : 'beside'}>
          <PageTable
            label="Records"
            columns={columns}
            rows={shown}
            rowId={(row: Row) => (isOfSource ? String(row.id) : JSON.stringify(row))}
            {...(isOfSource && {
              openId: open,
              onOpen: (row: Row) => openBeside(opening(row)),
              onStep: (row: Row) => setParameters(opening(row)),
              linkOf: (row: Row) => addressWith(opening(row)),
            })}
            {...(isEditable && { chosen, onChoose: setChosen })}
            foot={
              <FoundPages
                shown={shown.length}
                total={rows.data.total ?? shown.length}
                what="record"
              />
            }
          />
          {isBeside && (
            <RecordPanel
              key={isAdding ? 'new' : `${open} ${version} ${round}`}
              datasetId={datasetId}
              id={isAdding ? undefined : open}
              version={version}
              isReadOnly={!mayChange || version !== undefined}
              onSaved={(id) => {
                setParameters({ row: id, open: undefined })
                onChange()
              }}
              onClose={() => setParameters({ row: undefined, open: undefined })}
            />
          )}
        </div>
      )}
      {isDeleting && (
        <Confirm
          title={`Delete ${counted(chosen.size, 'record')}?`}
          verb="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await deleteRecords(datasetId, [...chosen])
            tell(`Deleted ${counted(chosen.size, 'record')}`)
            if (open !== undefined && chosen.has(open)) setParameters({ row: undefined })
            setChosen(nothingChosen)
            onChange()
          }}
        >
          <p>Earlier versions keep them, and you can restore one at any time.</p>
        </Confirm>
      )}
    </>
  )
}

function cellKey({ id, field }: Cell): string {
  return `${field} ${id}`
}

/** Gives the focus back to a cell that was edited. */
function useFocusAfter(edited: Cell | undefined): void {
  const last = useRef<Cell>(undefined)
  useEffect(() => {
    const before = last.current
    last.current = edited
    if (edited || !before) return
    const name = CSS.escape(cellKey(before))
    document.querySelector<HTMLElement>(`[data-cell="${name}"]`)?.focus()
  }, [edited])
}

interface ColumnOptions {
  readonly datasetId: string
  readonly edit: ((cell: Cell | undefined) => void) | undefined
  readonly edited: Cell | undefined
  readonly onSaved: () => void
}

const widths: Readonly<Record<RecordField, number>> = {
  input: 300,
  expected: 260,
  metadata: 220,
  tags: 130,
}

function recordColumns(options: ColumnOptions): readonly PageColumn<Row>[] {
  const { datasetId, edit, edited, onSaved } = options
  return [
    {
      id: 'id',
      title: 'Record',
      width: 120,
      cell: (row) => <code>{String(row.id)}</code>,
      hint: (row) => String(row.id),
    },
    ...recordFields.map(
      (field): PageColumn<Row> => ({
        id: field,
        title: `${field.charAt(0).toUpperCase()}${field.slice(1)}`,
        width: widths[field],
        cell: (row) => {
          const id = String(row.id)
          if (!edit) return shownValue(row, field)
          if (edited?.id === id && edited.field === field) {
            return (
              <CellEditor
                datasetId={datasetId}
                id={id}
                field={field}
                onSaved={onSaved}
                onCancel={() => edit(undefined)}
              />
            )
          }
          return (
            <button
              type="button"
              class="plain cell"
              title={`Edit ${field}`}
              data-cell={cellKey({ id, field })}
              onClick={() => edit({ id, field })}
            >
              {shownValue(row, field)}
            </button>
          )
        },
      }),
    ),
    {
      id: 'created',
      title: 'Created',
      width: 110,
      cell: (row) => age(row.created),
      hint: (row) => time(row.created),
    },
  ]
}

function shownValue(row: Row, field: RecordField) {
  const value = row[field]
  if (field === 'tags') {
    return (
      Array.isArray(value) &&
      value.map((tag) => (
        <span class="tag" key={String(tag)}>
          {String(tag)}
        </span>
      ))
    )
  }
  return preview(value) || <span class="hint">–</span>
}

function ChosenRecords(props: {
  readonly count: number
  readonly onDelete: () => void
  readonly onClear: () => void
}) {
  return (
    <div class="chosen" role="toolbar" aria-label="Chosen records">
      <strong>{number(props.count)} chosen</strong>
      <button type="button" class="danger" onClick={props.onDelete}>
        Delete
      </button>
      <button type="button" class="plain" onClick={props.onClear}>
        Clear
      </button>
    </div>
  )
}

function NoRecords(props: { readonly isOfVersion: boolean; readonly isEditable: boolean }) {
  return (
    <Empty
      title={props.isOfVersion ? 'No records in this version' : 'No records yet'}
      sketch="records"
    >
      {props.isEditable && (
        <>
          <p>Add rows from the logs, write a record by hand, or import JSON lines or CSV:</p>
          <pre>{'{"input": "What is 2 + 2?", "expected": "4", "metadata": {"topic": "sums"}}'}</pre>
          <button type="button" onClick={() => openWindow('import')}>
            Import a file
          </button>
        </>
      )}
    </Empty>
  )
}

function opening(row: Row) {
  return { row: String(row.id), open: undefined }
}
