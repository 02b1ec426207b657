/**
 * Rows that a query finds, any number of them, loaded by the block as they come into sight. What
 * follows rows that are there is loaded by their cursor, what one jumps to by its offset, as of the
 * time when rows were counted. Few blocks are kept.
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Rows } from '../component/table.tsx'
import type { Row } from './query.ts'
import { blockRows, nothingStored, RowLoader, type Stored } from './row-loader.ts'

export interface PagesOfRows {
  readonly rows: Rows<Row>
  /** Rows that the query finds; undefined until that is known. */
  readonly total: number | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** Tells which rows are in sight: what is missing of them, and what follows, is loaded. */
  look(first: number, last: number): void
  reload(): void
  /** The place of the first row that is loaded and asked for; -1 if there is none. */
  indexOf(isMeant: (row: Row) => boolean): number
  /**
   * Rows that are newer than those that were found: put before them, or in their place.
   * @param idOf the field that tells rows apart
   */
  take(rows: readonly Row[], idOf: string): void
}

/**
 * @param query in the form that the service prints; undefined loads nothing
 * @param fields what is selected besides the rows, of which long values are cut
 */
export function usePages(query: string | undefined, fields: readonly string[]): PagesOfRows {
  const [stored, setStored] = useState(nothingStored)
  const [error, setError] = useState<Error>()
  const [isLoading, setLoading] = useState(true)
  const [round, setRound] = useState(0)
  const loader = useRef<RowLoader>(undefined)
  const asked = useRef<string>(undefined)
  const key = `${query} ${fields.join()}`

  useEffect(() => {
    // What is asked for again stays in sight until it has come.
    if (asked.current !== key) setStored(nothingStored)
    asked.current = key
    setError(undefined)
    setLoading(true)
    if (query === undefined) return
    const begun = new RowLoader(query, fields, {
      onChange: setStored,
      onLoading: setLoading,
      onError: setError,
    })
    loader.current = begun
    begun.look(0, 0)
    return () => begun.end()
  }, [key, round])

  const rows = useMemo(() => rowsOf(stored), [stored])
  return {
    rows,
    total: stored.isWhole || stored.total !== undefined ? rows.length : undefined,
    error,
    isLoading,
    look: (first, last) => {
      const before = stored.fresh.length
      loader.current?.look(Math.max(0, first - before), Math.max(0, last - before))
    },
    reload: () => setRound((count) => count + 1),
    indexOf: (isMeant) => placeOf(stored, isMeant),
    take: (taken, idOf) => loader.current?.take(taken, idOf),
  }
}

function rowsOf({ blocks, fresh, total, known, isWhole }: Stored): Rows<Row> {
  return {
    length: fresh.length + (isWhole ? known : Math.max(known, total ?? 0)),
    at: (index) => {
      if (index < fresh.length) return fresh[index]
      const place = index - fresh.length
      return blocks.get(Math.floor(place / blockRows))?.[place % blockRows]
    },
  }
}

function placeOf({ blocks, fresh }: Stored, isMeant: (row: Row) => boolean): number {
  const atTop = fresh.findIndex(isMeant)
  if (atTop >= 0) return atTop
  for (const [block, rows] of blocks) {
    const place = rows.findIndex(isMeant)
    if (place >= 0) return fresh.length + block * blockRows + place
  }
  return -1
}
