/**
 * Compiles a bound expression to a function over batches. A node's kernel is chosen per batch by the
 * vectors that come in; what has no kernel is evaluated value by value (`binder/evaluate.ts`).
 */
import { type BoundExpression, childrenOf, hiddenField } from '../../binder/bound.ts'
import { applyOperator, constantValue } from '../../binder/evaluate.ts'
import { assert } from '../../error.ts'
import { newBytes, newNumbers } from '../../kernel/arena.ts'
import { negateNumbers } from '../../kernel/arithmetic.ts'
import { andInto, notOf, orInto } from '../../kernel/logic.ts'
import { rowFraction } from '../../type/hash.ts'
import type { Path, Value } from '../../type/value.ts'
import { setOf } from '../../type/value-set.ts'
import {
  compactValues,
  rowsOf,
  type Selection,
  unknown,
  type Vector,
  valueReader,
} from '../../vector/vector.ts'
import { noRow } from '../column/row-choice.ts'
import { likeGroups } from '../text/any-like.ts'
import { compileJsonSearch } from '../text/json-search.ts'
import { compileRelevance } from '../text/relevance.ts'
import { compileText, searchVector } from '../text/text-operators.ts'
import { checkCancelled } from '../thread/cancelled.ts'
import { type Batch, nullBytes } from './batch.ts'
import { compileConditional, firstPresent } from './conditional.ts'
import { compileCost } from './cost-operators.ts'
import { type Evaluator, truthOf } from './evaluator.ts'
import { compileKindVerdict } from './kind-verdict.ts'
import { calculateVectors, compareVectors, roundVector } from './number-operators.ts'
import { numbersInSet } from './number-set.ts'
import { compareObjects, includedEntries } from './object-operators.ts'
import { dictionaryField, overDictionary } from './over-dictionary.ts'
import { type MixedExpression, overVariants } from './over-variants.ts'
import type { TaskContext } from './semi-join-set.ts'
import { compileDatePart, compileTruncation } from './time-operators.ts'
import { inSharedTraces, inTraces } from './trace-operators.ts'

export function compile(node: BoundExpression, context: TaskContext): Evaluator {
  if (node.kind === 'field') return readOf(node.path)
  const evaluate = compileOperator(node, context)
  const path = dictionaryField(node)
  if (!path) return evaluate
  const over = overDictionary(node, path, evaluate)
  if (node.kind === 'not' || node.kind === 'and' || node.kind === 'or') {
    return (batch, selection) => {
      const { kind } = batch.field(path).encoding
      return (kind === 'mixed' ? evaluate : over)(batch, selection)
    }
  }
  return overVariants(mixedExpression(node, path, over, context))
}

function readOf(path: Path): Evaluator {
  return (batch, selection) => batch.field(path).read(selection)
}

/** @param evaluate the expression where the field has values of one kind */
export function mixedExpression(
  node: BoundExpression,
  path: Path,
  evaluate: Evaluator,
  context: TaskContext,
): MixedExpression {
  const overObjects = compileIncludedObject(node, context)
  return { node, path, evaluate, overObjects, verdict: compileKindVerdict(node, context) }
}

/** Undefined when the node does not ask objects for an object. */
function compileIncludedObject(node: BoundExpression, context: TaskContext): Evaluator | undefined {
  const entries = includedEntries(node, context)?.map((entry) => compile(entry, context))
  if (!entries) return undefined
  return (batch, selection) => {
    const values = newBytes(batch.rowCount).fill(1)
    for (const entry of entries) {
      const truth = truthOf(entry(batch, selection), batch, selection)
      // What is not known to be equal is not.
      for (let row = 0; row < values.length; row++) values[row]! &= +(truth[row] === 1)
    }
    return { kind: 'boolean', values }
  }
}

/** Of `or`: what asks the same texts for several patterns is one search. */
function compileAlternatives(
  operands: readonly BoundExpression[],
  context: TaskContext,
): Evaluator[] {
  const groups = likeGroups(operands)
  const grouped = new Set(groups.flatMap(({ nodes }) => nodes))
  const single = (nodes: readonly BoundExpression[]) => nodes.map((node) => compile(node, context))
  const together = groups.map(({ operand, search, nodes }): Evaluator => {
    const texts = compile(operand, context)
    const others = single(nodes)
    return (batch, selection) => {
      const vector = texts(batch, selection)
      if (vector.kind === 'text') return searchVector(search, vector, batch.rowCount, selection)
      const values = newBytes(batch.rowCount).fill(0)
      for (const other of others) {
        orInto(values, truthOf(other(batch, selection), batch, selection), batch.rowCount)
      }
      return { kind: 'boolean', values }
    }
  })
  return [...together, ...single(operands.filter((node) => !grouped.has(node)))]
}

function compileOperator(node: BoundExpression, context: TaskContext): Evaluator {
  switch (node.kind) {
    case 'constant':
    case 'timestamp':
    case 'interval': {
      const vector: Vector = { kind: 'constant', value: applyOperator(node, [], context) }
      return () => vector
    }
    case 'group_column':
      return readOf([hiddenField.groupColumn, node.index])
    case 'in_traces':
      return compileInTraces(node, context)
    case 'is_null':
      return compileNullTest(node.operand, context)
    case 'not': {
      const operand = compile(node.operand, context)
      return (batch, selection) => {
        const values = newBytes(batch.rowCount)
        notOf(truthOf(operand(batch, selection), batch, selection), batch.rowCount, values)
        return { kind: 'boolean', values }
      }
    }
    case 'and':
    case 'or': {
      const combine = node.kind === 'and' ? andInto : orInto
      const operands =
        node.kind === 'or'
          ? compileAlternatives(node.operands, context)
          : node.operands.map((operand) => compile(operand, context))
      return (batch, selection) => {
        const values = newBytes(batch.rowCount).fill(node.kind === 'and' ? 1 : 0)
        for (const operand of operands) {
          const next = truthOf(operand(batch, selection), batch, selection)
          combine(values, next, batch.rowCount)
        }
        return { kind: 'boolean', values }
      }
    }
    case 'negate': {
      const operand = compile(node.operand, context)
      const byValue = compileByValue(node, [operand], context)
      return (batch, selection) => {
        const vector = operand(batch, selection)
        if (vector.kind !== 'number') return byValue.apply([vector], batch, selection)
        const values = newNumbers(batch.rowCount)
        negateNumbers(vector.values, batch.rowCount, values)
        return { kind: 'number', values }
      }
    }
    case 'conditional': {
      const operands = childrenOf(node).map((child) => compile(child, context))
      const choose = compileConditional(node)
      const byValue = compileByValue(node, operands, context)
      return (batch, selection) => {
        const vectors = operands.map((operand) => operand(batch, selection))
        return choose(vectors, batch, selection) ?? byValue.apply(vectors, batch, selection)
      }
    }
    case 'comparison':
    case 'arithmetic': {
      const left = compile(node.left, context)
      const right = compile(node.right, context)
      const byText = compileText(node)
      const byValue = compileByValue(node, [left, right], context)
      return (batch, selection) => {
        const [l, r] = [left(batch, selection), right(batch, selection)]
        const result =
          node.kind === 'comparison'
            ? (compareVectors(node.operator, l, r, batch.rowCount) ??
              byText?.(l, r, batch, selection) ??
              compareObjects(node, l, r, context))
            : calculateVectors(node.operator, l, r, batch.rowCount)
        return result ?? byValue.apply([l, r], batch, selection)
      }
    }
    case 'like':
    case 'match':
    case 'includes':
    case 'in': {
      const [first, second] = childrenOf(node).map((child) => compile(child, context))
      const byText = compileText(node)
      const inJson = compileJsonSearch(node)
      const byValue = compileByValue(node, [first!, second!], context)
      return (batch, selection) => {
        const [l, r] = [first!(batch, selection), second!(batch, selection)]
        const result = byText?.(l, r, batch, selection)
        if (result) return result
        if (node.kind === 'in' && r.kind === 'constant' && Array.isArray(r.value)) {
          if (l.kind === 'number' || l.kind === 'timestamp') {
            return numbersInSet(l, setOf(r.value), batch.rowCount)
          }
        }
        const isSearched = l.kind === 'lazy' && r.kind === 'constant'
        const rows = isSearched && inJson?.(l, r.value, batch.rowCount, selection)
        if (!rows) return byValue.apply([l, r], batch, selection)
        const values = newBytes(batch.rowCount).fill(0)
        const truth = truthOf(byValue.apply([l, r], batch, rows), batch, rows)
        for (const row of rows) values[row] = truth[row]!
        return { kind: 'boolean', values }
      }
    }
    case 'call': {
      const sampled = compileRowFraction(node, context)
      if (sampled) return sampled
      const operands = node.arguments.map((argument) => compile(argument, context))
      const scored = compileRelevance(node, operands, context)
      if (scored) return scored
      const ofTime = compileTruncation(node, context) ?? compileDatePart(node, context)
      const cost = compileCost(node, context)
      const isCoalesce = node.name === 'coalesce'
      const byValue = compileByValue(node, operands, context)
      return (batch, selection) => {
        const vectors = operands.map((operand) => operand(batch, selection))
        const last = vectors.at(-1)
        if (!last || vectors.every(({ kind }) => kind === 'constant')) {
          return byValue.apply(vectors, batch, selection)
        }
        const { rowCount } = batch
        return (
          cost?.(vectors, rowCount, selection) ??
          (isCoalesce ? firstPresent(vectors, rowCount, selection) : undefined) ??
          ofTime?.(last, rowCount) ??
          (vectors.length === 1 ? roundVector(node.name, last, rowCount) : undefined) ??
          byValue.apply(vectors, batch, selection)
        )
      }
    }
    default: {
      const operands = childrenOf(node).map((child) => compile(child, context))
      return compileByValue(node, operands, context).evaluate
    }
  }
}

function compileInTraces(
  node: Extract<BoundExpression, { kind: 'in_traces' }>,
  context: TaskContext,
): Evaluator {
  const lookup = context.traces?.[node.set]
  assert(lookup, 'a condition asks for traces that were not found')
  const object = compile(node.object, context)
  const trace = compile(node.trace, context)
  const byValue = compileByValue(node, [object, trace], context)
  const path = node.trace.kind === 'field' ? node.trace.path : undefined
  return (batch, selection) => {
    const o = object(batch, selection)
    if (o.kind !== 'constant') return byValue.apply([o, trace(batch, selection)], batch, selection)
    const traces = lookup.of(o.value)
    // Fields of texts take far longer to read than numbers: of most objects no span repeats usage.
    if (!traces) return { kind: 'constant', value: false }
    const shared = path && batch.field(path).shared
    if (shared) return inSharedTraces(traces, shared, batch)
    return inTraces(traces, trace(batch, selection), batch.rowCount, selection)
  }
}

/** The hash of stored rows by the numbers of their pagination keys, which need no text then. */
function compileRowFraction(
  node: Extract<BoundExpression, { kind: 'call' }>,
  context: TaskContext,
): Evaluator | undefined {
  const [field, seed] = node.arguments
  if (node.name !== 'hash_fraction' || field?.kind !== 'field' || !seed) return undefined
  if (field.path.length !== 1 || field.path[0] !== '_pagination_key') return undefined
  const constant = constantValue(seed, context)
  if (typeof constant !== 'number') return undefined
  const byValue = compileByValue(node, [compile(field, context), compile(seed, context)], context)
  return (batch, selection) => {
    const { keys, rowCount } = batch
    if (!keys || keys.object.includes(noRow)) return byValue.evaluate(batch, selection)
    const values = new Float64Array(rowCount)
    const { paginationTransaction, paginationIndex } = keys
    for (const row of rowsOf(selection, rowCount)) {
      values[row] = rowFraction(paginationTransaction[row]!, paginationIndex[row]!, constant)
    }
    return { kind: 'number', values }
  }
}

/** Evaluates a node row by row, whatever its operands are. */
function compileByValue(
  node: BoundExpression,
  operands: readonly Evaluator[],
  context: TaskContext,
) {
  const apply = (vectors: readonly Vector[], batch: Batch, selection: Selection): Vector => {
    if (vectors.every((vector) => vector.kind === 'constant')) {
      const values = vectors.map((vector) => vector.value)
      return { kind: 'constant', value: applyOperator(node, values, context) }
    }
    const readers = vectors.map(valueReader)
    const values = new Array<Value>(batch.rowCount)
    const rows = rowsOf(selection, batch.rowCount)
    for (const row of rows) {
      // The JSON of one row may take as long to read as a thousand numbers.
      checkCancelled()
      const rowOperands = readers.map((read) => read(row))
      values[row] = applyOperator(node, rowOperands, context)
    }
    return compactValues(values, rows)
  }
  const evaluate: Evaluator = (batch, selection) => {
    const vectors = operands.map((operand) => operand(batch, selection))
    return apply(vectors, batch, selection)
  }
  return { apply, evaluate }
}

/** Any value but null where the expression has one, for who only asks that. */
export function compilePresence(node: BoundExpression, context: TaskContext): Evaluator {
  const evaluate = compile(node, context)
  if (node.kind !== 'field') return evaluate
  return (batch, selection) => {
    const field = batch.field(node.path)
    if (field.encoding.kind !== 'mixed') return evaluate(batch, selection)
    const nulls = field.nulls(batch.rowCount, selection)
    const values = newBytes(batch.rowCount)
    for (let row = 0; row < values.length; row++) values[row] = nulls[row]! * unknown
    return { kind: 'boolean', values }
  }
}

function compileNullTest(operand: BoundExpression, context: TaskContext): Evaluator {
  if (operand.kind === 'field') {
    return (batch, selection) => ({
      kind: 'boolean',
      values: batch.field(operand.path).nulls(batch.rowCount, selection),
    })
  }
  const evaluate = compile(operand, context)
  return (batch, selection) => {
    const vector = evaluate(batch, selection)
    if (vector.kind === 'constant') return { kind: 'constant', value: vector.value === null }
    return { kind: 'boolean', values: nullBytes(vector, batch.rowCount, selection) }
  }
}
