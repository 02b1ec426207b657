/** What records are imported from. */
import type { BadLine, FileRecord } from '../import/file-record.ts'

export interface SourceRecord {
  readonly record: FileRecord | BadLine
  /** Where the next run can go on, when it and all before it are imported. */
  readonly position?: string
}

export interface ImportSource {
  /** As messages show it. */
  readonly label: string
  /** As ids made from it have it: the same wherever the file is. */
  readonly name: string
  /** What its records are numbered by. */
  readonly unit: 'line' | 'row' | 'record'
  /** Whether nested fields have columns of their own. */
  readonly isTable: boolean
  /** Tells it from all others, and from itself with other contents; undefined when it is read only once. */
  readonly identity: readonly string[] | undefined
  /** In what `onRead` counts: bytes of a file, records of an object; undefined when it is not known. */
  size(): Promise<number | undefined>
  /**
   * Opens it. `onRead` is told what has been read, before decompression, with what is passed over.
   * @param from a position; undefined for all records
   */
  records(from: string | undefined, onRead: (size: number) => void): AsyncGenerator<SourceRecord>
}
