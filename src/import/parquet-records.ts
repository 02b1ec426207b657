/** Records of a Parquet file, numbered by their rows. */
import { type FileMetaData, parquetMetadataAsync, parquetRead } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import type { ColumnTypes } from './column-types.ts'
import { damageOf } from './damage.ts'
import type { BadLine, FileRecord } from './file-record.ts'
import type { OnRead, RandomFile } from './import-file.ts'
import { type OpenedColumns, openColumns, type ParquetColumn } from './parquet-cells.ts'

/** What is read at a time of a row group, before its compression. */
const bytesAtATime = 64 * 2 ** 20
const rowsAtATime = 64 * 1024

export async function* parquetRecords(
  file: RandomFile,
  types: ColumnTypes,
  onRead: OnRead,
): AsyncGenerator<FileRecord | BadLine> {
  const { metadata, columns, plain } = await open(file, types)
  checkNames(columns)
  const rowCount = Number(metadata.num_rows)
  let first = 0
  for (const group of metadata.row_groups) {
    const count = Number(group.num_rows)
    const parts = Math.max(Number(group.total_byte_size) / bytesAtATime, count / rowsAtATime)
    const step = Math.max(1, Math.ceil(count / Math.max(1, parts)))
    for (let from = first; from < first + count; from += step) {
      const to = Math.min(first + count, from + step)
      const cells: CellsOfColumn[] = []
      for (const column of columns) {
        cells.push({ column, cells: await readCells(file, plain, column, from, to) })
      }
      for (let row = from; row < to; row++) yield recordOf(row + 1, cells, row - from)
      // What the file says of its rows need not be so.
      if (cells.every(({ cells }) => cells.every((cell) => cell instanceof Unreadable))) break
      onRead((file.byteLength * (to - from)) / rowCount)
    }
    first += count
  }
}

async function open(
  file: RandomFile,
  types: ColumnTypes,
): Promise<OpenedColumns & { readonly metadata: FileMetaData }> {
  try {
    const metadata = await parquetMetadataAsync(file, { geoparquet: false })
    return { metadata, ...openColumns(metadata, types) }
  } catch (error) {
    const reason = `the file cannot be read as Parquet: ${damageOf(error)}`
    throw new Error(reason, { cause: error })
  }
}

function checkNames(columns: readonly ParquetColumn[]): void {
  const names = new Set<string>()
  for (const { name } of columns) {
    if (names.has(name)) throw new Error(`the column "${name}" is there twice`)
    names.add(name)
  }
}

interface CellsOfColumn {
  readonly column: ParquetColumn
  /** As the reader gives them; of rows that cannot be read, why. */
  readonly cells: readonly unknown[]
}

class Unreadable {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** Rows that are given up together, where something among them is damaged. */
const fewestRows = 1024

async function readCells(
  file: RandomFile,
  metadata: FileMetaData,
  column: ParquetColumn,
  rowStart: number,
  rowEnd: number,
): Promise<unknown[]> {
  const cells: unknown[] = []
  try {
    await parquetRead({
      file,
      metadata,
      compressors,
      rowStart,
      rowEnd,
      columns: [column.key],
      utf8: false,
      parsers: { timestampFromNanoseconds: (count: bigint) => count },
      onComplete: (rows: unknown[][]) => {
        for (const [cell] of rows) cells.push(cell)
      },
    })
    while (cells.length < rowEnd - rowStart) cells.push(new Unreadable('it is not there'))
    return cells
  } catch (error) {
    const count = rowEnd - rowStart
    if (count <= fewestRows) return new Array(count).fill(new Unreadable(damageOf(error)))
    const middle = rowStart + Math.ceil(count / 2)
    const first = await readCells(file, metadata, column, rowStart, middle)
    return first.concat(await readCells(file, metadata, column, middle, rowEnd))
  }
}

function recordOf(
  line: number,
  columns: readonly CellsOfColumn[],
  row: number,
): FileRecord | BadLine {
  const values = new Map<string, string>()
  for (const { column, cells } of columns) {
    const { name, write } = column
    const cell = cells[row]
    if (cell === null || cell === undefined) continue
    if (cell instanceof Unreadable) {
      return { line, fault: `its "${name}" cannot be read: ${cell.reason}` }
    }
    try {
      const json = write(cell)
      if (json !== undefined && json !== 'null') values.set(name, json)
    } catch (error) {
      return { line, fault: `its "${name}" is ${damageOf(error)}` }
    }
  }
  return { line, values }
}
