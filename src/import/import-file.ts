/** A file to read. `onRead` is told which part of it has been read since the last time. */
export interface ImportFile {
  /** From its beginning, after decompression. */
  stream(onRead: OnRead): AsyncIterable<Uint8Array>
  /** Undefined for what can only be read from its beginning, as Parquet cannot. */
  readonly random: RandomFile | undefined
}

export type OnRead = (bytes: number) => void

/** A file that can be read from anywhere. */
export interface RandomFile {
  readonly byteLength: number
  slice(start: number, end?: number): Promise<ArrayBuffer>
}
