/** A result as a table of any length; a row opens beside it, whole. */
import { useMemo, useState } from 'preact/hooks'
import { counted, number, preview, time } from '../component/format.ts'
import { Icon } from '../component/icon.tsx'
import { JsonView } from '../component/json-view.tsx'
import { Table } from '../component/table.tsx'
import type { Column } from '../component/table-column.ts'
import type { Row } from '../service/query.ts'
import { addressWith, openBeside, parameter, setParameters } from '../state/location.ts'
import { type ColumnKind, kindOf } from './plot-data.ts'
import type { Run } from './query-run.ts'

interface NumberedRow {
  readonly index: number
  readonly row: Row
}

const widths: Readonly<Record<ColumnKind, number>> = {
  time: 170,
  number: 120,
  text: 200,
  other: 280,
}

export function ResultTable({ run, onMore }: { readonly run: Run; readonly onMore: () => void }) {
  const { rows, columns, hasMore, isRunning } = run
  const [chosenWidths, setWidths] = useState<Readonly<Record<string, number>>>({})
  const names = [...columns.keys()].join('\n')
  // What a column holds is told by the first page.
  const shown = useMemo(
    () => [...columns].map(([name, schema]) => columnOf(name, kindOf(name, schema, rows))),
    [names, run.text, rows.length > 0],
  )
  const sized = useMemo(
    () => shown.map((column) => ({ ...column, width: chosenWidths[column.id] ?? column.width })),
    [shown, chosenWidths],
  )
  const numbered = useMemo(() => rows.map((row, index) => ({ index, row })), [rows])
  const open = parameter('row')
  const opened = open === undefined ? undefined : numbered[Number(open)]
  const close = () => setParameters({ row: undefined })
  return (
    <div class={opened ? 'result-rows open' : 'result-rows'}>
      <Table<NumberedRow>
        label="Result"
        columns={sized}
        rows={numbered}
        rowId={({ index }) => String(index)}
        openId={open}
        onOpen={({ index }) => openBeside({ row: String(index) })}
        linkOf={({ index }) => addressWith({ row: String(index) })}
        onEnd={onMore}
        onResize={(id, width) => setWidths({ ...chosenWidths, [id]: width })}
        foot={
          <p class="hint" role="status">
            {isRunning
              ? 'Loading…'
              : `${counted(rows.length, 'row')}${hasMore ? ', more below' : ''}`}
          </p>
        }
      />
      {opened && (
        <section class="opened" aria-label={`Row ${opened.index + 1}`}>
          <header class="page-head">
            <h2>Row {number(opened.index + 1)}</h2>
            <button type="button" onClick={close} aria-label="Close the row">
              <Icon name="close" />
            </button>
          </header>
          {[...columns.keys()].map((name) => (
            <Value key={name} name={name} value={opened.row[name]} />
          ))}
        </section>
      )}
    </div>
  )
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  const isShort = typeof value !== 'object' && String(value).length < 120
  return (
    <div class="value">
      <h3>{name}</h3>
      {value === null || value === undefined ? (
        <p class="hint">null</p>
      ) : isShort ? (
        <p>{String(value)}</p>
      ) : (
        <JsonView value={value} label={name} />
      )}
    </div>
  )
}

function columnOf(name: string, kind: ColumnKind): Column<NumberedRow> {
  return {
    id: name,
    title: name,
    width: Math.max(widths[kind], Math.min(name.length * 8 + 30, 300)),
    isNumber: kind === 'number',
    cell: ({ row }) => cellOf(row[name], kind),
    hint: ({ row }) => (kind === 'time' ? String(row[name] ?? '') : preview(row[name], 1000)),
  }
}

function cellOf(value: unknown, kind: ColumnKind) {
  if (value === null || value === undefined) return <span class="hint">null</span>
  if (kind === 'number') return number(value)
  if (kind === 'time') return time(value) || preview(value)
  return preview(value)
}
