import type { ColumnSet } from '../vector/column.ts'
import type { RecordsEnvironment, SegmentsEnvironment } from './environment.ts'
import { RecordReader } from './record-reader.ts'
import { SegmentStore } from './segment-store.ts'

/** Reads of one thread on behalf of tasks, each of which sees what was committed when it began. */
export class TaskReads {
  readonly records: RecordReader
  readonly #recordsEnvironment: RecordsEnvironment
  readonly #segments: SegmentStore

  constructor(records: RecordsEnvironment, segments: SegmentsEnvironment) {
    this.records = new RecordReader(records)
    this.#recordsEnvironment = records
    this.#segments = new SegmentStore(segments)
  }

  openSegment(segment: number): ColumnSet {
    return this.#segments.open(segment)
  }

  /** Runs `task`, which must not keep anything that it reads, with fresh read transactions. */
  during<Result>(task: (reads: TaskReads) => Result): Result {
    this.#endReads()
    try {
      return task(this)
    } finally {
      this.#endReads()
    }
  }

  #endReads(): void {
    this.#recordsEnvironment.root.resetReadTxn()
    this.#segments.endReads()
  }
}
