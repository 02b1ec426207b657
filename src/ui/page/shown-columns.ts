/** Which columns the table of logs has, in what order and how wide: as the view says, or as is usual. */
import { useMemo } from 'preact/hooks'
import { type LogColumn, usualColumns } from './log-columns.tsx'
import { changeView, type LogView } from './log-view.ts'

export interface ShownColumns {
  readonly list: readonly LogColumn[]
  /** In the order in which they are shown. */
  readonly ids: readonly string[]
  resize(id: string, width: number): void
  /** Puts a column before another one, or last. */
  move(id: string, before: string | undefined): void
  choose(id: string, isShown: boolean): void
  /** As if nobody had chosen anything. */
  reset(): void
}

export function useShownColumns(
  available: readonly LogColumn[],
  { columns, widths }: LogView,
  isRecords: boolean,
): ShownColumns {
  // What people chose of the columns of records is not for those of a result.
  const ids = (isRecords && columns) || usualColumns(available, isRecords)
  const key = `${ids.join()} ${JSON.stringify(widths)}`
  const list = useMemo(
    () =>
      ids.flatMap((id) => {
        const column = available.find((each) => each.id === id)
        return column ? [{ ...column, width: widths[id] ?? column.width }] : []
      }),
    [available, key],
  )
  return {
    list,
    ids,
    resize: (id, width) => changeView({ widths: { ...widths, [id]: width } }),
    move: (id, before) => {
      const others = ids.filter((each) => each !== id)
      const place = before === undefined ? others.length : others.indexOf(before)
      changeView({ columns: [...others.slice(0, place), id, ...others.slice(place)] })
    },
    choose: (id, isShown) => {
      const others = ids.filter((each) => each !== id)
      changeView({ columns: isShown ? [...others, id] : others })
    },
    reset: () => changeView({ columns: undefined, widths: {} }),
  }
}
