import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { formatTimestamp } from '../type/time.ts'
import type { Value } from '../type/value.ts'
import { writeJson } from '../type/write-json.ts'
import type { Line } from './import-source.ts'
import { recordOf } from './table-record.ts'

/** Rows that are in memory at a time. */
const rowsAtATime = 4096

/** Records of a Parquet file, numbered by their rows. */
export async function* parquetLines(
  path: string,
  size: number,
  onRead: (bytes: number) => void,
): AsyncGenerator<Line> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const rowCount = Number(metadata.num_rows)
  for (let from = 0; from < rowCount; from += rowsAtATime) {
    const to = Math.min(rowCount, from + rowsAtATime)
    const rows = await parquetReadObjects({
      file,
      metadata,
      compressors,
      rowStart: from,
      rowEnd: to,
    })
    for (const [i, row] of rows.entries()) {
      const cells = Object.entries(row).map(([name, cell]) => [name, valueOfCell(cell)] as const)
      const number = from + i + 1
      try {
        yield { number, bytes: Buffer.from(writeJson(recordOf(cells))) }
      } catch (error) {
        yield { number, bytes: Buffer.alloc(0), fault: (error as Error).message }
      }
    }
    onRead((size * (to - from)) / rowCount)
  }
}

/** A cell in the values of JSON: times as texts, bytes in base64. */
function valueOfCell(cell: unknown): Value {
  switch (typeof cell) {
    case 'string':
    case 'boolean':
      return cell
    case 'number':
      return Number.isFinite(cell) ? cell : null
    case 'bigint':
      return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell
    case 'object':
      break
    default:
      return null
  }
  if (cell === null) return null
  if (cell instanceof Date) return formatTimestamp(cell.getTime())
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString('base64')
  if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
    return Array.from(cell as Iterable<unknown>, valueOfCell)
  }
  return Object.fromEntries(
    Object.entries(cell).map(([name, value]) => [name, valueOfCell(value)] as const),
  )
}
