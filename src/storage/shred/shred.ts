/**
 * Shredding: rows of JSON text to typed columns, one set of them per path (`vector/column.ts`).
 *
 * Two passes over the bytes of the rows, neither of which builds values. The first looks at a sample
 * and chooses the paths that become columns (`shred-paths.ts`); the second walks every row and hands
 * each value to the builder of its path, or copies its text into the row's residual. What is longer
 * than 1 MiB, be it one text or all of a field's residual, is left to the row store: the row is then
 * `stored` at the nearest path around it that has columns, the empty path at last.
 *
 * Nothing is lost on the way: `pathReader` (`vector/read-column.ts`) gives back every value.
 */
import { ColumnTable } from '../../vector/column-table.ts'
import { objectRuns, sortRows, type VersionedRow } from './shred-keys.ts'
import { choosePaths } from './shred-paths.ts'
import { RowShredder } from './shred-row.ts'

export interface ShredOptions {
  /** Only these top-level fields; all when absent. */
  readonly fields?: ReadonlySet<string>
  /** Bytes of a text, or of a row's residual, beyond which the row store alone keeps it. */
  readonly maximumValueBytes?: number
}

export const defaultMaximumValueBytes = 2 ** 20

/** Turns rows, given in any order, into columns. The columns hold no reference to the rows. */
export function shred(rows: Iterable<VersionedRow>, options: ShredOptions = {}): ColumnTable {
  const { sorted, keys } = sortRows([...rows])
  const paths = choosePaths(objectRuns(keys.object), (row) => sorted[row]!.row, options.fields)
  const shredder = new RowShredder(sorted.length, paths, {
    fields: options.fields,
    maximumValueBytes: options.maximumValueBytes ?? defaultMaximumValueBytes,
  })
  for (let row = 0; row < sorted.length; row++) shredder.add(row, sorted[row]!.row)
  return new ColumnTable({ rowCount: sorted.length, keys, ...shredder.finish() })
}
