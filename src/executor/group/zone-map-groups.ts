/**
 * Groups that the metadata of segments answers: aggregates of granules, or of segments, in which every row
 * passes the predicates (`certain.ts`) and of which all aggregates are known (`zone-map-aggregate.ts`). Rows must
 * all be visible.
 */
import type { BoundExpression } from '../../binder/bound.ts'
import type { PhysicalPlan } from '../../planner/physical-plan.ts'
import type { ObjectRows, SegmentMetadata } from '../../storage/segment/metadata.ts'
import { granuleRows } from '../../vector/column.ts'
import { isCertain, isCertainNowhere, mayBeCertain } from '../scan/certain.ts'
import type { PrunedRange } from '../scan/prune.ts'
import { Zones } from '../scan/zones.ts'
import type { PartialGroups } from '../task/task.ts'
import {
  type KnownAggregate,
  type KnownRows,
  knownAggregate,
  knownAggregateOf,
} from './zone-map-aggregate.ts'

/** Collects what metadata says; the rest is read. */
export class ZoneMapGroups {
  readonly #predicates: readonly BoundExpression[]
  readonly #aggregates: readonly KnownAggregate[]
  #rowCount = 0

  private constructor(
    predicates: readonly BoundExpression[],
    aggregates: readonly KnownAggregate[],
  ) {
    this.#predicates = predicates
    this.#aggregates = aggregates
  }

  /** Undefined when metadata cannot answer anything of the plan. */
  static of(plan: PhysicalPlan): ZoneMapGroups | undefined {
    const { stage, access, predicates } = plan
    if (access.kind !== 'scan' || access.order !== 'metadata') return undefined
    if (stage.kind !== 'groups') return undefined
    const { aggregates } = stage
    const [predicate, ...others] = predicates
    if (predicate && others.length === 0) {
      const counts = aggregates.flatMap((each) => knownAggregateOf(each, predicate) ?? [])
      if (counts.length === aggregates.length) return new ZoneMapGroups([], counts)
    }
    const known = aggregates.flatMap((aggregate) => knownAggregate(aggregate) ?? [])
    if (known.length < aggregates.length) return undefined
    return predicates.every(mayBeCertain) ? new ZoneMapGroups(predicates, known) : undefined
  }

  /** Rows that metadata has answered for. */
  get rowCount(): number {
    return this.#rowCount
  }

  /** Takes in what is known of a range of an object's rows, and returns the ranges to be read. */
  take(metadata: SegmentMetadata, rows: ObjectRows, range: PrunedRange): PrunedRange[] {
    const zones = new Zones(metadata, rows, [])
    const { rowCount } = metadata
    if (range.from === 0 && range.to === rowCount) {
      if (this.#takeIfKnown({ zones, rowCount, isWhole: true })) return []
    }
    const [first, last] = [range.from, range.to - 1].map((row) => Math.floor(row / granuleRows))
    const isUnknown = (predicate: BoundExpression) =>
      isCertainNowhere(predicate, zones, first!, last! + 1)
    if (this.#predicates.some(isUnknown)) return [range]
    const unknown: { from: number; to: number }[] = []
    for (let from = range.from; from < range.to; ) {
      zones.granule = Math.floor(from / granuleRows)
      const start = zones.granule * granuleRows
      const end = Math.min(start + granuleRows, rowCount)
      const to = Math.min(end, range.to)
      const part = { zones, rowCount: to - from, isWhole: from === start && to === end }
      if (!this.#takeIfKnown(part)) {
        if (unknown.at(-1)?.to === from) unknown.at(-1)!.to = to
        else unknown.push({ from, to })
      }
      from = to
    }
    return unknown
  }

  /** The same for rows of which nothing is known but how many they are. */
  takeUnread(range: PrunedRange): PrunedRange[] {
    const rows = { zones: undefined, rowCount: range.to - range.from, isWhole: true }
    return this.#takeIfKnown(rows) ? [] : [range]
  }

  #takeIfKnown(rows: KnownRows): boolean {
    const { zones } = rows
    const isKnown =
      this.#predicates.every((predicate) => zones && isCertain(predicate, zones)) &&
      this.#aggregates.every((aggregate) => aggregate.isKnown(rows))
    if (!isKnown) return false
    this.#rowCount += rows.rowCount
    for (const aggregate of this.#aggregates) aggregate.take(rows)
    return true
  }

  toPartial(): PartialGroups {
    return {
      kind: 'groups',
      groupCount: 1,
      keys: [],
      states: this.#aggregates.map((aggregate) => aggregate.toWire()),
      rows: undefined,
      preferred: undefined,
      rowValues: [],
    }
  }
}
