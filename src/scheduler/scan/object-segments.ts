/**
 * What the segments of a manifest have of some objects, side by side. Most of many segments are ruled out by two numbers
 * each: where other work has swept the caches, looking for these in the metadata of 178 segments took half a millisecond.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import { type BoundsList, matchingZones, type ZoneList } from '../../executor/scan/may-match.ts'
import { Zones } from '../../executor/scan/zones.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { ObjectRows, SegmentMetadata } from '../../storage/segment/metadata.ts'
import { compareRowKeys, type RowKey } from '../../type/transaction.ts'
import type { Path } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import type { SkippedSum } from './skipped-rows.ts'
import type { QuerySnapshot } from './snapshot.ts'

type Segments = QuerySnapshot['segments']

export interface ObjectSegment {
  readonly segment: number
  readonly metadata: SegmentMetadata
  readonly objectRows: ObjectRows
}

/** An object's oldest and newest row in any of the segments. */
export interface ObjectBounds {
  readonly object: number
  readonly oldest: RowKey
  readonly newest: RowKey
}

/** Sets of objects, and paths of each, of which that is remembered. */
const [rememberedSets, rememberedPaths] = [64, 256]

export class ObjectSegments implements ZoneList {
  static readonly #ofSegments = new WeakMap<Segments, Map<string, ObjectSegments>>()

  readonly entries: readonly ObjectSegment[]
  readonly count: number
  /** By segment. */
  readonly segments: Int32Array
  readonly rowCounts: Int32Array
  readonly firstTransactions: Float64Array
  readonly lastTransaction: number
  readonly rowCount: number
  /** Segments that have rows of the objects. */
  readonly segmentIds: readonly number[]
  /** Those that have none. */
  readonly others: Readonly<SkippedSum>
  readonly bounds: readonly ObjectBounds[]
  readonly #boundsByPath = new Map<string, BoundsList>()
  readonly #textsByPath = new Map<string, Uint8Array>()

  /** Segments are those of a snapshot: of the same list what was found out is remembered. */
  static of(segments: Segments, objects: ReadonlySet<number>): ObjectSegments {
    let sets = ObjectSegments.#ofSegments.get(segments)
    if (!sets || sets.size > rememberedSets) {
      sets = new Map()
      ObjectSegments.#ofSegments.set(segments, sets)
    }
    const key = [...objects].sort((a, b) => a - b).join()
    let entries = sets.get(key)
    if (!entries) {
      entries = new ObjectSegments(segments, objects)
      sets.set(key, entries)
    }
    return entries
  }

  /** Of the objects of a plan. */
  static ofPlan({ objects }: Pick<PhysicalPlan, 'objects'>, segments: Segments): ObjectSegments {
    return ObjectSegments.of(segments, new Set(objects.map(({ number }) => number)))
  }

  private constructor(segments: Segments, objects: ReadonlySet<number>) {
    const entries: ObjectSegment[] = []
    const others = { segments: 0, granules: 0, rows: 0 }
    const segmentIds: number[] = []
    for (const { id, metadata } of segments) {
      const before = entries.length
      for (const objectRows of metadata.objects) {
        if (objects.has(objectRows.object)) entries.push({ segment: id, metadata, objectRows })
      }
      if (entries.length > before) {
        segmentIds.push(id)
        continue
      }
      others.segments++
      others.granules += Math.ceil(metadata.rowCount / granuleRows)
      others.rows += metadata.rowCount
    }
    this.entries = entries
    this.count = entries.length
    this.segmentIds = segmentIds
    this.others = others
    this.segments = Int32Array.from(entries, ({ segment }) => segment)
    this.rowCounts = Int32Array.from(entries, ({ objectRows }) => objectRows.to - objectRows.from)
    this.rowCount = this.rowCounts.reduce((sum, rows) => sum + rows, 0)
    this.firstTransactions = Float64Array.from(
      entries,
      ({ objectRows }) => objectRows.firstTransaction,
    )
    this.lastTransaction = entries.reduce(
      (last, { objectRows }) => Math.max(last, objectRows.lastTransaction),
      0,
    )
    this.bounds = boundsOfObjects(entries)
  }

  /** For each predicate that bounds of numbers may rule out, the parts of which rows may match; undefined of others. */
  matching(predicates: readonly BoundExpression[]): readonly (Uint8Array | undefined)[] {
    return predicates.map((predicate) => matchingZones(predicate, this))
  }

  boundsOf(path: Path, type: 'number' | 'timestamp'): BoundsList {
    const key = `${type} ${JSON.stringify(path)}`
    return remembered(this.#boundsByPath, key, () => this.#findBounds(path, type))
  }

  /** Where nothing is known, bounds are all numbers; where there are no values, none. */
  #findBounds(path: Path, type: 'number' | 'timestamp'): BoundsList {
    const minimums = new Float64Array(this.count).fill(Number.POSITIVE_INFINITY)
    const maximums = new Float64Array(this.count).fill(Number.NEGATIVE_INFINITY)
    for (const [i, { metadata, objectRows }] of this.entries.entries()) {
      const bounds = new Zones(metadata, objectRows, []).numberBounds(path, type)
      if (!bounds) continue
      minimums[i] = bounds === 'unknown' ? Number.NEGATIVE_INFINITY : bounds.minimum
      const maximum = bounds === 'unknown' ? undefined : bounds.maximum
      maximums[i] = maximum ?? Number.POSITIVE_INFINITY
    }
    return { minimums, maximums, first: 0 }
  }

  askEach(): undefined {
    return undefined
  }

  /** By segment, 1 where what equals a text at the path is one that the segment's metadata knows of as a text. */
  holdsTexts(path: Path): Uint8Array {
    return remembered(this.#textsByPath, JSON.stringify(path), () =>
      Uint8Array.from(this.entries, ({ metadata, objectRows }) =>
        new Zones(metadata, objectRows, []).textBounds(path) === 'unknown' ? 0 : 1,
      ),
    )
  }
}

/** What is known by a key, or is found out, and remembered while there is room. */
function remembered<Found>(known: Map<string, Found>, key: string, find: () => Found): Found {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = find()
  if (known.size < rememberedPaths) known.set(key, made)
  return made
}

function boundsOfObjects(entries: readonly ObjectSegment[]): ObjectBounds[] {
  const bounds = new Map<number, ObjectBounds>()
  for (const { objectRows } of entries) {
    const { object, firstPagination, lastPagination } = objectRows
    const { oldest, newest } = bounds.get(object) ?? {
      oldest: firstPagination,
      newest: lastPagination,
    }
    bounds.set(object, {
      object,
      oldest: compareRowKeys(firstPagination, oldest) < 0 ? firstPagination : oldest,
      newest: compareRowKeys(lastPagination, newest) > 0 ? lastPagination : newest,
    })
  }
  return [...bounds.values()]
}
