import type { Path } from '../type/value.ts'
import type { Selection, Vector } from '../vector/vector.ts'

/** Rows that are evaluated together, at most `granuleRows` of them and all of one object. */
export interface Batch {
  readonly rowCount: number
  /** The field's value in the selected rows. */
  field(path: Path, selection: Selection): Vector
  /** One byte per row: 1 where the field is null. Cheaper than its values. */
  isNull(path: Path, selection: Selection): Uint8Array
  /** A column of the aggregation that made the rows; batches of scans have none. */
  groupColumn?(index: number, selection: Selection): Vector
}
