import type { ReadTransaction, RecordsEnvironment } from '../environment.ts'
import { RecordReader } from '../read/record-reader.ts'
import type { SegmentSink } from '../segment/segment-sink.ts'

/** The records as they were when the work began. */
export interface RecordsRead {
  readonly reader: RecordReader
  readonly transaction: ReadTransaction
}

/**
 * Writes segments of what one read transaction sees. What was begun of them is discarded when `write` throws, and the read
 * ends in any case.
 */
export function writeSegments<Result>(
  records: RecordsEnvironment,
  begin: (read: RecordsRead) => SegmentSink,
  write: (sink: SegmentSink, read: RecordsRead) => Result,
): Result {
  const { root } = records
  root.resetReadTxn()
  const read = { reader: new RecordReader(records), transaction: root.useReadTransaction() }
  let sink: SegmentSink | undefined
  try {
    sink = begin(read)
    return write(sink, read)
  } catch (thrown) {
    sink?.discard()
    throw thrown
  } finally {
    read.transaction.done()
    root.resetReadTxn()
  }
}
