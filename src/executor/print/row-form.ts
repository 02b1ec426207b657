/** The form that rows are printed in, which goes with every task that prints. Plain data. */
import type { OutputColumn } from '../../binder/bound.ts'
import type { ColumnType } from '../../format/column-type.ts'
import type { ParquetRowGroup } from '../../format/parquet-file.ts'

export type RowForm =
  /** Objects, with the separator between them. */
  { readonly kind: 'json'; readonly separator: string } | ColumnsForm

/** Rows as fields, or columns, in this order. */
export interface ColumnsForm {
  readonly kind: 'csv' | 'arrow' | 'parquet'
  /** Of CSV: whether texts that a spreadsheet would take for formulas are escaped. */
  readonly escapesFormulas: boolean
  readonly columns: readonly FormColumn[]
}

export interface FormColumn extends OutputColumn {
  /** Undefined until rows have told; of CSV it need not be known. */
  readonly type: ColumnType | undefined
  /** Of texts: whether they come as codes of a dictionary. */
  readonly isCoded: boolean
}

/** Whether rows need not be asked for more. */
export function isInferred({ kind, columns }: ColumnsForm): boolean {
  return kind === 'csv' || columns.every(({ type }) => type !== undefined)
}

export interface PrintedRows {
  /** How many; fewer than were asked for when they are long. */
  readonly rowCount: number
  /** Without what begins and ends an answer of the form. */
  readonly bytes: Uint8Array
  /** Before they were compressed. */
  readonly rawBytes: number
  /** Of Parquet: what the footer will say of them. */
  readonly group?: ParquetRowGroup['metadata'] | undefined
}
