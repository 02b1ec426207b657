/** Reads records that another thread or process writes. */
import { beginRead, type RecordsEnvironment } from '../storage/environment.ts'
import { RecordReader } from '../storage/read/record-reader.ts'
import type { BatchSource } from './batch-reader.ts'

/** Calls `read` within one transaction, which ends with it. */
export type ReadSource = <Result>(read: (source: BatchSource) => Result) => Result

/** @param isThere whether rows of the object are exported */
export function sourceOf(records: RecordsEnvironment, isThere: BatchSource['isThere']): ReadSource {
  const { root } = records
  const reader = new RecordReader(records)
  return (read) => {
    root.resetReadTxn()
    const transaction = beginRead(root)
    try {
      return read({ reader, transaction, isThere })
    } finally {
      transaction.done()
      root.resetReadTxn()
    }
  }
}
