/** A record of a file, and a line that is none. */

export interface FileRecord {
  /** From 1, where it begins; of Parquet and Arrow, its row. */
  readonly line: number
  /** Texts of JSON by the names of columns; what is null is left out. */
  readonly values: ReadonlyMap<string, string>
  /** The record as JSON, where that is what the file has. */
  readonly text?: string
}

export interface BadLine {
  readonly line: number
  readonly fault: string
}

export function isBadLine(record: FileRecord | BadLine): record is BadLine {
  return 'fault' in record
}

/** What an error says, in one line. */
export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!
}
