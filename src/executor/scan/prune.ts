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
import { swapped } from '../../kernel/compare.ts'
import type { ObjectRows, SegmentMetadata } from '../../storage/segment/metadata.ts'
import { compareText } from '../../type/compare.ts'
import type { Path } from '../../type/value.ts'
import { granuleRows } from '../../vector/column.ts'
import type { TraceSet } from '../expression/trace-set.ts'
import { longList, Zones } from './zones.ts'

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
  const first = Math.floor(rows.from / granuleRows)
  const part = { zones: new Zones(metadata, rows, traceSets), first, count: granulesIn(rows) }
  const left = new Uint8Array(part.count).fill(1)
  for (const [i, predicate] of predicates.entries()) {
    const matching = granulesMatching(predicate, part)
    if (matching) skipped[i] = leaveOut(left, matching, rows)
  }
  return { ranges: rangesOf(left, rows), skipped }
}

function granulesIn({ from, to }: ObjectRows): number {
  return Math.floor((to - 1) / granuleRows) - Math.floor(from / granuleRows) + 1
}

/** Returns how many rows the granules have that were left and do not match. */
function leaveOut(left: Uint8Array, matching: Uint8Array, rows: ObjectRows): number {
  let skipped = 0
  for (let i = 0; i < left.length; i++) {
    if (left[i] === 0 || matching[i] !== 0) continue
    left[i] = 0
    const { from, to } = granuleAt(rows, i)
    skipped += to - from
  }
  return skipped
}

function rangesOf(left: Uint8Array, rows: ObjectRows): PrunedRange[] {
  const ranges: { from: number; to: number }[] = []
  for (let i = 0; i < left.length; i++) {
    if (left[i] === 0) continue
    const { from, to } = granuleAt(rows, i)
    const last = ranges.at(-1)
    if (last?.to === from) last.to = to
    else ranges.push({ from, to })
  }
  return ranges
}

/** The part's rows in one of its granules. */
function granuleAt(rows: ObjectRows, i: number): PrunedRange {
  const start = (Math.floor(rows.from / granuleRows) + i) * granuleRows
  return { from: Math.max(rows.from, start), to: Math.min(rows.to, start + granuleRows) }
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

/** Granules of a part, from the first one on. */
interface PartGranules {
  readonly zones: Zones
  readonly first: number
  readonly count: number
}

/**
 * For each granule whether rows of it may match; undefined: all of them may. Bounds of numbers are compared in one
 * loop, as there are a thousand granules for each ten millions of rows.
 */
function granulesMatching(predicate: BoundExpression, part: PartGranules): Uint8Array | undefined {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.reduce((all: Uint8Array | undefined, operand) => {
        const matching = granulesMatching(operand, part)
        return all && matching ? all.map((may, i) => may & matching[i]!) : (all ?? matching)
      }, undefined)
    case 'or': {
      const each = predicate.operands.map((operand) => granulesMatching(operand, part))
      const any = new Uint8Array(part.count)
      for (const matching of each) {
        if (!matching) return undefined
        for (let i = 0; i < any.length; i++) any[i]! |= matching[i]!
      }
      return any
    }
    case 'comparison':
      return granulesComparing(predicate, part)
    default: {
      const { zones, first, count } = part
      const matching = new Uint8Array(count)
      for (let i = 0; i < count; i++) {
        zones.granule = first + i
        matching[i] = mayMatch(predicate, zones) ? 1 : 0
      }
      zones.granule = undefined
      return matching
    }
  }
}

function granulesComparing(
  predicate: ComparisonExpression,
  { zones, first, count }: PartGranules,
): Uint8Array | undefined {
  const compared = comparedField(predicate)
  const constant = compared && numberOf(compared.constant)
  // Texts have no bounds by granule.
  if (!constant) return mayMatch(predicate, zones) ? undefined : new Uint8Array(count)
  const { operator, path } = compared
  const column = zones.numberColumn(path, constant.type)
  if (column === 'unknown' || operator === 'ne') return undefined
  const matching = new Uint8Array(count)
  if (!column) return matching
  const { granuleMinimums, granuleMaximums } = column
  for (let i = 0; i < count; i++) {
    const minimum = granuleMinimums[first + i]!
    const maximum = granuleMaximums[first + i]!
    if (minimum === null || maximum === null) continue
    const { value } = constant
    matching[i] = isWithin(operator, compareNumbers(value, minimum), compareNumbers(value, maximum))
      ? 1
      : 0
  }
  return matching
}

type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

function mayMatch(predicate: BoundExpression, zones: Zones): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.every((operand) => mayMatch(operand, zones))
    case 'or':
      return predicate.operands.some((operand) => mayMatch(operand, zones))
    case 'comparison': {
      const compared = comparedField(predicate)
      return !compared || mayCompare(compared.operator, compared.path, compared.constant, zones)
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

type ComparisonExpression = Extract<BoundExpression, { kind: 'comparison' }>

interface ComparedField {
  readonly operator: Comparison
  readonly path: Path
  readonly constant: BoundExpression
}

/** A comparison as one of a field with something else. */
function comparedField({ operator, left, right }: ComparisonExpression): ComparedField | undefined {
  if (operator === 'is_same' || operator === 'is_different') return undefined
  if (left.kind === 'field') return { operator, path: left.path, constant: right }
  if (right.kind !== 'field') return undefined
  return { operator: swapped[operator], path: right.path, constant: left }
}

interface NumberConstant {
  readonly type: 'number' | 'timestamp'
  readonly value: number
}

/** What columns of numbers have bounds for; times in milliseconds. */
function numberOf(constant: BoundExpression): NumberConstant | undefined {
  if (constant.kind === 'timestamp') return { type: 'timestamp', value: constant.ms }
  if (constant.kind !== 'constant' || typeof constant.value !== 'number') return undefined
  return { type: 'number', value: constant.value }
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
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
  const number = numberOf(constant)
  if (number) {
    const bounds = zones.numberBounds(path, number.type)
    return bounds === 'unknown' || isBetween(operator, number.value, bounds, compareNumbers)
  }
  if (constant.kind !== 'constant' || typeof constant.value !== 'string') return true
  const bounds = zones.textBounds(path)
  return bounds === 'unknown' || isBetween(operator, constant.value, bounds, compareText)
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
  const toMaximum = maximum !== undefined ? compare(constant, maximum) : -1
  return isWithin(operator, compare(constant, minimum), toMaximum)
}

/** Whether the comparison can hold for a value between two, by how the constant compares with these. */
function isWithin(
  operator: Exclude<Comparison, 'ne'>,
  toMinimum: number,
  toMaximum: number,
): boolean {
  switch (operator) {
    case 'eq':
      return toMinimum >= 0 && toMaximum <= 0
    case 'lt':
      return toMinimum > 0
    case 'le':
      return toMinimum >= 0
    case 'gt':
      return toMaximum < 0
    case 'ge':
      return toMaximum <= 0
  }
}
