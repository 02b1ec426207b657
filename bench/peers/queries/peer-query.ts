import type { SqlForm } from './sql-form.ts'

export interface PeerQuery {
  readonly name: string
  /** Clauses, without `from`. */
  readonly btql: string
  /** What rows of the source are; `spans` unless said otherwise. */
  readonly shape?: 'summary'
  /** True unless said otherwise: scans of the columns are what is measured. */
  readonly useColumnstore?: boolean
  readonly sql: (form: SqlForm) => string
  /** Whether the order of rows is a part of the answer. */
  readonly isOrdered?: boolean
  /** Columns with times: milliseconds since 1970 in the peers' answers. */
  readonly times?: readonly string[]
  /**
   * Rows are whole records: the peers give them as `body`. What a record was sent with is compared;
   * fields that are null or empty count as missing, since not every layout keeps them.
   */
  readonly isWhole?: boolean
}

/** What of the data the queries ask about. */
export interface QueryContext {
  readonly id: string
  readonly trace: string
  /** A few hours in the middle of the data, whatever its size. */
  readonly from: string
  readonly to: string
}
