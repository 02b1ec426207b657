/** Records of files as the import reads them. */

import type { FileRecord } from '../../src/import/file-record.ts'
import type { ImportFile } from '../../src/import/import-file.ts'

/** Bytes in chunks of so many, so that what they mean is cut anywhere. */
export async function* inChunks(
  content: string | Uint8Array,
  size = 7,
): AsyncGenerator<Uint8Array> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** A file that is in memory. */
export function fileOf(bytes: Uint8Array, chunkSize?: number): ImportFile {
  const slice = async (start: number, end?: number) =>
    new Uint8Array(bytes.slice(start, end)).buffer
  return {
    stream: () => inChunks(bytes, chunkSize),
    random: { byteLength: bytes.length, slice },
  }
}

/** Lines with the texts of their values, or what is wrong with them. */
export async function readAll(
  records: AsyncIterable<FileRecord | { readonly line: number; readonly fault: string }>,
): Promise<unknown[][]> {
  const read: unknown[][] = []
  for await (const record of records) {
    const what = 'fault' in record ? record.fault : Object.fromEntries(record.values)
    read.push([record.line, what])
  }
  return read
}
