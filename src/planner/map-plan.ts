/** Rebuilds plans: the same node comes back where nothing changed, so that rules can tell. */
import type {
  BoundAggregate,
  BoundExpression,
  BoundSortKey,
  OutputColumn,
  RowChoice,
} from '../binder/bound.ts'
import type { LogicalPlan } from './logical-plan.ts'

/** Applies `change` to every node, inputs first. */
export function mapPlan(
  plan: LogicalPlan,
  change: (plan: LogicalPlan) => LogicalPlan,
): LogicalPlan {
  if (!('input' in plan)) return change(plan)
  const input = mapPlan(plan.input, change)
  return change(input === plan.input ? plan : { ...plan, input })
}

/** The nodes of a plan, its access path first. */
export function fromLeaf(plan: LogicalPlan): LogicalPlan[] {
  const nodes: LogicalPlan[] = []
  for (let node: LogicalPlan | undefined = plan; node; ) {
    nodes.push(node)
    node = 'input' in node ? node.input : undefined
  }
  return nodes.reverse()
}

/** The plan of these nodes, each over the one before it. */
export function ontoLeaf(nodes: readonly LogicalPlan[]): LogicalPlan {
  return nodes.reduce((input, node) =>
    'input' in node && node.input !== input ? { ...node, input } : node,
  )
}

/** Applies `change` to every expression of one node. */
export function mapExpressions(
  plan: LogicalPlan,
  change: (expression: BoundExpression) => BoundExpression,
): LogicalPlan {
  switch (plan.kind) {
    case 'scan':
    case 'look_up': {
      const predicates = mapAll(plan.predicates, change)
      return predicates === plan.predicates ? plan : { ...plan, predicates }
    }
    case 'filter': {
      const predicate = change(plan.predicate)
      return predicate === plan.predicate ? plan : { ...plan, predicate }
    }
    case 'unpivot': {
      const expression = change(plan.unpivot.expression)
      if (expression === plan.unpivot.expression) return plan
      return { ...plan, unpivot: { ...plan.unpivot, expression } }
    }
    case 'project': {
      const columns = mapColumns(plan.columns, change)
      return columns === plan.columns ? plan : { ...plan, columns }
    }
    case 'pivot': {
      const measures = mapColumns(plan.pivot.measures, change)
      return measures === plan.pivot.measures
        ? plan
        : { ...plan, pivot: { ...plan.pivot, measures } }
    }
    case 'aggregate': {
      const keys = mapAll(plan.keys, change)
      const aggregates = mapAll(plan.aggregates, (aggregate) => mapAggregate(aggregate, change))
      const row = plan.row && mapRowChoice(plan.row, change)
      const same = keys === plan.keys && aggregates === plan.aggregates && row === plan.row
      return same ? plan : { ...plan, keys, aggregates, row }
    }
    case 'sort':
    case 'top_k':
    case 'seek': {
      const keys = mapAll(plan.keys, (key): BoundSortKey => {
        const expression = change(key.expression)
        return expression === key.expression ? key : { ...key, expression }
      })
      return keys === plan.keys ? plan : { ...plan, keys }
    }
    case 'compare': {
      const [key, scores, metrics] = [change(plan.key), change(plan.scores), change(plan.metrics)]
      const same = key === plan.key && scores === plan.scores && metrics === plan.metrics
      return same ? plan : { ...plan, key, scores, metrics }
    }
    default:
      return plan
  }
}

function mapRowChoice(
  row: RowChoice,
  change: (expression: BoundExpression) => BoundExpression,
): RowChoice {
  const preferred = row.preferred && change(row.preferred)
  const values = mapAll(row.values, change)
  return preferred === row.preferred && values === row.values ? row : { ...row, preferred, values }
}

function mapAggregate(
  aggregate: BoundAggregate,
  change: (expression: BoundExpression) => BoundExpression,
): BoundAggregate {
  const operands = mapAll(aggregate.arguments, change)
  const filter = aggregate.filter && change(aggregate.filter)
  if (operands === aggregate.arguments && filter === aggregate.filter) return aggregate
  return { ...aggregate, arguments: operands, filter }
}

function mapColumns(
  columns: readonly OutputColumn[],
  change: (expression: BoundExpression) => BoundExpression,
): readonly OutputColumn[] {
  return mapAll(columns, (column) => {
    const expression = change(column.expression)
    return expression === column.expression ? column : { ...column, expression }
  })
}

/** The same array when no element changed. */
function mapAll<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change)
  return changed.every((item, i) => item === items[i]) ? items : changed
}
