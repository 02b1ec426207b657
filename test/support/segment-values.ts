import { statSync } from 'node:fs'
import { join } from 'node:path'

/** The key of a segment. */
export function segmentKey(number: number): Buffer {
  const key = Buffer.alloc(4)
  key.writeUInt32BE(number)
  return key
}

/** The files of segments, by a database that is in each. */
export const fileOf = { columns: 'segments/columns/data.mdb', textIndexes: 'segments/data.mdb' }

/** What a file takes on disk, where holes take nothing. */
export function diskBytes(directory: string, name: keyof typeof fileOf = 'columns'): number {
  return statSync(join(directory, fileOf[name])).blocks * 512
}
