/** Rows that are picked to do something with: which records they are, read chunk by chunk. */
import type { RecordPlace } from './feedback.ts'
import { query, quoted, type Row } from './query.ts'
import { clauseOf, withClauses } from './query-text.ts'

/** What a row of the table is; one that stands for a whole trace is that of its root. */
export type RowKind = 'trace' | 'span' | 'example'

/** Picked one by one, as records, or as whatever a query finds. */
export type Picked =
  | { readonly ids: ReadonlySet<string> }
  | { readonly records: ReadonlySet<string> }
  | { readonly query: string; readonly count: number }

export interface PickedRows {
  readonly kind: RowKind
  readonly place: RecordPlace
  readonly picked: Picked
}

/** The field by which rows are picked. */
export const pickedBy: Readonly<Record<RowKind, string>> = {
  trace: 'root_span_id',
  span: 'span_id',
  example: 'id',
}

/** Rows of a request: ids alone are small, whole records may be large. */
export const idsPerRequest = 1000
export const recordsPerRequest = 100

export function sourceOf({ type, objectId }: RecordPlace): string {
  return `${type}(${quoted(objectId)})`
}

export function sizeOf(picked: Picked): number {
  if ('query' in picked) return picked.count
  return 'ids' in picked ? picked.ids.size : picked.records.size
}

/** A condition that finds the values of a field. */
export function isOneOf(field: string, values: readonly string[]): string {
  return `${field} in [${values.map(quoted).join(', ')}]`
}

export function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const chunks: Item[][] = []
  for (let from = 0; from < items.length; from += size) chunks.push(items.slice(from, from + size))
  return chunks
}

/** Ids of a record and of its trace. */
export interface RecordIds {
  readonly id: string
  readonly root: string
}

/** The records that the rows are, in no more requests than needed. */
export async function recordIds(rows: PickedRows, signal: AbortSignal): Promise<RecordIds[]> {
  const { kind, place, picked } = rows
  const found: RecordIds[] = []
  const keep = (data: readonly Row[]) => {
    for (const { id, root_span_id } of data) {
      found.push({ id: String(id), root: String(root_span_id) })
    }
  }
  if ('query' in picked) {
    for await (const data of pagesOf(withClauses(picked.query, idsOnly), signal)) keep(data)
    return found
  }
  const isOfSpans = kind === 'span' || 'records' in picked
  const source = isOfSpans ? sourceOf(place) : `${sourceOf(place)} summary`
  const [field, wanted] = 'ids' in picked ? [pickedBy[kind], picked.ids] : ['id', picked.records]
  for (const ids of chunksOf([...wanted], idsPerRequest)) {
    const filter = isOneOf(field, ids)
    const text = `select: id, root_span_id\nfrom: ${source}\nfilter: ${filter}`
    for await (const data of pagesOf(text, signal)) keep(data)
  }
  return found
}

const idsOnly = { select: 'id, root_span_id', preview_length: undefined }

/** Ids of all spans of some traces. */
export async function spansOfTraces(
  place: RecordPlace,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  const filter = isOneOf('root_span_id', roots)
  const text = `select: id\nfrom: ${sourceOf(place)}\nfilter: ${filter}`
  for await (const data of pagesOf(text, signal)) found.push(...data.map(({ id }) => String(id)))
  return found
}

/** Whole records in the order of their ids; those that are gone are left out. */
export async function recordsOf(
  place: RecordPlace,
  ids: readonly string[],
  select: string,
  signal: AbortSignal,
): Promise<Row[]> {
  const filter = isOneOf('id', ids)
  const text = `select: ${select}\nfrom: ${sourceOf(place)}\nfilter: ${filter}\nlimit: ${ids.length}`
  const { data } = await query(text, signal)
  const byId = new Map(data.map((row) => [String(row.id), row]))
  return ids.flatMap((id) => {
    const row = byId.get(id)
    return row ? [row] : []
  })
}

/** The first of the rows; undefined when it is gone. */
export async function firstRecord(
  rows: PickedRows,
  select: string,
  signal: AbortSignal,
): Promise<Row | undefined> {
  const [first] = await recordIds({ ...rows, picked: firstOf(rows.picked) }, signal)
  return first && (await recordsOf(rows.place, [first.id], select, signal))[0]
}

function firstOf(picked: Picked): Picked {
  if ('query' in picked) return { query: withClauses(picked.query, { limit: '1' }), count: 1 }
  const isRows = 'ids' in picked
  const first = new Set([...(isRows ? picked.ids : picked.records)].slice(0, 1))
  return isRows ? { ids: first } : { records: first }
}

/** All rows of a query; one that has a limit of its own is asked once. */
async function* pagesOf(text: string, signal: AbortSignal): AsyncGenerator<readonly Row[]> {
  if (clauseOf(text, 'limit') !== undefined) {
    yield (await query(text, signal)).data
    return
  }
  let cursor: string | undefined
  do {
    const page = { limit: String(idsPerRequest), ...(cursor && { cursor: quoted(cursor) }) }
    const answer = await query(withClauses(text, page), signal)
    yield answer.data
    cursor = answer.data.length < idsPerRequest ? undefined : answer.cursor
  } while (cursor !== undefined)
}
