/**
 * What an expression means, value by value. The executor's kernels are faster ways to the same
 * answers; whatever has no kernel goes through `applyOperator`.
 */
import { assert, unreachable } from '../error.ts'
import type { PriceTable } from '../function/prices.ts'
import { callScalar, scalarFunction } from '../function/scalar.ts'
import { arithmetic, negate } from '../type/arithmetic.ts'
import { compare } from '../type/compare.ts'
import { includes } from '../type/includes.ts'
import { like } from '../type/like.ts'
import { and, inList, not, or } from '../type/logic.ts'
import { matchWords } from '../type/text-match.ts'
import { Interval, kindOf, Timestamp, type Value, valueAt } from '../type/value.ts'
import { type BoundExpression, type ConstantValue, childrenOf } from './bound.ts'

/** What an expression's value depends on besides the row. */
export interface EvaluationContext {
  /** The query's instant, ms since 1970 UTC. */
  readonly now: number
  /** The instant is not known yet: what depends on it is no constant. */
  readonly isNowOpen?: boolean
  /** Minutes that local time is behind UTC, as `Date.getTimezoneOffset` gives it. */
  readonly tzOffset: number
  /** What models cost; the built-in table when undefined. */
  readonly prices?: PriceTable
  /** Whether a set of traces holds a trace of an object. Only who runs a plan knows. */
  readonly inTraces?: (set: number, object: Value, trace: Value) => boolean
}

export type LeafExpression = Extract<BoundExpression, { kind: 'field' | 'group_column' }>

/** Evaluates a whole expression; `read` gives the values of fields and group columns. */
export function evaluate(
  node: BoundExpression,
  read: (leaf: LeafExpression) => Value,
  context: EvaluationContext,
): Value {
  if (node.kind === 'field' || node.kind === 'group_column') return read(node)
  const operands = childrenOf(node).map((child) => evaluate(child, read, context))
  return applyOperator(node, operands, context)
}

/** The value of one node, given the values of its children in `childrenOf` order. */
export function applyOperator(
  node: BoundExpression,
  operands: readonly Value[],
  context: EvaluationContext,
): Value {
  switch (node.kind) {
    case 'constant':
      return node.value as ConstantValue & Value
    case 'timestamp':
      return new Timestamp(node.ms, node.microseconds)
    case 'interval':
      return new Interval(node.months, node.ms)
    case 'field':
    case 'group_column':
      return null
    case 'access':
      return valueAt(operands[0]!, node.path)
    case 'in_traces': {
      assert(context.inTraces, 'a condition asks for traces that were not found')
      return context.inTraces(node.set, operands[0]!, operands[1]!)
    }
    case 'call':
      return callScalar(scalarFunction(node.name)!, operands, context)
    case 'comparison':
      return compare(node.operator, operands[0]!, operands[1]!)
    case 'arithmetic':
      return arithmetic(node.operator, operands[0]!, operands[1]!)
    case 'negate':
      return negate(operands[0]!)
    case 'not':
      return not(operands[0]!)
    case 'and':
      return operands.reduce<Value>((result, operand) => and(result, operand), true)
    case 'or':
      return operands.reduce<Value>((result, operand) => or(result, operand), false)
    case 'is_null':
      return operands[0] === null
    case 'like':
      return like(operands[0]!, operands[1]!, node.caseInsensitive)
    case 'includes':
      return includes(operands[0]!, operands[1]!)
    case 'match': {
      if (node.isSearch && operands[0] === null && operands[1] !== null) return false
      return matchWords(operands[0]!, operands[1]!)
    }
    case 'in':
      return inList(operands[0]!, operands[1]!)
    case 'conditional': {
      for (let i = 0; i + 1 < operands.length; i += 2) {
        if (operands[i] === true) return operands[i + 1]!
      }
      return operands[operands.length - 1]!
    }
    case 'array':
      return operands
    case 'object': {
      const object: Record<string, Value> = Object.create(null)
      for (const [i, [key]] of node.entries.entries()) object[key] = operands[i]!
      return object
    }
    default:
      return unreachable(node)
  }
}

/** The expression's value if it depends on nothing but its constants, else undefined. */
export function constantValue(
  node: BoundExpression,
  context: EvaluationContext,
): Value | undefined {
  return isConstant(node, context) ? evaluate(node, () => null, context) : undefined
}

function isConstant(node: BoundExpression, context: EvaluationContext): boolean {
  if (node.kind === 'field' || node.kind === 'group_column') return false
  if (node.kind === 'in_traces') return false
  if (context.isNowOpen && isNow(node)) return false
  return childrenOf(node).every((child) => isConstant(child, context))
}

function isNow(node: BoundExpression): boolean {
  return node.kind === 'call' && scalarFunction(node.name)?.isOfNow === true
}

/** Nodes that have been looked at: they are asked for at each level above them. */
const awaiting = new WeakMap<BoundExpression, boolean>()

/** Whether a node has a value as soon as the query's instant is known, and not before. */
export function awaitsNow(node: BoundExpression): boolean {
  const known = awaiting.get(node)
  if (known !== undefined) return known
  const children = childrenOf(node)
  const areValues = children.every((child) => isValue(child) || awaitsNow(child))
  const awaits = isNow(node) || (areValues && children.some(awaitsNow))
  awaiting.set(node, awaits)
  return awaits
}

/** Whether the node is a value, with nothing to be evaluated. */
export function isValue({ kind }: BoundExpression): boolean {
  return kind === 'constant' || kind === 'timestamp' || kind === 'interval'
}

/** The node that stands for a value, or undefined for values that no node can hold. */
export function nodeForValue(value: Value): BoundExpression | undefined {
  if (value instanceof Timestamp) return timeNode(value)
  if (value instanceof Interval) {
    return { kind: 'interval', months: value.months, ms: value.ms, type: 'interval' }
  }
  if (!isCloneable(value)) return undefined
  return { kind: 'constant', value, type: typeOfConstant(value) }
}

export function timeNode({ ms, microseconds }: Timestamp): BoundExpression {
  return { kind: 'timestamp', ms, ...(microseconds !== 0 && { microseconds }), type: 'timestamp' }
}

function isCloneable(value: Value): value is ConstantValue & Value {
  if (value instanceof Timestamp || value instanceof Interval) return false
  if (value === null || typeof value !== 'object') return true
  return Object.values(value).every(isCloneable)
}

export function typeOfConstant(value: ConstantValue): 'boolean' | 'number' | 'string' | 'json' {
  const kind = kindOf(value as ConstantValue & Value)
  return kind === 'boolean' || kind === 'number' || kind === 'string' ? kind : 'json'
}
