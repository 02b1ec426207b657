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
import type { ImportFile, OnRead, RandomFile } from './file-format.ts'
import { type BadLine, type FileRecord, reasonOf } from './file-record.ts'
import { decompressLz4Frame } from './lz4-frame.ts'

compressionRegistry.set(CompressionType.ZSTD, {
  // At the start of its memory, as views of words need it.
  decode: (bytes) => decompressZstd(bytes).slice(),
})
compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decompressLz4Frame })

/** With which a file begins, and not a stream. */
const fileMark = 'ARROW1'

/** What a file that can be read from anywhere says at its end goes before what stands at its beginning. */
export async function* arrowRecords(
  { stream, random }: ImportFile,
  types: ColumnTypes,
  onRead: OnRead,
): AsyncGenerator<FileRecord | BadLine> {
  const isFile = random !== undefined && hasMark(new Uint8Array(await random.slice(0, 6)))
  const source = isFile ? fileHandle(random) : messages(inWords(stream(onRead)))
  const reader = await RecordBatchReader.from(source)
  try {
    await open(reader)
    checkNames(reader.schema.fields)
    const batchBytes = reader.isFile() ? random!.byteLength / reader.numRecordBatches : 0
    let line = 0
    for await (const batch of reader) {
      const columns = batch.schema.fields.map((field, i) => {
        return openColumn(field, batch.data.children[i]!, types)
      })
      for (let row = 0; row < batch.numRows; row++) yield recordOf(++line, columns, row)
      if (isFile) onRead(batchBytes)
    }
  } finally {
    await reader.cancel()
  }
}

async function open(reader: RecordBatchReader): Promise<void> {
  try {
    await reader.open({ autoDestroy: false })
  } catch (error) {
    throw new Error(
      `${reasonOf(error)} Some programs write files that are no stream, which can be read where they ` +
        'are neither compressed nor standard input.',
    )
  }
}

function hasMark(bytes: Uint8Array): boolean {
  return [...fileMark].every((character, i) => bytes[i] === character.charCodeAt(0))
}

/** A file as the library knows them: it takes those of Node, whose type is not known in a browser. */
function fileHandle(file: RandomFile): AsyncIterable<Uint8Array> {
  const handle = {
    fd: 0,
    stat: async () => ({ size: file.byteLength }),
    read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
      const bytes = new Uint8Array(await file.slice(position, position + length))
      buffer.set(bytes, offset)
      return { bytesRead: bytes.length, buffer }
    },
    close: async () => {},
  }
  return handle as unknown as AsyncIterable<Uint8Array>
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

/** Of messages, all of whose parts begin at words, so that their numbers can be read where they are. */
const wordBytes = 8

/** The same bytes in chunks of whole words, each in memory of its own. */
async function* inWords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = new Uint8Array(0)
  for await (const chunk of chunks) {
    const bytes = new Uint8Array(rest.length + chunk.length)
    bytes.set(rest)
    bytes.set(chunk, rest.length)
    const whole = bytes.length - (bytes.length % wordBytes)
    rest = bytes.slice(whole)
    if (whole > 0) yield bytes.subarray(0, whole)
  }
  if (rest.length > 0) yield rest
}

/** Of a file without its mark: most programs write a stream between that and the end. */
async function* messages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isAtStart = true
  for await (const chunk of chunks) {
    const from = isAtStart && hasMark(chunk) ? wordBytes : 0
    isAtStart = false
    if (from < chunk.length) yield chunk.subarray(from)
  }
}
