/** Rows that are written while one looks: they slide in at the top, unless one has scrolled on. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { number } from '../component/format.ts'
import { useLiveRows } from '../service/live-rows.ts'
import type { Row } from '../service/query.ts'
import { clauseOf, isOfRecords } from '../service/query-text.ts'
import type { PagesOfRows } from '../service/row-pages.ts'
import { parameter, setParameters } from '../state/location.ts'
import { selectedFields } from './log-columns.tsx'
import type { LogView } from './log-view.ts'

export interface Arrivals {
  /** Whether the view is one that new rows can come into. */
  readonly isPossible: boolean
  readonly isOn: boolean
  readonly error: Error | undefined
  /** Rows that came last. */
  readonly newIds: ReadonlySet<string>
  /** Rows that wait, since what one reads must not move. */
  readonly waiting: number
  /** Counts up when what is shown has changed. */
  readonly round: number
  /** The first row in sight. */
  look(first: number): void
  /** Lets those in that wait. */
  admit(): void
  /** Something was changed here: shows it. */
  refresh(): void
}

const nobody: ReadonlySet<string> = new Set()

export function useArrivals(
  query: string | undefined,
  pages: PagesOfRows,
  idOf: string,
  { time, columns }: LogView,
): Arrivals {
  const [newIds, setNewIds] = useState(nobody)
  const [held, setHeld] = useState<ReadonlyMap<string, Row>>(new Map())
  const [round, setRound] = useState(0)
  const isAtTop = useRef(true)
  const isPossible =
    query !== undefined &&
    isOfRecords(query) &&
    clauseOf(query, 'sort') === undefined &&
    clauseOf(query, 'limit') === undefined &&
    (time?.kind !== 'between' || Date.parse(time.to) > Date.now())
  const isOn = isPossible && parameter('live') !== 'off'
  useEffect(() => {
    setNewIds(nobody)
    setHeld(new Map())
  }, [query])

  const admit = (rows: readonly Row[]) => {
    const isFirst = pages.rows.length === 0
    const arrived = isFirst
      ? []
      : rows.filter((row) => pages.indexOf((each) => each[idOf] === row[idOf]) < 0)
    setNewIds(new Set(arrived.map((row) => String(row[idOf]))))
    setHeld(new Map())
    pages.take(rows, idOf)
    setRound((count) => count + 1)
  }
  const { error } = useLiveRows({
    query: isOn ? query : undefined,
    fields: selectedFields(columns),
    onRows: (rows) => {
      const isAnyKnown = rows.some((row) => pages.indexOf((each) => each[idOf] === row[idOf]) >= 0)
      // More came than one can catch up with.
      if (!isAnyKnown && pages.rows.length > 0) pages.reload()
      else if (isAtTop.current) admit(rows)
      else {
        const isNew = (row: Row) => pages.indexOf((each) => each[idOf] === row[idOf]) < 0
        pages.take(
          rows.filter((row) => !isNew(row)),
          idOf,
        )
        setHeld((before) => {
          const added = rows.filter(isNew).map((row) => [String(row[idOf]), row] as const)
          const older = [...before].filter(([id]) => !added.some(([other]) => other === id))
          return new Map([...added, ...older])
        })
      }
    },
  })
  return {
    isPossible,
    isOn,
    error,
    newIds,
    waiting: held.size,
    round,
    look: (first) => {
      const wasAtTop = isAtTop.current
      isAtTop.current = first === 0
      if (!wasAtTop && first === 0 && held.size > 0) admit([...held.values()])
    },
    admit: () => admit([...held.values()]),
    refresh: () => setRound((count) => count + 1),
  }
}

/** Switches live rows off and on, and lets those in that wait. */
export function LiveSwitch({ arrivals }: { readonly arrivals: Arrivals }) {
  const { isPossible, isOn, error, waiting, admit } = arrivals
  return (
    <>
      {waiting > 0 && (
        <button type="button" class="primary" onClick={admit}>
          {number(waiting)} new ↑
        </button>
      )}
      <button
        type="button"
        class={isOn && !error ? 'live on' : 'live'}
        aria-pressed={isOn}
        disabled={!isPossible}
        title={
          isPossible
            ? (error?.message ?? 'New rows come in at the top')
            : 'A sorted, limited or grouped search shows what there was when it was run'
        }
        onClick={() => setParameters({ live: isOn ? 'off' : undefined })}
      >
        <span aria-hidden="true">●</span> Live
      </button>
    </>
  )
}
