import type { RecordReader } from '../../storage/read/record-reader.ts'
import type { LostRows } from '../../storage/segment/lost-rows.ts'
import type { Manifest, ManifestSegment } from '../../storage/segment/manifest.ts'
import { isSupersededWhole, type SegmentMetadata } from '../../storage/segment/metadata.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { ColdView } from '../cold/cold-view.ts'
import type { FreshSnapshot } from '../maintenance/fresh-rows.ts'

export interface KeyRange {
  readonly from: RowKey
  /** The first key that is not of it. */
  readonly to: RowKey
}

/** What a query sees, and keeps from being deleted until it is released. */
export interface QuerySnapshot {
  /** Row versions of this transaction and earlier ones. */
  readonly transaction: number
  readonly segments: readonly { readonly id: number; readonly metadata: SegmentMetadata }[]
  /** What is in no segment yet. */
  readonly fresh: FreshSnapshot
  /** What is read of the cluster instead; undefined: nothing. */
  readonly cold?: ColdView | undefined
  /** What segments that are damaged had, which is to be read of the row store. */
  readonly lost?: readonly LostRows[] | undefined
  /** Parts in which all row versions of the object can be read; the last may have newer ones, too. */
  history(object: number): readonly KeyRange[]
  release(): void
}

/** The same where more is read of the cluster. */
export function withCold(snapshot: QuerySnapshot, cold: ColdView): QuerySnapshot {
  const segments = snapshot.segments.filter((each) => hasLater(each, cold.exportedThrough))
  return { ...snapshot, cold, segments }
}

/** Those of a manifest that hold superseded versions alone, and the others. */
const partedSegments = new WeakMap<
  Manifest,
  { readonly current: readonly ManifestSegment[]; readonly past: readonly ManifestSegment[] }
>()

/**
 * Segments that have versions which a snapshot of the transaction may see: mostly the same list for all queries, by which
 * more is remembered (`object-segments.ts`).
 *
 * @param since those without a row of a later transaction are left out
 */
export function seenSegments(
  manifest: Manifest,
  transaction: number,
  since: number,
): readonly ManifestSegment[] {
  let parted = partedSegments.get(manifest)
  if (!parted) {
    const { segments } = manifest
    const isPast = ({ metadata }: ManifestSegment) => isSupersededWhole(metadata)
    parted = {
      current: segments.filter((segment) => !isPast(segment)),
      past: segments.filter(isPast),
    }
    partedSegments.set(manifest, parted)
  }
  const { current, past } = parted
  const seen = past.filter(({ metadata }) => metadata.supersededThrough! > transaction)
  const all = seen.length === 0 ? current : [...current, ...seen]
  if (since === 0) return all
  return all.filter((each) => hasLater(each, since))
}

function hasLater({ metadata }: Pick<ManifestSegment, 'metadata'>, transaction: number): boolean {
  return metadata.objects.some(({ lastTransaction }) => lastTransaction > transaction)
}

/** Values of the row store, mostly blocks of 64 KiB, that one part of a history has at most. */
const historyPartValues = 128

/**
 * The parts of what an object ever had, oldest first.
 *
 * @param exportedThrough rows of this transaction and earlier ones are left out
 */
export function historyParts(
  records: RecordReader,
  object: number,
  exportedThrough: number,
): KeyRange[] {
  const first = { transaction: exportedThrough + 1, index: 0 }
  return allParts(records, object).flatMap(({ from, to }) => {
    if (compareRowKeys(to, first) <= 0) return []
    return [{ from: compareRowKeys(from, first) < 0 ? first : from, to }]
  })
}

function allParts(records: RecordReader, object: number): KeyRange[] {
  const starts: RowKey[] = []
  let values = 0
  for (const key of records.partsOf(object))
    if (values++ % historyPartValues === 0) starts.push(key)
  const end = { transaction: 2 ** 48 - 1, index: 0xffff }
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? end }))
}
