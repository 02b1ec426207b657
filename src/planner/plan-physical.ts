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

export function planPhysical({ traceSets, plan }: LogicalQuery): PhysicalQuery {
  return { traceSets: traceSets.map(planOne), plan: planOne(plan) }
}

/** How far reading goes: what follows works on rows in memory. */
type Phase = 'read' | 'sorted' | 'in_memory'

function planOne(plan: LogicalPlan): PhysicalPlan {
  const nodes = fromLeaf(plan)
  const leaf = nodes.shift()!
  assert(
    leaf.kind === 'scan' || leaf.kind === 'look_up' || leaf.kind === 'empty',
    'a plan begins with no access path',
  )
  const predicates = leaf.kind === 'empty' ? [] : [...leaf.predicates]
  const unpivots: BoundUnpivot[] = []
  const unpivotedPredicates: BoundExpression[] = []
  const then: RelationStage[] = []
  let after = leaf.kind === 'empty' ? undefined : leaf.after
  let groups: GroupsStage | undefined
  let sort: readonly BoundSortKey[] = []
  let afterSorted: SortPosition | undefined
  let limit: number | undefined
  let offset = 0
  let output: Output = { star: false, columns: [], preview: undefined }
  let phase: Phase = 'read'
  for (const node of nodes) {
    if (node.kind === 'project') {
      const { star, columns, preview } = node
      output = { star, columns, preview }
    } else if (phase === 'read' && node.kind === 'unpivot') {
      unpivots.push(node.unpivot)
    } else if (phase === 'read' && node.kind === 'filter') {
      const conditions = unpivots.length > 0 ? unpivotedPredicates : predicates
      conditions.push(...conjunctsOf(node.predicate))
    } else if (phase === 'read' && node.kind === 'aggregate') {
      const { keys, aggregates, row } = node
      groups = { kind: 'groups', keys, aggregates, row }
      phase = 'in_memory'
    } else if (phase === 'read' && (node.kind === 'sort' || node.kind === 'top_k')) {
      sort = node.keys
      phase = 'sorted'
      if (node.kind === 'top_k') {
        limit = node.count
        offset = node.offset
        phase = 'in_memory'
      }
    } else if (phase === 'read' && node.kind === 'seek' && !('values' in node.after)) {
      after = node.after
    } else if (phase === 'sorted' && node.kind === 'seek' && 'values' in node.after) {
      afterSorted = node.after
    } else if (phase !== 'in_memory' && node.kind === 'limit') {
      limit = node.count
      offset = node.offset
      phase = 'in_memory'
    } else {
      phase = 'in_memory'
      then.push(...stagesOf(node))
    }
  }
  const read = [
    ...predicates,
    ...unpivots.map(({ expression }) => expression),
    ...unpivotedPredicates,
    ...(groups ? expressionsOf(groups) : sort.map(({ expression }) => expression)),
  ]
  const later = [...then.flatMap(expressionsOf), ...output.columns.map((c) => c.expression)]
  const made: Omit<PhysicalPlan, 'access'> = {
    objects: leaf.objects,
    predicates,
    after,
    unpivots,
    unpivotedPredicates,
    stage: groups ?? { kind: 'rows', carried: carriedFields(unpivots, later) },
    sort,
    afterSorted,
    limit,
    offset,
    then,
    output,
    scannedFields: storedFields(read),
  }
  return { access: accessPath(leaf, made), ...made }
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
