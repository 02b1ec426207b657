/**
 * Leaves out segments and granules in which no row can pass a predicate, by what the segment's
 * metadata says of its columns.
 *
 * The one law: leave out only what cannot match. Whatever is not known counts as a match.
 *
 * | predicate               | cannot match when                                               |
 * | ----------------------- | --------------------------------------------------------------- |
 * | `field op constant`     | the constant lies outside the field's bounds, or the field has  |
 * |                         | no value of the constant's kind                                 |
 * | `field in [constants]`  | none of the equalities can match                                |
 * | `a and b`               | a cannot, or b cannot                                           |
 * | `a or b`                | neither can                                                     |
 * | `not (field is null)`   | the field has no value at all                                   |
 * | `field is null`         | every row has a value                                           |
 * | trace in a set          | the set has none of the object's traces, or few, and the        |
 * |                         | equality with none of them can match                            |
 */
import {
  type BoundExpression,
  type BoundSortKey,
  type ConstantValue,
  hiddenField,
} from '../../binder/bound.ts'
import { decodeUtf8 } from '../../json/utf8.ts'
import { swapped } from '../../kernel/compare.ts'
import type {
  ColumnMetadata,
  NumberColumnMetadata,
  ObjectRows,
  SegmentMetadata,
} from '../../storage/segment/metadata.ts'
import { compareText } from '../../type/compare.ts'
import { formatPaginationKey, formatTransaction } from '../../type/transaction.ts'
import type { Path } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import type { TraceSet } from '../expression/trace-set.ts'
import { type Held, heldAt, SegmentColumns } from './segment-columns.ts'

export interface PrunedRange {
  readonly from: number
  readonly to: number
}

export interface Pruning {
  /** What is left: ranges of whole granules, cut at the part's ends. */
  readonly ranges: readonly PrunedRange[]
  /** For each predicate, how many rows it left out. */
  readonly skipped: readonly number[]
}

/**
 * The rows of an object's part of a segment in which every predicate may match.
 *
 * @param traceSets the sets that predicates ask, as far as they are known
 */
export function pruneRows(
  metadata: SegmentMetadata,
  rows: ObjectRows,
  predicates: readonly BoundExpression[],
  traceSets: readonly TraceSet[],
): Pruning {
  const skipped = predicates.map(() => 0)
  if (predicates.length === 0) return { ranges: [{ from: rows.from, to: rows.to }], skipped }
  const whole = new Zones(metadata, rows, traceSets)
  const excluding = predicates.findIndex((predicate) => !mayMatch(predicate, whole))
  if (excluding >= 0) {
    skipped[excluding] = rows.to - rows.from
    return { ranges: [], skipped }
  }
  const ranges: { from: number; to: number }[] = []
  const firstGranule = Math.floor(rows.from / granuleRows)
  const lastGranule = Math.floor((rows.to - 1) / granuleRows)
  const zones = new Zones(metadata, rows, traceSets)
  for (let granule = firstGranule; granule <= lastGranule; granule++) {
    zones.granule = granule
    const from = Math.max(rows.from, granule * granuleRows)
    const to = Math.min(rows.to, (granule + 1) * granuleRows)
    const failing = predicates.findIndex((predicate) => !mayMatch(predicate, zones))
    if (failing >= 0) {
      skipped[failing]! += to - from
      continue
    }
    const last = ranges.at(-1)
    if (last?.to === from) last.to = to
    else ranges.push({ from, to })
  }
  return { ranges, skipped }
}

/** A first sort key that is known to be reached by as many rows as are wanted. */
export interface SortThreshold {
  readonly kind: 'number' | 'timestamp'
  readonly value: number
}

/**
 * The best value of a first sort key that rows of a part may have: its maximum when sorting
 * descending, else its minimum. Undefined when that is not known, or when values of other kinds may
 * come before it.
 */
export function bestSortValue(
  metadata: SegmentMetadata,
  rows: ObjectRows,
  key: BoundSortKey,
  kind: SortThreshold['kind'],
): number | undefined {
  if (key.expression.kind !== 'field') return undefined
  const bounds = new Zones(metadata, rows, []).onlyBounds(key.expression.path, kind)
  return bounds && (key.descending ? bounds.maximum : bounds.minimum)
}

/** Whether rows of a part may have a first sort key that comes after one, or ties with it. */
export function mayFollow(
  metadata: SegmentMetadata,
  rows: ObjectRows,
  { expression, descending }: BoundSortKey,
  { kind, value }: SortThreshold,
): boolean {
  if (expression.kind !== 'field') return true
  const zones = new Zones(metadata, rows, [])
  const bounds = zones.onlyBounds(expression.path, kind)
  // Nulls come last.
  if (!bounds || zones.mayHoldNull(expression.path)) return true
  const { minimum, maximum = Number.POSITIVE_INFINITY } = bounds
  return descending ? minimum <= value : maximum >= value
}

/** Lists beyond this are not compared with every granule. */
const longList = 64

type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

function mayMatch(predicate: BoundExpression, zones: Zones): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.every((operand) => mayMatch(operand, zones))
    case 'or':
      return predicate.operands.some((operand) => mayMatch(operand, zones))
    case 'comparison': {
      const { operator, left, right } = predicate
      if (operator === 'is_same' || operator === 'is_different') return true
      if (left.kind === 'field') return mayCompare(operator, left.path, right, zones)
      if (right.kind === 'field') return mayCompare(swapped[operator], right.path, left, zones)
      return true
    }
    case 'in': {
      const { operand, list } = predicate
      if (operand.kind !== 'field' || list.kind !== 'constant' || !Array.isArray(list.value)) {
        return true
      }
      // Long lists were asked about the whole part already.
      if (zones.granule !== undefined && list.value.length > longList) return true
      return mayBeOneOf(operand.path, list.value, zones)
    }
    case 'in_traces': {
      const { object, trace, set } = predicate
      if (object.kind !== 'field' || object.path[0] !== hiddenField.object) return true
      // Texts have no bounds by granule.
      if (trace.kind !== 'field' || zones.granule !== undefined) return true
      const traces = zones.tracesIn(set)
      return traces === 'unknown' || mayBeOneOf(trace.path, traces, zones)
    }
    case 'is_null':
      return predicate.operand.kind !== 'field' || zones.mayHoldNull(predicate.operand.path)
    case 'not': {
      const { operand } = predicate
      if (operand.kind !== 'is_null' || operand.operand.kind !== 'field') return true
      return zones.mayHoldAnything(operand.operand.path)
    }
    default:
      return true
  }
}

function mayBeOneOf(path: Path, values: readonly ConstantValue[], zones: Zones): boolean {
  return values.some((value) =>
    mayCompare('eq', path, { kind: 'constant', value, type: 'json' }, zones),
  )
}

function mayCompare(
  operator: Comparison,
  path: Path,
  constant: BoundExpression,
  zones: Zones,
): boolean {
  if (operator === 'ne') return true
  if (constant.kind === 'timestamp') {
    const bounds = zones.numberBounds(path, 'timestamp')
    return bounds === 'unknown' || isBetween(operator, constant.ms, bounds, (a, b) => a - b)
  }
  if (constant.kind !== 'constant') return true
  switch (typeof constant.value) {
    case 'number': {
      const bounds = zones.numberBounds(path, 'number')
      return bounds === 'unknown' || isBetween(operator, constant.value, bounds, (a, b) => a - b)
    }
    case 'string': {
      const bounds = zones.textBounds(path)
      return bounds === 'unknown' || isBetween(operator, constant.value, bounds, compareText)
    }
    default:
      return true
  }
}

/** Undefined bounds: there is no value. An undefined maximum: any value from the minimum on. */
function isBetween<T>(
  operator: Exclude<Comparison, 'ne'>,
  constant: T,
  bounds: { readonly minimum: T; readonly maximum: T | undefined } | undefined,
  compare: (a: T, b: T) => number,
): boolean {
  if (!bounds) return false
  const { minimum, maximum } = bounds
  const aboveMaximum = maximum !== undefined ? compare(constant, maximum) : -1
  const aboveMinimum = compare(constant, minimum)
  switch (operator) {
    case 'eq':
      return aboveMinimum >= 0 && aboveMaximum <= 0
    case 'lt':
      return aboveMinimum > 0
    case 'le':
      return aboveMinimum >= 0
    case 'gt':
      return aboveMaximum < 0
    case 'ge':
      return aboveMaximum <= 0
  }
}

type Bounds<T> = { readonly minimum: T; readonly maximum: T | undefined } | undefined | 'unknown'

interface GranuleSum {
  readonly sum: number
  /** What rounding has taken from it. */
  readonly error: number
  readonly count: number
}

/** How many rows of a granule have a value of a column that has nulls; undefined when nobody has counted. */
function countIn(column: ColumnMetadata, granule: number): number | undefined {
  const isCounted = column.type === 'number' || column.type === 'timestamp'
  return isCounted ? column.granuleCounts?.[granule] : undefined
}

/** What is known of the fields of an object's rows, in the whole segment or in one granule. */
export class Zones {
  readonly #metadata: SegmentMetadata
  readonly #rows: ObjectRows
  readonly #traceSets: readonly TraceSet[]
  /** The granule that is asked about; undefined for all rows. */
  granule: number | undefined

  constructor(metadata: SegmentMetadata, rows: ObjectRows, traceSets: readonly TraceSet[]) {
    this.#metadata = metadata
    this.#rows = rows
    this.#traceSets = traceSets
  }

  /** The object's traces in a set; unknown when they are many, too. */
  tracesIn(set: number): readonly string[] | 'unknown' {
    const known = this.#traceSets[set]
    if (!known || known.numbered) return 'unknown'
    const texts = known.traces[known.objects.indexOf(this.#rows.object)]
    if (!texts) return []
    const { bytes, offsets } = texts
    const count = offsets.length - 1
    if (count > longList) return 'unknown'
    return Array.from({ length: count }, (_, i) => decodeUtf8(bytes, offsets[i]!, offsets[i + 1]!))
  }

  numberBounds(path: Path, type: 'number' | 'timestamp'): Bounds<number> {
    const columns = this.#columns(path)
    if (columns === 'unknown') return 'unknown'
    // Integers past 2^53 are JSON; texts may be times.
    const alsoHeldBy = type === 'number' ? 'json' : 'text'
    if (columns.some((column) => column.type === alsoHeldBy)) return 'unknown'
    const column = columns.find((candidate) => candidate.type === type)
    if (!column) return undefined
    if (column.type !== 'number' && column.type !== 'timestamp') return 'unknown'
    if (this.granule !== undefined) {
      const minimum = column.granuleMinimums[this.granule]!
      const maximum = column.granuleMaximums[this.granule]!
      return minimum === null || maximum === null ? undefined : { minimum, maximum }
    }
    const { firstCreated, lastCreated } = this.#rows
    if (path.length === 1 && path[0] === 'created' && firstCreated !== null) {
      return { minimum: firstCreated, maximum: lastCreated! }
    }
    return column
  }

  /** The bounds of a field that has values of this kind and no other. */
  onlyBounds(path: Path, kind: 'number' | 'timestamp') {
    const columns = this.#columns(path)
    if (columns === 'unknown') return undefined
    const isOnly = columns.every(({ type }) => type === kind || type === 'nulls')
    const bounds = isOnly ? this.numberBounds(path, kind) : undefined
    return bounds === 'unknown' ? undefined : bounds
  }

  /** Numbers of the granule that is asked about: of a field that has numbers and nothing else. */
  sumOf(path: Path): GranuleSum | undefined {
    const columns = this.#columns(path)
    const { granule } = this
    if (columns === 'unknown' || granule === undefined) return undefined
    const [column, ...others] = columns.filter(({ type }) => type !== 'nulls')
    if (column?.type !== 'number' || others.length > 0) return undefined
    const sum = column.granuleSums?.[granule] ?? undefined
    const count = this.#countIn(column, granule)
    if (sum === undefined || count === undefined) return undefined
    return { sum, error: column.granuleErrors?.[granule] ?? 0, count }
  }

  /** In how many rows the field has a value. */
  countOf(path: Path): number | undefined {
    const { granule } = this
    if (granule === undefined) {
      const present = SegmentColumns.of(this.#metadata).presentAt(path)
      return present === 'unknown' ? undefined : present
    }
    const columns = this.#columns(path)
    if (columns === 'unknown') return undefined
    let count = 0
    for (const column of columns) {
      if (column.type === 'nulls') continue
      // A row has a value in one column at most.
      if (column.nullCount === 0) return this.#rowsIn(granule)
      const counted = countIn(column, granule)
      if (counted === undefined) return undefined
      count += counted
    }
    return count
  }

  #countIn(column: NumberColumnMetadata, granule: number): number | undefined {
    return column.nullCount === 0 ? this.#rowsIn(granule) : countIn(column, granule)
  }

  #rowsIn(granule: number): number {
    return Math.min(granuleRows, this.#metadata.rowCount - granule * granuleRows)
  }

  textBounds(path: Path): Bounds<string> {
    if (path.length === 1 && path[0] === '_pagination_key') {
      const { firstPagination, lastPagination } = this.#rows
      return {
        minimum: formatPaginationKey(firstPagination),
        maximum: formatPaginationKey(lastPagination),
      }
    }
    if (path.length === 1 && path[0] === '_xact_id') {
      if (this.#metadata.keys.shownTransaction) return 'unknown'
      const { firstTransaction, lastTransaction } = this.#rows
      return {
        minimum: formatTransaction(firstTransaction),
        maximum: formatTransaction(lastTransaction),
      }
    }
    const columns = this.#columns(path)
    if (columns === 'unknown') return 'unknown'
    // A string may be compared with a time; JSON holds strings that UTF-8 cannot.
    if (columns.some(({ type }) => type === 'timestamp' || type === 'json')) return 'unknown'
    const column = columns.find((candidate) => candidate.type === 'text')
    if (!column) return undefined
    if (column.type !== 'text' || !column.bounds) return 'unknown'
    return { minimum: column.bounds.minimum, maximum: column.bounds.maximum }
  }

  mayHoldAnything(path: Path): boolean {
    const columns = this.#columns(path)
    if (columns === 'unknown') return true
    const { granule } = this
    return columns.some((column) => {
      if (granule === undefined || (column.type !== 'number' && column.type !== 'timestamp')) {
        return column.type !== 'nulls'
      }
      return column.granuleMinimums[granule] !== null
    })
  }

  mayHoldNull(path: Path): boolean {
    const columns = this.#columns(path)
    if (columns === 'unknown') return true
    const { granule } = this
    return columns.every((column) => {
      if (column.type === 'nulls') return true
      if (granule === undefined || (column.type !== 'number' && column.type !== 'timestamp')) {
        return column.nullCount > 0
      }
      return this.#countIn(column, granule) !== this.#rowsIn(granule)
    })
  }

  #columns(path: Path): Held {
    return heldAt(path, this.#metadata)
  }
}
