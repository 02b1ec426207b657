/** What a dataset was at other times: each transaction that wrote to it made a version. */
import { requestJson } from './client.ts'
import { at, query, quoted, type Row } from './query.ts'

export interface Version {
  /** An `_xact_id`. */
  readonly id: string
  readonly time: Date
  readonly written: number
  readonly deleted: number
}

/** Versions that one can choose from, the newest. */
const mostVersions = 200

export async function versionsOf(datasetId: string, signal: AbortSignal): Promise<Version[]> {
  const { data } = await query(
    'dimensions: _xact_id\n' +
      "measures: count_if(audit_data.action != 'delete') as written," +
      " count_if(audit_data.action = 'delete') as deleted\n" +
      `from: dataset(${quoted(datasetId)}) history\nsort: _xact_id desc\nlimit: ${mostVersions}`,
    signal,
  )
  return data.map((row) => {
    const id = String(row._xact_id)
    const { written, deleted } = row
    return { id, time: timeOf(id), written: Number(written), deleted: Number(deleted) }
  })
}

/** A version says in its bits when it was written, to the second. */
export function timeOf(version: string): Date {
  return new Date(Number((BigInt(version) >> 16n) & 0xffff_ffffn) * 1000)
}

export interface Snapshot {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly xact_id: string
}

export function snapshotsOf(datasetId: string, signal: AbortSignal): Promise<readonly Snapshot[]> {
  return requestJson('/api/dataset_snapshot/get', { body: { dataset_id: datasetId }, signal })
}

export async function createSnapshot(
  datasetId: string,
  name: string,
  version: string,
): Promise<void> {
  const body = { dataset_id: datasetId, name, xact_id: version }
  await requestJson('/v1/dataset_snapshot', { body })
}

export async function deleteSnapshot(id: string): Promise<void> {
  await requestJson(`/v1/dataset_snapshot/${id}`, { method: 'DELETE' })
}

export interface Restoration {
  readonly rows_to_restore: number
  readonly rows_to_delete: number
}

export function previewRestoring(
  datasetId: string,
  version: string,
  signal: AbortSignal,
): Promise<Restoration> {
  const target = `/v1/dataset/${datasetId}/restore/preview`
  return requestJson(target, { body: { version }, signal })
}

export async function restoreVersion(datasetId: string, version: string): Promise<void> {
  await requestJson(`/v1/dataset/${datasetId}/restore`, { body: { version } })
}

export type DifferenceKind = 'added' | 'removed' | 'changed'

export interface Touched {
  readonly id: string
  readonly kind: DifferenceKind
}

/** More records than this are not told apart at once. */
export const mostTouched = 10_000

/**
 * Records written between two versions that one or both of them have, the last ones written first. A
 * record that was written again as it was counts as changed until its contents are compared.
 */
export async function touchedBetween(
  datasetId: string,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly Touched[]> {
  const actionAt = (version: string) =>
    `last(audit_data.action, _xact_id) filter (where _xact_id <= ${quoted(version)})`
  const { data } = await query(
    `dimensions: id\nmeasures: ${actionAt(from)} as before, ${actionAt(to)} as after,` +
      ` max(_xact_id) filter (where _xact_id <= ${quoted(to)}) as latest\n` +
      `from: dataset(${quoted(datasetId)}) history\n` +
      `final_filter: count_if(_xact_id > ${quoted(from)} and _xact_id <= ${quoted(to)}) > 0\n` +
      `sort: latest desc\nlimit: ${mostTouched}`,
    signal,
  )
  return data.flatMap(({ id, before, after }) => {
    const [had, has] = [isThere(before), isThere(after)]
    if (!had && !has) return []
    return [{ id: String(id), kind: had && has ? 'changed' : has ? 'added' : 'removed' }]
  })
}

function isThere(lastAction: unknown): boolean {
  return typeof lastAction === 'string' && lastAction !== 'delete'
}

export interface RecordDifference {
  readonly id: string
  readonly kind: DifferenceKind
  readonly before: Row | undefined
  readonly after: Row | undefined
}

/** The contents of records at both versions; without those that are the same. */
export async function differencesOf(
  datasetId: string,
  touched: readonly Touched[],
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<readonly RecordDifference[]> {
  if (touched.length === 0) return []
  const text =
    `select: id, input, expected, metadata, tags\nfrom: dataset(${quoted(datasetId)})\n` +
    `filter: id in [${touched.map(({ id }) => quoted(id)).join(', ')}]`
  const [old, now] = await Promise.all([query(text, signal, from), query(text, signal, to)])
  const byId = (rows: readonly Row[]) => new Map(rows.map((row) => [String(at(row, 'id')), row]))
  const [before, after] = [byId(old.data), byId(now.data)]
  return touched
    .map(({ id, kind }) => ({ id, kind, before: before.get(id), after: after.get(id) }))
    .filter((each) => JSON.stringify(each.before) !== JSON.stringify(each.after))
}
