/**
 * Aggregates that the metadata of segments answers: counts of rows, and extremes of numbers and
 * times, of granules in which every row passes the predicates. Rows must all be visible.
 *
 * | predicate           | every row of a granule passes when                             |
 * | ------------------- | -------------------------------------------------------------- |
 * | `field op constant` | the field has numbers or times alone, in every row, and the    |
 * |                     | granule's bounds leave no other                                |
 * | `a and b`           | of both                                                        |
 */
import type { BoundAggregate, BoundExpression } from '../binder/bound.ts'
import { swapped } from '../kernel/compare.ts'
import type { PhysicalPlan } from '../planner/physical-plan.ts'
import type { ObjectRows, SegmentMetadata } from '../storage/segment/metadata.ts'
import type { Path } from '../type/value.ts'
import { granuleRows } from '../vector/column.ts'
import type { WireState } from './aggregate/state.ts'
import { type PrunedRange, Zones } from './prune.ts'
import type { PartialGroups } from './task.ts'

type Kind = 'number' | 'timestamp'

interface Extreme {
  readonly path: Path
  readonly direction: -1 | 1
  kind: Kind | undefined
  value: number
}

/** Collects what metadata says; the rest is read. */
export class KnownGroups {
  readonly #predicates: readonly BoundExpression[]
  readonly #extremes: readonly (Extreme | undefined)[]
  #rowCount = 0

  private constructor(
    predicates: readonly BoundExpression[],
    extremes: readonly (Extreme | undefined)[],
  ) {
    this.#predicates = predicates
    this.#extremes = extremes
  }

  /** Undefined when metadata cannot answer anything of the plan. */
  static of(plan: PhysicalPlan): KnownGroups | undefined {
    const { stage, access, unpivots, after, predicates } = plan
    if (stage.kind !== 'groups' || stage.keys.length > 0 || stage.row) return undefined
    if (access.kind !== 'scan' || unpivots.length > 0 || after) return undefined
    const extremes: (Extreme | undefined)[] = []
    for (const aggregate of stage.aggregates) {
      const extreme = extremeOf(aggregate)
      if (!extreme && !countsRows(aggregate)) return undefined
      extremes.push(extreme)
    }
    return predicates.every(mayBeCertain) ? new KnownGroups(predicates, extremes) : undefined
  }

  /** Rows that metadata has answered for. */
  get rowCount(): number {
    return this.#rowCount
  }

  /** Takes in what is known of a range of an object's rows, and returns the ranges to be read. */
  take(metadata: SegmentMetadata, rows: ObjectRows, range: PrunedRange): PrunedRange[] {
    const whole = new Zones(metadata, rows, [])
    const kinds = this.#extremes.map((extreme) => extreme && onlyKind(extreme.path, whole))
    const isKnown = this.#extremes.every(
      (extreme, i) => !extreme || (kinds[i] && (extreme.kind ?? kinds[i]) === kinds[i]),
    )
    if (!isKnown) return [range]
    const zones = new Zones(metadata, rows, [])
    const unknown: { from: number; to: number }[] = []
    for (let from = range.from; from < range.to; ) {
      zones.granule = Math.floor(from / granuleRows)
      const start = zones.granule * granuleRows
      const end = Math.min(start + granuleRows, metadata.rowCount)
      const to = Math.min(end, range.to)
      // A granule's bounds are those of all its rows.
      const isWhole = from === start && to === end
      const isCounted =
        (isWhole || this.#extremes.every((extreme) => !extreme)) &&
        this.#predicates.every((predicate) => isCertain(predicate, whole, zones))
      if (isCounted) {
        this.#rowCount += to - from
        for (const [i, extreme] of this.#extremes.entries()) {
          if (extreme) widen(extreme, kinds[i]!, zones)
        }
      } else if (unknown.at(-1)?.to === from) unknown.at(-1)!.to = to
      else unknown.push({ from, to })
      from = to
    }
    return unknown
  }

  toPartial(): PartialGroups {
    const states = this.#extremes.map((extreme): WireState => {
      if (!extreme) return { kind: 'counts', counts: Float64Array.of(this.#rowCount) }
      const { kind, value } = extreme
      return kind
        ? { kind: 'extremes', type: kind, values: Float64Array.of(value) }
        : { kind: 'values', values: [null] }
    })
    return {
      kind: 'groups',
      groupCount: 1,
      keys: [],
      states,
      rows: undefined,
      preferred: undefined,
      rowValues: [],
    }
  }
}

function countsRows({ name, arguments: operands, distinct, filter }: BoundAggregate): boolean {
  return name === 'count' && operands.length === 0 && !distinct && !filter
}

function extremeOf(aggregate: BoundAggregate): Extreme | undefined {
  const { name, arguments: operands, filter } = aggregate
  const [field] = operands
  if ((name !== 'min' && name !== 'max') || filter || field?.kind !== 'field') return undefined
  return {
    path: field.path,
    direction: name === 'min' ? -1 : 1,
    kind: undefined,
    value: Number.NaN,
  }
}

/** The kind of all the field's values; undefined when it has several kinds, or no value. */
function onlyKind(path: Path, whole: Zones): Kind | undefined {
  if (whole.onlyBounds(path, 'number')) return 'number'
  return whole.onlyBounds(path, 'timestamp') && 'timestamp'
}

function widen(extreme: Extreme, kind: Kind, zones: Zones): void {
  const bounds = zones.onlyBounds(extreme.path, kind)
  // No row of the granule has a value.
  if (!bounds) return
  const { minimum, maximum = minimum } = bounds
  const value = extreme.direction < 0 ? minimum : maximum
  if (extreme.kind && (value - extreme.value) * extreme.direction <= 0) return
  extreme.kind = kind
  extreme.value = value
}

type Comparison = Extract<BoundExpression, { kind: 'comparison' }>

interface FieldComparison {
  readonly operator: Exclude<Comparison['operator'], 'is_same' | 'is_different'>
  readonly path: Path
  readonly kind: Kind
  readonly value: number
}

function comparisonOf({ operator, left, right }: Comparison): FieldComparison | undefined {
  if (operator === 'is_same' || operator === 'is_different') return undefined
  const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
  if (field.kind !== 'field') return undefined
  const { path } = field
  const turned = field === left ? operator : swapped[operator]
  if (other.kind === 'timestamp') {
    return { operator: turned, path, kind: 'timestamp', value: other.ms }
  }
  if (other.kind !== 'constant' || typeof other.value !== 'number') return undefined
  return { operator: turned, path, kind: 'number', value: other.value }
}

function mayBeCertain(predicate: BoundExpression): boolean {
  if (predicate.kind === 'and') return predicate.operands.every(mayBeCertain)
  return predicate.kind === 'comparison' && comparisonOf(predicate) !== undefined
}

/** Whether every row of the granule passes. */
function isCertain(predicate: BoundExpression, whole: Zones, granule: Zones): boolean {
  if (predicate.kind === 'and') {
    return predicate.operands.every((operand) => isCertain(operand, whole, granule))
  }
  const comparison = predicate.kind === 'comparison' ? comparisonOf(predicate) : undefined
  if (!comparison) return false
  const { path, kind, operator, value } = comparison
  if (!whole.onlyBounds(path, kind) || whole.mayHoldNull(path)) return false
  const bounds = granule.onlyBounds(path, kind)
  if (!bounds) return false
  const { minimum, maximum = Number.POSITIVE_INFINITY } = bounds
  switch (operator) {
    case 'eq':
      return minimum === value && maximum === value
    case 'ne':
      return maximum < value || minimum > value
    case 'lt':
      return maximum < value
    case 'le':
      return maximum <= value
    case 'gt':
      return minimum > value
    case 'ge':
      return minimum >= value
  }
}
