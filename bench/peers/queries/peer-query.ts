import type { Constants } from './constants.ts'
import type { SqlForm } from './sql-form.ts'

/** Written once for any constants. */
export interface PeerQuery {
  readonly name: string
  /** Clauses, without `from`. */
  readonly btql: (constants: Constants) => string
  /** What rows of the source are; `spans` unless said otherwise. */
  readonly shape?: 'summary'
  readonly sql: (form: SqlForm, constants: Constants) => string
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
