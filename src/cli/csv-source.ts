import { pipeline } from 'node:stream'
import { parse } from 'csv-parse'
import { writeJson } from '../type/write-json.ts'
import type { Line } from './import-source.ts'
import { recordOf } from './table-record.ts'

interface CsvRecord {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

/** Records of CSV text whose first line names the columns; numbered by the line that each ends on. */
export async function* csvLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const parser = parse({ bom: true, info: true, relaxColumnCount: true, skipEmptyLines: true })
  const failed = new Promise<never>((_, reject) => {
    pipeline(bytes, parser, (error) => error && reject(error))
  })
  // The iterator below throws the same.
  failed.catch(() => undefined)
  let columns: readonly string[] | undefined
  for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
    if (!columns) {
      columns = record
      continue
    }
    const names = columns
    yield lineOf(info.lines, () => {
      if (record.length > names.length) {
        throw new Error(`it has ${record.length} cells for ${names.length} columns`)
      }
      return recordOf(record.map((cell, i) => [names[i]!, cell] as const))
    })
  }
}

/** What cannot be read is told when the line is made a row of. */
function lineOf(number: number, read: () => ReturnType<typeof recordOf>): Line {
  try {
    return { number, bytes: Buffer.from(writeJson(read())) }
  } catch (error) {
    return { number, bytes: Buffer.alloc(0), fault: (error as Error).message }
  }
}
