/** Records of Arrow, from a stream or a file of IPC, numbered by their rows. */
import {
  CompressionType,
  compressionRegistry,
  type Data,
  type Field,
  type RecordBatch,
  RecordBatchReader,
  Type,
} from 'apache-arrow'
import { ByteBuffer } from 'flatbuffers'
import { decompressZstd } from 'hyparquet-compressors'
import { type CellReader, cellReader, extensionOf } from './arrow-cells.ts'
import { type ColumnTypes, retyped } from './column-types.ts'
import { damageOf, ListRoom } from './damage.ts'
import type { BadLine, FileRecord } from './file-record.ts'
import type { ImportFile, OnRead, RandomFile } from './import-file.ts'
import { decompressLz4Frame } from './lz4-frame.ts'

compressionRegistry.set(CompressionType.ZSTD, {
  // At the start of its memory, as views of words need it.
  decode: (bytes) => decompressZstd(bytes).slice(),
})
compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decompressLz4Frame })

const { __vector_len: lengthOf } = ByteBuffer.prototype
/** What describes a batch may claim billions of fields or buffers, each of which the library would look at. */
ByteBuffer.prototype.__vector_len = function (offset) {
  const length = lengthOf.call(this, offset)
  if (length < 0 || length > this.capacity()) throw new Error('more parts than it has bytes')
  return length
}

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
  const reader = await unlessDamaged(RecordBatchReader.from(source))
  try {
    await open(reader)
    checkNames(reader.schema.fields)
    const batchBytes = reader.isFile() ? random!.byteLength / reader.numRecordBatches : 0
    const room = new ListRoom()
    const batches = batchesOf(reader)
    let line = 0
    for (;;) {
      const { done, value: batch } = await unlessDamaged(batches.next())
      if (done) break
      const columns = openColumns(batch, types, room)
      for (let row = 0; row < batch.numRows; row++) {
        room.reset()
        yield recordOf(++line, columns, row)
      }
      if (isFile) onRead(batchBytes)
    }
  } finally {
    await reader.cancel()
  }
}

/** Of a file, by what its end says: the library would look for a damaged one without end. */
async function* batchesOf(reader: RecordBatchReader): AsyncGenerator<RecordBatch> {
  if (!reader.isFile()) {
    yield* reader
    return
  }
  const count = reader.numRecordBatches
  for (let i = 0; i < count; i++) {
    const batch = await reader.readRecordBatch(i)
    if (!batch) throw new Error(`part ${i + 1} of ${count} is not there`)
    yield batch
  }
}

/** The library takes what a file says of itself for true. */
async function unlessDamaged<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw new Error(`the file cannot be read as Arrow: ${damageOf(error)}`, { cause: error })
  }
}

/** Rows of a batch that may come without a byte of their own. */
const mostEmptyRows = 65_536

function openColumns(batch: RecordBatch, types: ColumnTypes, room: ListRoom): Column[] {
  const { schema, data, numRows } = batch
  const hasValues = data.children.some(
    ({ type, length }) => type.typeId !== Type.Null && length >= numRows,
  )
  if (!hasValues && numRows > mostEmptyRows) throw new Error(`${numRows} rows without any value`)
  return schema.fields.map((field, i) => openColumn(field, data.children[i]!, types, room))
}

async function open(reader: RecordBatchReader): Promise<void> {
  try {
    await reader.open({ autoDestroy: false })
    if (!reader.schema) throw new Error('it says nothing of its columns')
  } catch (error) {
    throw new Error(
      `the file cannot be read as Arrow: ${damageOf(error)}. Some programs write files that are no stream, which can be read where they ` +
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

function openColumn(
  { name, metadata }: Field,
  data: Data,
  types: ColumnTypes,
  room: ListRoom,
): Column {
  const type = types.of(name)
  const extension = extensionOf(metadata) ?? (type === 'text' ? 'text' : undefined)
  let read: CellReader
  try {
    read = cellReader(data, room, extension)
  } catch (error) {
    throw new Error(`the column "${name}": ${damageOf(error)}`)
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
      return { line, fault: `its "${name}" is ${damageOf(error)}` }
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
