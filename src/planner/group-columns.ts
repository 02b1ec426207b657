/** The columns that an aggregation gives to what is above it: leaving some out, and adding some. */
import { type BoundExpression, childrenOf, hiddenField, isHiddenField } from '../binder/bound.ts'
import { mapChildren, structuralKey } from '../binder/rewrite.ts'
import type { LogicalPlan } from './logical-plan.ts'
import { fromLeaf, mapExpressions, ontoLeaf } from './map-plan.ts'

type Aggregation = Extract<LogicalPlan, { kind: 'aggregate' }>

/** The same rows, without the aggregates of its first aggregation that nothing above it reads. */
export function withUsedAggregates(plan: LogicalPlan): LogicalPlan {
  const nodes = fromLeaf(plan)
  const place = nodes.findIndex(({ kind }) => kind === 'aggregate')
  const aggregation = nodes[place]
  if (aggregation?.kind !== 'aggregate') return plan
  const { keys, aggregates } = aggregation
  // Columns above the next of these are its own.
  const next = nodes.findIndex(({ kind }, i) => i > place && hasOwnColumns.has(kind))
  const end = next < 0 ? nodes.length : next + 1
  const above = nodes.slice(place + 1, end)
  const used = new Set<number>()
  for (const node of above) {
    mapExpressions(node, (expression) => {
      collectColumns(expression, used)
      return expression
    })
  }
  const kept = aggregates.filter((_, i) => used.has(keys.length + i))
  const places = new Map(
    aggregates.map((aggregate, i) => [keys.length + i, keys.length + kept.indexOf(aggregate)]),
  )
  const moved = above.map((node) =>
    mapExpressions(node, (expression) => moveColumns(expression, places)),
  )
  const changed = { ...aggregation, aggregates: kept }
  return ontoLeaf([...nodes.slice(0, place), changed, ...moved, ...nodes.slice(end)])
}

const hasOwnColumns: ReadonlySet<LogicalPlan['kind']> = new Set(['aggregate', 'compare'])

/**
 * What stands between an aggregation whose groups have a row and the next thing that makes other rows
 * of them reads fields of that row from group columns, instead of from the row store.
 */
export function withRowValues(plan: LogicalPlan): LogicalPlan {
  const nodes = fromLeaf(plan)
  const place = nodes.findIndex((node) => node.kind === 'aggregate' && node.row !== undefined)
  const aggregation = nodes[place]
  if (aggregation?.kind !== 'aggregate' || !aggregation.row) return plan
  const values = new RowValues(aggregation)
  const rewritten = [...nodes]
  for (let i = place + 1; i < nodes.length; i++) {
    const node = nodes[i]!
    if (node.kind === 'project' || node.kind === 'infer') break
    rewritten[i] = mapExpressions(node, (expression) => values.replace(expression))
    if (makesOtherRows.has(node.kind)) break
  }
  if (rewritten.every((node, i) => node === nodes[i])) return plan
  const row = { ...aggregation.row, values: values.expressions }
  rewritten[place] = { ...aggregation, row }
  return ontoLeaf(rewritten)
}

const makesOtherRows: ReadonlySet<LogicalPlan['kind']> = new Set(['aggregate', 'pivot', 'compare'])

class RowValues {
  readonly expressions: BoundExpression[] = []
  /** Of group columns, by expression: keys are the same in all rows of a group. */
  readonly #indexes: Map<string, number>
  readonly #first: number

  constructor({ keys, aggregates }: Aggregation) {
    this.#first = keys.length + aggregates.length
    this.#indexes = new Map(keys.map((key, i) => [structuralKey(key), i]))
  }

  replace(node: BoundExpression): BoundExpression {
    if (node.kind !== 'field') return mapChildren(node, (child) => this.replace(child))
    const name = String(node.path[0])
    if (isHiddenField(name) && name !== hiddenField.object) return node
    const key = structuralKey(node)
    let index = this.#indexes.get(key)
    if (index === undefined) {
      index = this.#first + this.expressions.push(node) - 1
      this.#indexes.set(key, index)
    }
    return { kind: 'group_column', index, type: node.type }
  }
}

function collectColumns(node: BoundExpression, found: Set<number>): void {
  if (node.kind === 'group_column') found.add(node.index)
  for (const child of childrenOf(node)) collectColumns(child, found)
}

function moveColumns(node: BoundExpression, places: ReadonlyMap<number, number>): BoundExpression {
  if (node.kind !== 'group_column') {
    return mapChildren(node, (child) => moveColumns(child, places))
  }
  const index = places.get(node.index) ?? node.index
  return index === node.index ? node : { ...node, index }
}
