/**
 * Whether a row of a part of a segment may pass a predicate, by what the segment's metadata says.
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
import { type BoundExpression, type ConstantValue, hiddenField } from '../../binder/bound.ts'
import { compareText } from '../../type/compare.ts'
import type { Path } from '../../type/value.ts'
import { setOf } from '../../type/value-set.ts'
import {
  type ComparedField,
  type ComparisonExpression,
  comparedField,
  comparedNumber,
  numberOf,
} from './compared-field.ts'
import { longList, type Zones } from './zones.ts'

/** Bounds of numbers of zones that lie next to each other, from the first of them on; null: it has none. */
export interface BoundsList {
  readonly minimums: ArrayLike<number | null>
  readonly maximums: ArrayLike<number | null>
  readonly first: number
}

/** Zones of which the same is asked: the granules of a part, or the parts of many segments. */
export interface ZoneList {
  readonly count: number
  /** Of what holds all numbers, or times, at a path: undefined when there are none. */
  boundsOf(path: Path, type: 'number' | 'timestamp'): BoundsList | undefined | 'unknown'
  /** As `matchingZones`, for what is no comparison of numbers. */
  askEach(predicate: BoundExpression): Uint8Array | undefined
}

/** For each zone whether a row of it may match; undefined: in all of them. Bounds of numbers are compared in one loop. */
export function matchingZones(predicate: BoundExpression, zones: ZoneList): Uint8Array | undefined {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.reduce((all: Uint8Array | undefined, operand) => {
        const matching = matchingZones(operand, zones)
        return all && matching ? all.map((may, i) => may & matching[i]!) : (all ?? matching)
      }, undefined)
    case 'or': {
      const any = new Uint8Array(zones.count)
      for (const operand of predicate.operands) {
        const matching = matchingZones(operand, zones)
        if (!matching) return undefined
        for (let i = 0; i < any.length; i++) any[i]! |= matching[i]!
      }
      return any
    }
    case 'comparison':
      return zonesComparing(predicate, zones)
    default:
      return zones.askEach(predicate)
  }
}

function zonesComparing(predicate: ComparisonExpression, zones: ZoneList): Uint8Array | undefined {
  const compared = comparedNumber(predicate)
  if (!compared) return zones.askEach(predicate)
  const { operator, path, type, value } = compared
  const bounds = zones.boundsOf(path, type)
  if (bounds === 'unknown' || operator === 'ne') return undefined
  const matching = new Uint8Array(zones.count)
  if (!bounds) return matching
  const { minimums, maximums, first } = bounds
  for (let i = 0; i < matching.length; i++) {
    const minimum = minimums[first + i]!
    const maximum = maximums[first + i]!
    if (minimum === null || maximum === null) continue
    const toMinimum = compareNumbers(value, minimum)
    matching[i] = isWithin(operator, toMinimum, compareNumbers(value, maximum)) ? 1 : 0
  }
  return matching
}

type Comparison = ComparedField['operator']

/** Whether a row of the zone may match. */
export function mayMatch(predicate: BoundExpression, zones: Zones): boolean {
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
      const { values, areAll } = setOf(list.value).times
      if (operand.type === 'timestamp' && areAll) {
        return values.some(({ ms, microseconds }) => {
          const time = { kind: 'timestamp', ms, microseconds, type: 'timestamp' } as const
          return mayCompare('eq', operand.path, time, zones)
        })
      }
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
