import {
  type BoundExpression,
  type BoundSortKey,
  type BoundUnpivot,
  fieldsOf,
  hiddenField,
  type SortPosition,
} from '../binder/bound.ts'
import { assert, unreachable } from '../error.ts'
import { scanOf } from './access-path.ts'
import { conjunctsOf } from './conjuncts.ts'
import type { LogicalPlan, LogicalQuery } from './logical-plan.ts'
import { fromLeaf } from './map-plan.ts'
import type {
  AccessPath,
  GroupsStage,
  Output,
  PhysicalPlan,
  PhysicalQuery,
  RelationStage,
} from './physical-plan.ts'

export function planPhysical({ semiJoinSets, plan }: LogicalQuery): PhysicalQuery {
  return { semiJoinSets: semiJoinSets.map(planOne), plan: planOne(plan) }
}

function planOne(plan: LogicalPlan): PhysicalPlan {
  const nodes = fromLeaf(plan)
  const leaf = nodes.shift()!
  assert(
    leaf.kind === 'scan' || leaf.kind === 'look_up' || leaf.kind === 'empty',
    'a plan begins with no access path',
  )
  const parts = new PlanParts(leaf)
  for (const node of nodes) parts.add(node)
  const made = parts.finish(leaf)
  return { access: accessPath(leaf, made), ...made }
}

type Leaf = Extract<LogicalPlan, { kind: 'scan' | 'look_up' | 'empty' }>

/** What a plan's nodes come to, from its leaf up. */
class PlanParts {
  readonly #predicates: BoundExpression[]
  readonly #unpivots: BoundUnpivot[] = []
  readonly #unpivotedPredicates: BoundExpression[] = []
  readonly #stages: RelationStage[] = []
  #after: PhysicalPlan['after']
  #groups: GroupsStage | undefined
  #sort: readonly BoundSortKey[] = []
  #afterSorted: SortPosition | undefined
  #limit: number | undefined
  #offset = 0
  #output: Output = { star: false, columns: [], preview: undefined }
  /** How far reading goes: what follows works on rows in memory. */
  #phase: 'read' | 'sorted' | 'in_memory' = 'read'

  constructor(leaf: Leaf) {
    this.#predicates = leaf.kind === 'empty' ? [] : [...leaf.predicates]
    this.#after = leaf.kind === 'empty' ? undefined : leaf.after
  }

  add(node: LogicalPlan): void {
    if (node.kind === 'project') {
      const { star, columns, preview } = node
      this.#output = { star, columns, preview }
    } else if (!this.#isRead(node)) {
      this.#phase = 'in_memory'
      this.#stages.push(...stagesOf(node))
    }
  }

  /** Whether reading does what the node asks for, and has taken note of it. */
  #isRead(node: LogicalPlan): boolean {
    switch (this.#phase) {
      case 'read':
        return this.#isOfScan(node) || this.#isLimit(node)
      case 'sorted':
        if (node.kind !== 'seek' || !('values' in node.after)) return this.#isLimit(node)
        this.#afterSorted = node.after
        return true
      case 'in_memory':
        return false
    }
  }

  #isOfScan(node: LogicalPlan): boolean {
    switch (node.kind) {
      case 'unpivot':
        this.#unpivots.push(node.unpivot)
        return true
      case 'filter': {
        const isUnpivoted = this.#unpivots.length > 0
        const conditions = isUnpivoted ? this.#unpivotedPredicates : this.#predicates
        conditions.push(...conjunctsOf(node.predicate))
        return true
      }
      case 'aggregate': {
        const { keys, aggregates, row } = node
        this.#groups = { kind: 'groups', keys, aggregates, row }
        this.#phase = 'in_memory'
        return true
      }
      case 'sort':
      case 'top_k':
        this.#sort = node.keys
        this.#phase = 'sorted'
        if (node.kind === 'top_k') this.#setLimit(node)
        return true
      case 'seek':
        if ('values' in node.after) return false
        this.#after = node.after
        return true
      default:
        return false
    }
  }

  #isLimit(node: LogicalPlan): boolean {
    if (node.kind !== 'limit') return false
    this.#setLimit(node)
    return true
  }

  #setLimit({ count, offset }: { readonly count: number | undefined; readonly offset: number }) {
    this.#limit = count
    this.#offset = offset
    this.#phase = 'in_memory'
  }

  finish({ objects }: Leaf): Omit<PhysicalPlan, 'access'> {
    const [groups, unpivots, sort] = [this.#groups, this.#unpivots, this.#sort]
    const [stages, output] = [this.#stages, this.#output]
    const read = [
      ...this.#predicates,
      ...unpivots.map(({ expression }) => expression),
      ...this.#unpivotedPredicates,
      ...(groups ? expressionsOf(groups) : sort.map(({ expression }) => expression)),
    ]
    const later = [...stages.flatMap(expressionsOf), ...output.columns.map((c) => c.expression)]
    return {
      objects,
      predicates: this.#predicates,
      after: this.#after,
      unpivots,
      unpivotedPredicates: this.#unpivotedPredicates,
      stage: groups ?? { kind: 'rows', carried: carriedFields(unpivots, later) },
      sort,
      afterSorted: this.#afterSorted,
      limit: this.#limit,
      offset: this.#offset,
      stages,
      output,
      scannedFields: storedFields(read),
    }
  }
}

function accessPath(leaf: LogicalPlan, plan: Omit<PhysicalPlan, 'access'>): AccessPath {
  if (leaf.kind === 'look_up') return { kind: 'look_up', ids: leaf.ids }
  return leaf.kind === 'empty' ? { kind: 'empty' } : scanOf(plan)
}

function stagesOf(node: LogicalPlan): RelationStage[] {
  switch (node.kind) {
    case 'filter':
      return [{ kind: 'filter', predicates: conjunctsOf(node.predicate) }]
    case 'unpivot':
      return [{ kind: 'unpivot', unpivot: node.unpivot }]
    case 'aggregate': {
      const { keys, aggregates, row } = node
      return [{ kind: 'aggregate', keys, aggregates, row }]
    }
    case 'pivot':
      return [{ kind: 'pivot', pivot: node.pivot }]
    case 'compare': {
      const { objects, key, scores, metrics } = node
      return [{ kind: 'compare', objects, key, scores, metrics }]
    }
    case 'infer':
      return [{ kind: 'infer', fields: node.fields, depth: node.depth }]
    case 'sort':
      return [{ kind: 'sort', keys: node.keys }]
    case 'seek':
      return [{ kind: 'seek', keys: node.keys, after: node.after }]
    case 'limit':
      return [{ kind: 'limit', count: node.count, offset: node.offset }]
    case 'top_k':
      return [
        { kind: 'sort', keys: node.keys },
        { kind: 'limit', count: node.count, offset: node.offset },
      ]
    case 'project':
    case 'scan':
    case 'look_up':
    case 'empty':
      assert(false, `a ${node.kind} is no stage`)
      break
    default:
      return unreachable(node)
  }
}

function expressionsOf(stage: RelationStage | GroupsStage): BoundExpression[] {
  switch (stage.kind) {
    case 'filter':
      return [...stage.predicates]
    case 'unpivot':
      return [stage.unpivot.expression]
    case 'groups':
    case 'aggregate': {
      const inputs = stage.aggregates.flatMap((a) => [
        ...a.arguments,
        ...(a.filter ? [a.filter] : []),
      ])
      const { preferred, values = [] } = stage.row ?? {}
      return [...stage.keys, ...inputs, ...values, ...(preferred ? [preferred] : [])]
    }
    case 'pivot':
      return stage.pivot.measures.map(({ expression }) => expression)
    case 'compare':
      return [stage.key, stage.scores, stage.metrics]
    case 'sort':
    case 'seek':
      return stage.keys.map(({ expression }) => expression)
    case 'infer':
    case 'limit':
      return []
    default:
      return unreachable(stage)
  }
}

function carriedFields(
  unpivots: readonly BoundUnpivot[],
  later: readonly BoundExpression[],
): string[] {
  const used = new Set(fieldsOf(later).map((path) => String(path[0])))
  return unpivots
    .flatMap(({ index }) => [hiddenField.unpivotName(index), hiddenField.unpivotValue(index)])
    .filter((name) => used.has(name))
}

function storedFields(expressions: readonly BoundExpression[]): string[] {
  const names = fieldsOf(expressions).map((path) => String(path[0]))
  return [...new Set(names)].filter((name) => !name.startsWith('#')).sort()
}
