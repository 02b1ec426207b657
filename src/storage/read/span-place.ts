import { parseJson } from '../../type/parse-json.ts'
import type { ReadTransaction } from '../environment.ts'
import { EvictedVersions, evictedVersion } from '../row/evicted-row.ts'
import { LentRows } from '../row/lent-rows.ts'
import type { RecordReader } from './record-reader.ts'

/** Which span a record is, and of which trace. */
export interface SpanPlace {
  readonly spanId: string
  readonly rootSpanId: string
}

/** Of the records of an object that are there, by their ids. Throws what `evictedError` makes of those whose bodies are not here. */
export function placesOf(
  records: RecordReader,
  object: number,
  ids: readonly string[],
  transaction: ReadTransaction,
  lent: readonly SharedArrayBuffer[],
): Map<string, SpanPlace> {
  const places = new Map<string, SpanPlace>()
  const evicted = new EvictedVersions()
  const bodies = LentRows.of(lent)
  for (const id of ids) {
    const latest = records.latest(object, id, transaction)
    if (!latest) continue
    const { key, view } = latest
    const whole = view.isEvicted ? bodies.find(object, key) : view
    if (!whole) {
      evicted.add(evictedVersion(object, key, view))
      continue
    }
    const text = (name: string) => parseJson(whole.fieldText(name) ?? '""') as string
    places.set(id, { spanId: text('span_id'), rootSpanId: text('root_span_id') })
  }
  evicted.throwIfAny()
  return places
}
