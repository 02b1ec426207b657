/** Changes to many records: chunk by chunk, so that one sees how far they are and can stop them. */
import { request, ServiceError } from './client.ts'
import { createDataset } from './dataset.ts'
import type { RecordPlace } from './feedback.ts'
import {
  chunksOf,
  isOneOf,
  type PickedRows,
  recordIds,
  recordsOf,
  recordsPerRequest,
  spansOfTraces,
} from './picked-rows.ts'
import { at, query, quoted, type Row } from './query.ts'

export interface Watch {
  /** What is done of what there is to do. */
  readonly onProgress: (done: number, total: number) => void
  readonly signal: AbortSignal
}

/** Why a record was not changed. */
export interface Refusal {
  readonly id: string
  readonly reason: string
}

export interface Outcome {
  readonly done: number
  readonly skipped: number
  readonly refused: readonly Refusal[]
  /** What was wrong before the end was reached; the person has stopped it if nothing was. */
  readonly error: Error | undefined
  readonly isStopped: boolean
  /** Takes back what was done. */
  readonly undo: ((watch: Watch) => Promise<Outcome>) | undefined
}

interface Counts {
  readonly done: number
  readonly skipped?: number
}

/** Refusals that are kept; more help nobody. */
const mostRefusals = 100

type Refuse = (refusal: Refusal) => void

interface Undo {
  /** What was changed, also of a chunk that was not ended. */
  readonly changed: readonly unknown[]
  readonly run: NonNullable<Outcome['undo']>
}

/** @param change what is done with a chunk, which throws what ends all */
async function overChunks<Item>(
  items: readonly Item[],
  { onProgress, signal }: Watch,
  change: (chunk: readonly Item[], refuse: Refuse) => Promise<Counts>,
  undo?: Undo,
): Promise<Outcome> {
  const refused: Refusal[] = []
  let [done, skipped, seen] = [0, 0, 0]
  let error: Error | undefined
  onProgress(0, items.length)
  try {
    for (const chunk of chunksOf(items, recordsPerRequest)) {
      if (signal.aborted) break
      const counts = await change(chunk, (each) => {
        if (refused.length < mostRefusals) refused.push(each)
      })
      done += counts.done
      skipped += counts.skipped ?? 0
      seen += chunk.length
      onProgress(seen, items.length)
    }
  } catch (thrown) {
    if (!signal.aborted) error = thrown instanceof Error ? thrown : new Error(String(thrown))
  }
  const isStopped = signal.aborted && seen < items.length
  const takeBack = undo && undo.changed.length > 0 ? undo.run : undefined
  return { done, skipped, refused, error, isStopped, undo: takeBack }
}

interface Event {
  readonly id: string
  readonly event: Readonly<Record<string, unknown>>
}

/** Where a change is sent. */
interface Target {
  readonly path: string
  readonly name: 'events' | 'feedback'
  /** Ends waiting for a service that does not answer; what was sent is not given up halfway. */
  readonly signal: AbortSignal
}

/** Records have ids, so that it does no harm to send them again. */
async function send({ path, name, signal }: Target, events: readonly Event[]): Promise<void> {
  const body = { [name]: events.map(({ event }) => event) }
  await request(path, { body, repeatedUntil: signal })
}

/**
 * Halves what is refused until the records that are at fault are found.
 *
 * @param onWritten is told of what was written as soon as it is: the rest may fail
 */
async function sendAll(
  target: Target,
  events: readonly Event[],
  refuse: Refuse,
  onWritten: (events: readonly Event[]) => void = () => {},
): Promise<number> {
  if (events.length === 0) return 0
  try {
    await send(target, events)
  } catch (thrown) {
    const isOfRecords = thrown instanceof ServiceError && [400, 413].includes(thrown.status)
    if (!isOfRecords) throw thrown
    const [first] = events
    if (first && events.length === 1) {
      refuse({ id: first.id, reason: thrown.message })
      return 0
    }
    const middle = Math.ceil(events.length / 2)
    const before = await sendAll(target, events.slice(0, middle), refuse, onWritten)
    return before + (await sendAll(target, events.slice(middle), refuse, onWritten))
  }
  onWritten(events)
  return events.length
}

function targetOf(
  { type, objectId }: RecordPlace,
  name: Target['name'],
  { signal }: Watch,
): Target {
  const action = name === 'events' ? 'insert' : 'feedback'
  return { path: `/v1/${type}/${objectId}/${action}`, name, signal }
}

export const datasetFields = ['input', 'expected', 'metadata', 'tags'] as const
export type DatasetField = (typeof datasetFields)[number]

/** Fields of a record from which a field of a dataset may be taken; the first that has something counts. */
export type FieldMap = Readonly<Record<DatasetField, readonly string[]>>

export interface DatasetTarget {
  readonly id: string
  readonly name: string
}

/** An existing dataset, or one of a new name. */
export async function targetDataset(
  projectId: string,
  chosen: { readonly id: string; readonly name: string } | { readonly newName: string },
): Promise<DatasetTarget> {
  return 'id' in chosen ? chosen : createDataset(projectId, chosen.newName, '')
}

/** Records that are in the dataset already, from the same place, are left as they are there. */
export async function addToDataset(
  rows: PickedRows,
  target: DatasetTarget,
  fields: FieldMap,
  watch: Watch,
): Promise<Outcome> {
  const { place } = rows
  const ids = await recordIds(rows, watch.signal)
  const added: string[] = []
  const sources = new Set(Object.values(fields).flat())
  const select = ['id', '_xact_id', 'created', ...sources].join(', ')
  const dataset = { type: 'dataset', objectId: target.id } as const
  return overChunks(
    ids.map(({ id }) => id),
    watch,
    async (chunk, refuse) => {
      const present = await originsIn(target.id, place, chunk, watch.signal)
      const missing = chunk.filter((id) => !present.has(id))
      const records = await recordsOf(place, missing, select, watch.signal)
      const events = records.map((row) => {
        const id = crypto.randomUUID()
        return { id: String(row.id), event: { id, ...recordFor(row, place, fields) } }
      })
      const insert = targetOf(dataset, 'events', watch)
      const done = await sendAll(insert, events, refuse, (written) => {
        added.push(...written.map(({ event }) => String(event.id)))
      })
      return { done, skipped: chunk.length - missing.length }
    },
    {
      changed: added,
      run: (again) => resend(dataset, 'events', added.map(deletionOf), again),
    },
  )
}

function recordFor(row: Row, { type, objectId }: RecordPlace, fields: FieldMap) {
  const { id, _xact_id, created } = row
  const origin = { object_type: type, object_id: objectId, id, _xact_id, created }
  return { ...Object.fromEntries(fieldsFor(row, fields)), origin }
}

/** What the fields of a dataset get of a record; those that get nothing are left out. */
export function fieldsFor(row: Row, fields: FieldMap): (readonly [DatasetField, unknown])[] {
  return datasetFields.flatMap((field) => {
    const value = fields[field].map((name) => row[name]).find((each) => !isNothing(each))
    return value === undefined ? [] : [[field, value] as const]
  })
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}

async function originsIn(
  datasetId: string,
  { objectId }: RecordPlace,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { data } = await query(
    `select: origin.id as origin\nfrom: dataset(${quoted(datasetId)})\n` +
      `filter: origin.object_id = ${quoted(objectId)} and ${isOneOf('origin.id', ids)}`,
    signal,
  )
  return new Set(data.map(({ origin }) => String(origin)))
}

/** Adds tags to those that records have. */
export async function addTags(
  rows: PickedRows,
  tags: readonly string[],
  watch: Watch,
): Promise<Outcome> {
  const { place } = rows
  const ids = await recordIds(rows, watch.signal)
  const changed: Event[] = []
  return overChunks(
    ids.map(({ id }) => id),
    watch,
    async (chunk, refuse) => {
      const before = await recordsOf(place, chunk, 'id, tags', watch.signal)
      const missing = new Map(
        before.map((row) => {
          const present = Array.isArray(row.tags) ? row.tags : []
          return [String(row.id), tags.filter((tag) => !present.includes(tag))]
        }),
      )
      const events = [...missing].flatMap(([id, some]) =>
        some.length === 0 ? [] : [{ id, event: { id, tags: some, source: 'app' } }],
      )
      const target = targetOf(place, 'feedback', watch)
      const done = await sendAll(target, events, refuse, (written) => {
        for (const { id } of written) {
          const taken = [{ path: ['tags'], delete: missing.get(id) }]
          changed.push({ id, event: { id, _is_merge: true, _array_delete: taken } })
        }
      })
      return { done, skipped: before.length - events.length }
    },
    { changed, run: (again) => resend(place, 'events', changed, again) },
  )
}

/** Gives one score to each, in the place of one of that name. */
export async function giveScore(
  rows: PickedRows,
  name: string,
  value: number | null,
  watch: Watch,
): Promise<Outcome> {
  const { place } = rows
  const ids = await recordIds(rows, watch.signal)
  const changed: Event[] = []
  const scored = (id: string, score: unknown): Event => {
    return { id, event: { id, scores: { [name]: score }, source: 'app' } }
  }
  return overChunks(
    ids.map(({ id }) => id),
    watch,
    async (chunk, refuse) => {
      const before = await recordsOf(place, chunk, 'id, scores', watch.signal)
      const values = new Map(before.map((row) => [String(row.id), at(row, 'scores', name) ?? null]))
      const events = [...values.keys()].map((id) => scored(id, value))
      const target = targetOf(place, 'feedback', watch)
      const done = await sendAll(target, events, refuse, (written) => {
        for (const { id } of written) changed.push(scored(id, values.get(id)))
      })
      return { done }
    },
    { changed, run: (again) => resend(place, 'feedback', changed, again) },
  )
}

function deletionOf(id: string): Event {
  return { id, event: { id, _object_delete: true } }
}

function resend(
  place: RecordPlace,
  name: Target['name'],
  events: readonly Event[],
  watch: Watch,
): Promise<Outcome> {
  const target = targetOf(place, name, watch)
  return overChunks(events, watch, async (chunk, refuse) => {
    return { done: await sendAll(target, chunk, refuse) }
  })
}

/** Fields that the service gives a record, which a record that is put back has anew. */
const givenFields = new Set([
  ...['_xact_id', '_pagination_key', 'audit_data', 'comments', 'is_root', 'log_id', 'org_id'],
  ...['project_id', 'experiment_id', 'dataset_id', '_async_scoring_state'],
])

/** Records that are kept to be put back; of more, none could be. */
const mostKept = 5000

/** Whole traces where rows stand for such. What was deleted can be put back while there are few of them. */
export async function deleteRows(rows: PickedRows, watch: Watch): Promise<Outcome> {
  const { kind, place } = rows
  const ids = await recordIds(rows, watch.signal)
  const deleted: Event[] = []
  let count = 0
  const canUndo = () => count === deleted.length
  const outcome = await overChunks(
    ids,
    watch,
    async (chunk, refuse) => {
      const records =
        kind === 'span'
          ? chunk.map(({ id }) => id)
          : await spansOfTraces(
              place,
              chunk.map(({ root }) => root),
              watch.signal,
            )
      for (const some of chunksOf(records, recordsPerRequest)) {
        watch.signal.throwIfAborted()
        const isKept = deleted.length + some.length <= mostKept && canUndo()
        const before = isKept ? await recordsOf(place, some, '*', watch.signal) : []
        const rowOf = new Map(before.map((row) => [String(row.id), row]))
        const events = some.map(deletionOf)
        await sendAll(targetOf(place, 'events', watch), events, refuse, (written) => {
          count += written.length
          for (const { id } of written) {
            const row = rowOf.get(id)
            if (row) deleted.push({ id, event: writable(row) })
          }
        })
      }
      return { done: chunk.length }
    },
    { changed: deleted, run: (again) => resend(place, 'events', deleted, again) },
  )
  return canUndo() ? outcome : { ...outcome, undo: undefined }
}

function writable(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).filter(([name, value]) => !givenFields.has(name) && !isNothing(value)),
  )
}
