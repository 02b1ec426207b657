/** What stands around the rows of an answer, so that its bytes are a whole stream or file. */
import { assert } from '../../error.ts'
import type {
  ColumnsForm,
  FormColumn,
  PrintedRows,
  RowForm,
} from '../../executor/print/row-form.ts'
import type { RowPlace } from '../../executor/task/task.ts'
import { arrowHead, arrowTail } from '../../format/arrow-stream.ts'
import type { TypedColumn } from '../../format/column-type.ts'
import { csvHead } from '../../format/csv.ts'
import { ParquetFooter, parquetHead } from '../../format/parquet-file.ts'

/** What is printed of an answer: some of its rows, or what begins or ends it. */
export interface RowChunk extends RowPlace {
  readonly rowCount: number
  /** Of JSON, rows with the separator between them. The bytes of any other form go end to end. */
  readonly bytes: Uint8Array
  /** Of rows of Parquet. */
  readonly group?: PrintedRows['group']
}

/** The chunks of rows, with what begins and what ends the answer. Of JSON, rows come alone. */
export async function* framed(
  chunks: AsyncIterable<RowChunk>,
  form: () => RowForm,
): AsyncGenerator<RowChunk> {
  let frame: Frame | undefined
  for await (const chunk of chunks) {
    if (!frame) {
      frame = frameOf(form())
      if (frame) yield frameChunk(frame.head)
    }
    frame?.add(chunk)
    yield chunk
  }
  if (!frame) {
    frame = frameOf(form())
    if (frame) yield frameChunk(frame.head)
  }
  const tail = frame?.finish()
  if (tail && tail.length > 0) yield frameChunk(tail)
}

interface Frame {
  readonly head: Uint8Array
  add(chunk: RowChunk): void
  finish(): Uint8Array
}

function frameOf(form: RowForm): Frame | undefined {
  switch (form.kind) {
    case 'json':
      return undefined
    case 'csv': {
      const head = csvHead(
        form.columns.map(({ name }) => name),
        form.escapesFormulas,
      )
      return { head, add: () => undefined, finish: () => new Uint8Array() }
    }
    case 'arrow':
      return { head: arrowHead(typed(form)), add: () => undefined, finish: arrowTail }
    case 'parquet':
      return parquetFrame(typed(form))
  }
}

function parquetFrame(columns: readonly TypedColumn[]): Frame {
  const footer = new ParquetFooter(columns)
  return {
    head: parquetHead(),
    add: ({ bytes, group }) => {
      assert(group, 'rows of Parquet come without what the footer says of them')
      footer.add({ bytes, metadata: group })
    },
    finish: () => footer.finish(),
  }
}

function typed({ columns }: ColumnsForm): (FormColumn & TypedColumn)[] {
  return columns.map((column) => {
    assert(column.type, 'an answer begins before the types of its columns are known')
    return { ...column, type: column.type }
  })
}

function frameChunk(bytes: Uint8Array): RowChunk {
  return { rowCount: 0, bytes, last: undefined, lastSorted: undefined }
}
