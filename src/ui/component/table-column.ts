import type { ComponentChildren } from 'preact'

/** One column of a table, and what its cells show. */
export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** In pixels. */
  readonly width: number
  readonly isNumber?: boolean
  readonly isSortable?: boolean
  /** Shown when the pointer rests on the title. */
  readonly description?: string
  /** @param length characters that the cell has room for at most: text beyond costs time to lay out */
  readonly cell: (row: Row, length: number) => ComponentChildren
  /** Shown whole when the pointer rests on the cell. */
  readonly hint?: (row: Row) => string
}
