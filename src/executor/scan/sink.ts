import type { PlanProfile } from '../../planner/plan-profile.ts'
import type { Batch, Field } from '../expression/batch.ts'
import type { FilteredRows, RowCount } from '../filter/filtered-rows.ts'
import type { GroupsResult, RowsResult, ScanMetrics } from '../task/task.ts'
import type { BatchRange } from './granules.ts'
import type { RowRun } from './row-run.ts'

/** Takes the rows that pass the filter. */
export interface Sink {
  /** Whether it takes rows of a batch of any length that are told by a range of a field, or are only counted. */
  takes(batch: Batch, range: Field | undefined): boolean
  /** Returns how many rows they are. */
  add(run: RowRun, batch: Batch, kept: FilteredRows | RowCount): number
  /**
   * The batches of a run in the order in which this sink wants them; it tells `skipped` of those that
   * cannot matter by what is known when their turn comes.
   */
  batches(run: RowRun, skipped: PlanProfile): Iterable<BatchRange>
  /** Whether later batches of this run cannot matter. */
  isDone(run: RowRun): boolean
  /** Of a task whose result may be partial: leaves out half of the rows; false when it can leave out none. */
  halve(): boolean
  /** About as many bytes as it holds. */
  readonly heldBytes: number
  /** Groups or rows that it would give if it ended. */
  readonly resultCount: number
  finish(metrics: ScanMetrics): GroupsResult | RowsResult
}
