/**
 * Predicates that every row of a granule passes, by what the segment's metadata says of its columns.
 *
 * | predicate            | every row passes when                                              |
 * | -------------------- | ------------------------------------------------------------------ |
 * | `field op constant`  | the field has numbers or times alone, in every row, and the        |
 * |                      | granule's bounds leave no other                                    |
 * | `field is null`      | no row has a value                                                 |
 * | `not field is null`  | every row has a value                                              |
 * | `a and b`, `a or b`  | of both; of one                                                    |
 */
import type { BoundExpression } from '../../binder/bound.ts'
import { type ComparedNumber, comparedNumber } from './compared-field.ts'
import type { Zones } from './zones.ts'

/** Whether the predicate is of a form that may be certain. */
export function mayBeCertain(predicate: BoundExpression): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.every(mayBeCertain)
    case 'or':
      return predicate.operands.some(mayBeCertain)
    case 'comparison':
      return comparedNumber(predicate) !== undefined
    case 'is_null':
      return predicate.operand.kind === 'field'
    case 'not':
      return predicate.operand.kind === 'is_null' && predicate.operand.operand.kind === 'field'
    default:
      return false
  }
}

/** Whether every row of the granule that `zones` are of passes. */
export function isCertain(predicate: BoundExpression, zones: Zones): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.every((operand) => isCertain(operand, zones))
    case 'or':
      return predicate.operands.some((operand) => isCertain(operand, zones))
    case 'comparison': {
      const comparison = comparedNumber(predicate)
      return comparison !== undefined && isCompared(comparison, zones)
    }
    case 'is_null':
      return predicate.operand.kind === 'field' && !zones.mayHoldAnything(predicate.operand.path)
    case 'not': {
      const { operand } = predicate
      if (operand.kind !== 'is_null' || operand.operand.kind !== 'field') return false
      return !zones.mayHoldNull(operand.operand.path)
    }
    default:
      return false
  }
}

/**
 * Whether a predicate is certain in none of the granules `from … to`: bounds of all of them are compared in one loop. False
 * tells nothing.
 */
export function isCertainNowhere(
  predicate: BoundExpression,
  zones: Zones,
  from: number,
  to: number,
): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.some((operand) => isCertainNowhere(operand, zones, from, to))
    case 'or':
      return predicate.operands.every((operand) => isCertainNowhere(operand, zones, from, to))
    case 'comparison': {
      const comparison = comparedNumber(predicate)
      return comparison !== undefined && isComparedNowhere(comparison, zones, from, to)
    }
    default:
      return false
  }
}

function isComparedNowhere(
  { path, type, operator, value }: ComparedNumber,
  zones: Zones,
  from: number,
  to: number,
): boolean {
  const column = zones.numberColumn(path, type)
  if (column === undefined || column === 'unknown') return true
  const { granuleMinimums, granuleMaximums } = column
  for (let granule = from; granule < to; granule++) {
    const minimum = granuleMinimums[granule]!
    const maximum = granuleMaximums[granule]!
    if (minimum === null || maximum === null) continue
    if (holdsBetween(operator, minimum, maximum, value)) return false
  }
  return true
}

function isCompared({ path, type, operator, value }: ComparedNumber, zones: Zones): boolean {
  if (zones.mayHoldNull(path)) return false
  const bounds = zones.onlyBounds(path, type)
  if (!bounds) return false
  const { minimum, maximum = Number.POSITIVE_INFINITY } = bounds
  return holdsBetween(operator, minimum, maximum, value)
}

/** Whether a comparison holds of every number from the one to the other. */
function holdsBetween(
  operator: ComparedNumber['operator'],
  minimum: number,
  maximum: number,
  value: number,
): boolean {
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
