/** Records of Arrow, from a stream or a file of IPC, numbered by their rows. */
import {
  CompressionType,
  compressionRegistry,
  type Data,
  type Field,
  RecordBatchReader,
} from 'apache-arrow'
import { decompressZstd } from 'hyparquet-compressors'
import { type CellReader, cellReader, extensionOf } from './arrow-cells.ts'
import { type ColumnTypes, retyped } from './column-types.ts'
import { type BadLine, type FileRecord, reasonOf } from './file-record.ts'
import { decompressLz4Frame } from './lz4-frame.ts'

compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => decompressZstd(bytes) })
compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decompressLz4Frame })

/** Of a file, which goes on like a stream. */
const fileMark = 'ARROW1\0\0'

export async function* arrowRecords(
  chunks: AsyncIterable<Uint8Array>,
  types: ColumnTypes,
): AsyncGenerator<FileRecord | BadLine> {
  const reader = await RecordBatchReader.from(withoutMark(chunks))
  try {
    await reader.open({ autoDestroy: false })
    checkNames(reader.schema.fields)
    let line = 0
    for await (const batch of reader) {
      const columns = batch.schema.fields.map((field, i) => {
        return openColumn(field, batch.data.children[i]!, types)
      })
      for (let row = 0; row < batch.numRows; row++) yield recordOf(++line, columns, row)
    }
  } finally {
    await reader.cancel()
  }
}

function checkNames(fields: readonly Field[]): void {
  const names = new Set<string>()
  for (const { name } of fields) {
    if (names.has(name)) throw new Error(`the column "${name}" is there twice`)
    names.add(name)
  }
}

interface Column {
  readonly name: string
  readonly read: (row: number) => string | undefined
}

function openColumn({ name, metadata }: Field, data: Data, types: ColumnTypes): Column {
  const type = types.of(name)
  const extension = extensionOf(metadata) ?? (type === 'text' ? 'text' : undefined)
  let read: CellReader
  try {
    read = cellReader(data, extension)
  } catch (error) {
    throw new Error(`the column "${name}": ${reasonOf(error)}`)
  }
  return { name, read: (row) => retyped(read(row), type) }
}

function recordOf(line: number, columns: readonly Column[], row: number): FileRecord | BadLine {
  const values = new Map<string, string>()
  for (const { name, read } of columns) {
    try {
      const json = read(row)
      if (json !== undefined && json !== 'null') values.set(name, json)
    } catch (error) {
      return { line, fault: `its "${name}" is ${reasonOf(error)}` }
    }
  }
  return { line, values }
}

async function* withoutMark(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | undefined = new Uint8Array(0)
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk
      continue
    }
    const joined: Uint8Array = new Uint8Array(head.length + chunk.length)
    joined.set(head)
    joined.set(chunk, head.length)
    head = joined
    if (head.length < fileMark.length) continue
    const isFile = [...fileMark].every((character, i) => joined[i] === character.charCodeAt(0))
    head = undefined
    yield isFile ? joined.subarray(fileMark.length) : joined
  }
  if (head && head.length > 0) yield head
}
