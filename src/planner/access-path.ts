/** Chooses how a plan's rows are had: by id, or by a scan in the order in which the first ones read may do. */
import { type BoundAggregate, type BoundExpression, hiddenField } from '../binder/bound.ts'
import { isStoredField } from '../type/record.ts'
import type { AccessPath, PhysicalPlan, ScanOrder } from './physical-plan.ts'

export function scanOf(plan: Omit<PhysicalPlan, 'access'>): AccessPath {
  return { kind: 'scan', order: orderOf(plan), by: byTexts(plan.predicates) }
}

function orderOf(plan: Omit<PhysicalPlan, 'access'>): ScanOrder {
  const { stage, unpivots, sort, limit, after } = plan
  if (unpivots.length > 0) return 'any'
  if (stage.kind === 'rows') {
    if (sort.length === 0) return 'newest'
    return sort[0]!.expression.kind === 'field' && limit !== undefined ? 'best' : 'any'
  }
  if (isOfNewestTraces(plan)) return 'newest_traces'
  const isOfAll = stage.keys.length === 0 && !stage.row && !after
  return isOfAll && stage.aggregates.every(isInMetadata) ? 'metadata' : 'any'
}

/** Whether traces come newest first, up to a limit: filters, an order, perhaps a place to go on from, and the limit. */
function isOfNewestTraces({ stage, stages }: Pick<PhysicalPlan, 'stage' | 'stages'>): boolean {
  if (stage.kind !== 'groups' || !stage.row) return false
  const names = stage.keys.map((key) => (key.kind === 'field' ? key.path.join('.') : undefined))
  if (names.length !== 2 || names[0] !== hiddenField.object || names[1] !== 'root_span_id') {
    return false
  }
  const [sort, ...others] = stages.slice(stages.findIndex(({ kind }) => kind !== 'filter'))
  const limit = others.pop()
  const seek = others.pop()
  if (sort?.kind !== 'sort' || sort.keys.length > 0 || others.length > 0) return false
  if (limit?.kind !== 'limit' || !limit.count) return false
  return !seek || (seek.kind === 'seek' && !('values' in seek.after))
}

const inMetadata = new Set(['count', 'sum', 'avg', 'min', 'max'])

/** Whether metadata may have it of granules and segments, of which each row passes the predicates. */
function isInMetadata({ name, arguments: [operand], distinct, filter }: BoundAggregate): boolean {
  if (!inMetadata.has(name) || filter) return false
  if (distinct && name !== 'min' && name !== 'max') return false
  return operand ? operand.kind === 'field' : name === 'count'
}

/** The predicate that asks for one text of a stored field, or else for a list of them, by its place. */
function byTexts(predicates: readonly BoundExpression[]): number | undefined {
  const isOfStored = (predicate: BoundExpression) => {
    const name = askedTexts(predicate)?.path[0]
    return name !== undefined && isStoredField(name)
  }
  const one = predicates.findIndex((each) => each.kind === 'comparison' && isOfStored(each))
  const found = one >= 0 ? one : predicates.findIndex(isOfStored)
  return found >= 0 ? found : undefined
}

/** Texts of which a row that passes has one at the path. */
export interface AskedTexts {
  readonly path: readonly string[]
  readonly texts: readonly string[]
}

/** Undefined where the predicate does not compare a field with texts alone. */
export function askedTexts(predicate: BoundExpression): AskedTexts | undefined {
  if (predicate.kind === 'in' && predicate.list.kind === 'constant') {
    const { operand, list } = predicate
    return Array.isArray(list.value) ? textsOfField(operand, list.value) : undefined
  }
  if (predicate.kind !== 'comparison' || predicate.operator !== 'eq') return undefined
  const { left, right } = predicate
  const [field, other] = left.kind === 'field' ? [left, right] : [right, left]
  return other.kind === 'constant' ? textsOfField(field, [other.value]) : undefined
}

function textsOfField(field: BoundExpression, values: readonly unknown[]): AskedTexts | undefined {
  if (field.kind !== 'field' || !values.every(isText)) return undefined
  const path = field.path.filter(isText)
  return path.length === field.path.length ? { path, texts: values } : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
