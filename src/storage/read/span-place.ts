import { parseJson } from '../../type/parse-json.ts'
import type { ReadTransaction } from '../environment.ts'
import type { RecordReader } from './record-reader.ts'

/** Which span a record is, and of which trace. */
export interface SpanPlace {
  readonly spanId: string
  readonly rootSpanId: string
}

/** Of the records of an object that are there, by their ids. */
export function placesOf(
  records: RecordReader,
  object: number,
  ids: readonly string[],
  transaction: ReadTransaction,
): Map<string, SpanPlace> {
  const places = new Map<string, SpanPlace>()
  for (const id of ids) {
    const view = records.latest(object, id, transaction)?.view
    if (!view) continue
    const text = (name: string) => parseJson(view.fieldText(name) ?? '""') as string
    places.set(id, { spanId: text('span_id'), rootSpanId: text('root_span_id') })
  }
  return places
}
