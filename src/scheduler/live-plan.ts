/** What of a query is run again when records have come that it had not seen. */
import { createHash } from 'node:crypto'
import { serialize } from 'node:v8'
import {
  type BoundExpression,
  type BoundObject,
  type BoundQuery,
  objectsOf,
} from '../binder/bound.ts'
import type { PhysicalPlan, PhysicalQuery } from '../planner/physical-plan.ts'
import type { PlannedQuery } from '../planner/plan-query.ts'
import type { RecordReader } from '../storage/read/record-reader.ts'
import { EvictedVersions, evictedVersion } from '../storage/row/evicted-row.ts'
import { LentRows } from '../storage/row/lent-rows.ts'
import { formatTransaction, parseTransaction } from '../type/transaction.ts'
import type { QueryRequest } from './query-request.ts'

/**
 * `rows`: each record passes or does not by itself, so that later ones can be told alone. `answer`: a
 * write may change all of it, as of groups, sorted rows and conditions on traces.
 */
export type LiveKind = 'rows' | 'answer'

/** What a query that stays open depends on. */
export interface Watched {
  readonly kind: LiveKind
  /** What it reads. */
  readonly objects: readonly Pick<BoundObject, 'number' | 'type' | 'id'>[]
  /** Equal for queries that do the same with the same records, whoever asks. */
  identity(): string
}

export function watchedOf(planned: PlannedQuery): Watched {
  const { bound, physical } = planned
  return {
    kind: liveKindOf(bound, physical),
    objects: objectsOf(bound),
    identity: () => identityOf(planned),
  }
}

function liveKindOf(bound: BoundQuery, { semiJoinSets, plan }: PhysicalQuery): LiveKind {
  const { stage, unpivots, sort, stages, offset, objects } = plan
  const isOfRows =
    bound.source.kind === 'objects' &&
    bound.sample === undefined &&
    semiJoinSets.length === 0 &&
    stage.kind === 'rows' &&
    unpivots.length === 0 &&
    sort.length === 0 &&
    stages.length === 0 &&
    offset === 0 &&
    objects.every(({ isHistory }) => !isHistory)
  return isOfRows ? 'rows' : 'answer'
}

/** The plan of what the request wants of its query. */
export function narrowed(
  physical: PhysicalQuery,
  { since, idsOf }: Pick<QueryRequest, 'since' | 'idsOf'>,
): PhysicalQuery {
  const later = since === undefined ? physical : rowsSince(physical, parseTransaction(since))
  return idsOf === undefined ? later : idsIn(later, idsOf)
}

const identities = new WeakMap<PlannedQuery, string>()

/** Serialized as workers get it, a plan has all that an answer depends on but the records. */
function identityOf(planned: PlannedQuery): string {
  const known = identities.get(planned)
  if (known !== undefined) return known
  const { physical, schema } = planned
  const identity = createHash('sha256')
    .update(serialize([physical, schema]))
    .digest('base64')
  identities.set(planned, identity)
  return identity
}

/** Of a query of kind `rows`: all its rows whose versions are newer than the transaction `since`. */
function rowsSince({ plan }: PhysicalQuery, since: number): PhysicalQuery {
  const isNewer: BoundExpression = {
    kind: 'comparison',
    operator: 'gt',
    left: { kind: 'field', path: ['_xact_id'], type: 'string' },
    right: { kind: 'constant', value: formatTransaction(since), type: 'string' },
    type: 'boolean',
  }
  const newer: PhysicalPlan = {
    ...plan,
    predicates: [isNewer, ...plan.predicates],
    after: undefined,
    limit: undefined,
    scannedFields: [...new Set([...plan.scannedFields, '_xact_id'])],
  }
  return { semiJoinSets: [], plan: newer }
}

/** Of a query of rows: only the ids of its rows in one object. */
function idsIn({ semiJoinSets, plan }: PhysicalQuery, object: number): PhysicalQuery {
  const id: BoundExpression = { kind: 'field', path: ['id'], type: 'string' }
  const output = { star: false, columns: [{ name: 'id', expression: id }], preview: undefined }
  const objects = plan.objects.filter(({ number }) => number === object)
  return { semiJoinSets, plan: { ...plan, objects, output } }
}

/**
 * Ids of the records that transactions after `since` and up to `through` have changed or deleted;
 * undefined when they have written more than `most` rows. Throws what `evictedError` makes of bodies that are not here.
 */
export function changedIds(
  records: RecordReader,
  { object, since, through, most }: ChangedRange,
  lent: readonly SharedArrayBuffer[],
): Set<string> | undefined {
  const ids = new Set<string>()
  const bodies = LentRows.of(lent)
  const evicted = new EvictedVersions()
  let rows = 0
  for (const { key, view } of records.keptDelta(object, since, through)) {
    if (++rows > most) return undefined
    const { paginationKey } = view
    const isFirst =
      paginationKey.transaction === key.transaction && paginationKey.index === key.index
    if (isFirst && !view.isTombstone) continue
    const whole = view.isEvicted ? bodies.find(object, key) : view
    if (whole) ids.add(JSON.parse(whole.fieldText('id') ?? '""') as string)
    else evicted.add(evictedVersion(object, key, view))
  }
  evicted.throwIfAny()
  return ids
}

interface ChangedRange {
  readonly object: number
  readonly since: number
  readonly through: number
  readonly most: number
}
