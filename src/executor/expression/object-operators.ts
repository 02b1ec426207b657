/** Predicates on objects that lie in columns, without putting the objects together. */
import type { BoundExpression } from '../../binder/bound.ts'
import { applyOperator, constantValue, type EvaluationContext } from '../../binder/evaluate.ts'
import { isObject, type Path, type Value } from '../../type/value.ts'
import type { LazyVector, Vector } from '../../vector/vector.ts'

/**
 * What a field must be for an object in it to include a constant object: a comparison for each value
 * in the constant. Undefined when the node is no such predicate.
 *
 * An entry that is null, or an empty object, is told by more than the value at its path.
 */
export function includedEntries(
  node: BoundExpression,
  context: EvaluationContext,
): readonly BoundExpression[] | undefined {
  if (node.kind !== 'includes' || node.haystack.kind !== 'field') return undefined
  const { path } = node.haystack
  if (path.some((part) => typeof part === 'number')) return undefined
  const needle = constantValue(node.needle, context)
  if (needle === undefined || !isObject(needle)) return undefined
  const entries = comparisons(path, needle)
  return entries?.length === 0 ? undefined : entries
}

function comparisons(path: Path, value: Value): BoundExpression[] | undefined {
  if (value === null) return undefined
  if (!isObject(value)) {
    // Within JSON there are no other types.
    if (typeof value === 'object' && !Array.isArray(value)) return undefined
    return [
      {
        kind: 'comparison',
        operator: 'eq',
        left: { kind: 'field', path, type: 'json' },
        right: { kind: 'constant', value, type: 'json' },
        type: 'boolean',
      },
    ]
  }
  const names = Object.keys(value)
  if (names.length === 0) return undefined
  const all: BoundExpression[] = []
  for (const name of names) {
    const inner = comparisons([...path, name], value[name]!)
    if (!inner) return undefined
    all.push(...inner)
  }
  return all
}

/** The result of a comparison with what is no object or list, which is the same for all objects. */
export function compareObjects(
  node: BoundExpression,
  left: Vector,
  right: Vector,
  context: EvaluationContext,
): Vector | undefined {
  if (node.kind !== 'comparison') return undefined
  const objects = [left, right].map(areObjects)
  const other = objects[0] ? right : left
  if (objects[0] === objects[1] || other.kind !== 'constant') return undefined
  if (typeof other.value === 'object' && other.value !== null) return undefined
  const operands = objects.map((isObjects) => (isObjects ? anyObject : other.value))
  return { kind: 'constant', value: applyOperator(node, operands, context) }
}

const anyObject: Value = {}

function areObjects(vector: Vector): vector is LazyVector {
  return vector.kind === 'lazy' && vector.source?.kind === 'object'
}
